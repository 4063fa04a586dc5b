"""The text of isa/nvidia/system/functions.sass from functions.cu beside it: `python -m system_code` in tests.

It is what nvdisasm prints, with less space, labels of its own, and NOP for YIELD where nvlink puts one.
"""

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.nvidia.compiler import tools
from isa.nvidia.system import code

FOLDER = Path(code.__file__).parent
OPTIONS = "-arch=sm_80", "-O3", "-rdc=true", "-maxrregcount", "24", "-cubin"
_YIELD = re.compile(r'YIELD\s+\(\*"RELOCATOR[^)]*\)')
_REMARK = re.compile(r'\s*\(\*"SpillRefill"\*\)')
_KEPT = re.compile(r"\s*(/\*|\.\w+:|\.L_|\.text|\w+:|\.target)")


def text() -> str:
    """What nvcc and nvdisasm make of functions.cu."""
    with TemporaryDirectory() as folder:
        cubin = Path(folder) / "functions.cubin"
        subprocess.run([tools.find("nvcc"), *OPTIONS, "-o", cubin, FOLDER / "functions.cu"], check=True)
        printed = subprocess.run(
            [tools.find("nvdisasm"), "-hex", "-c", cubin], check=True, capture_output=True, text=True
        ).stdout
    printed = _YIELD.sub("NOP", _REMARK.sub("", printed)).replace(".L_x_", ".L_system_")
    lines = (re.sub(r"\s+", " ", line).strip() for line in printed.splitlines() if _KEPT.match(line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (FOLDER / code.FILE).write_text(text(), encoding="utf-8")
