"""NVIDIA's own tools, from the packages of the extra `cuda` or from a CUDA toolkit on the path."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from isa.errors import UserError

EXTRA = "cuda"
_LONGEST = 300  # seconds


class ToolError(UserError):
    """A tool is missing, or refused its input."""


def find(name: str) -> Path:
    """Return the path of a tool such as `nvdisasm`; raises ToolError, which says how to get it."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    for found in sorted(packages.glob(f"*/bin/{name}"), reverse=True):
        return found
    on_path = shutil.which(name)
    if on_path is None:
        raise ToolError(f"{name} is not installed; run pip install 'gpusim[{EXTRA}]'")
    return Path(on_path)


def run(name: str, arguments: Sequence[str | Path], *, about: str, folder: Path | None = None) -> str:
    """Return the stdout of a tool that runs in a folder; raises ToolError, which begins with `about`."""
    command = [str(find(name)), *map(str, arguments)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=folder, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"{about}: {name} ran for {_LONGEST} s and was stopped") from None
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise ToolError(f"{about}: {name}: {words[-1].removeprefix(f'{name} ').strip()}")
    return done.stdout
