"""Where in its source a program calls what is not there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

TOOL, SECONDS = "addr2line", 20  # of binutils, which every host compiler needs


def place_in(file: Path) -> Callable[[int], str]:
    """Return what gives the file and line of a return address in an executable; empty where it does not say."""
    return partial(_place, file)


def _place(file: Path, address: int) -> str:
    tool = shutil.which(TOOL)
    if not tool or not address:
        return ""
    try:
        asked = [tool, "-e", str(file), hex(address - 1)]  # of the call, which ends before it
        found = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if found.startswith("?") or found.endswith(("?", ":0")) else found.split(" (")[0]
