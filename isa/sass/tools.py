"""NVIDIA's own tools, from packages of the extras `cubin` and `cuda`, or from a CUDA toolkit on the path."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from isa.errors import UserError

EXTRA = "cuda"  # has compilers
READERS = "cubin"  # has those that read machine code, and nothing else
_LONGEST = 300  # seconds


class ToolError(UserError):
    """A tool is missing, or refused its input."""


def find(name: str) -> Path:
    """Return the path of a tool such as `nvdisasm`; raises ToolError, which says how to get it."""
    path = installed(name)
    if path is None:
        raise ToolError(f"{name} is not installed; run pip install 'gpusim[{extra_of(name)}]'")
    return path


def extra_of(name: str) -> str:
    """Return the smallest extra of gpusim that brings a tool."""
    return READERS if name in ("nvdisasm", "cuobjdump") else EXTRA


def installed(name: str) -> Path | None:
    """Return the path of a tool, of the newest package or else on the path; None if it is not installed."""
    for found in sorted(packages().glob(f"*/bin/{name}"), reverse=True):
        return found
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def packages() -> Path:
    """Return the folder into which NVIDIA's packages are installed, one folder a version of CUDA."""
    return Path(sysconfig.get_path("purelib")) / "nvidia"


def version(name: str) -> str:
    """Return the text by which a tool says its version; raises ToolError as `run` does."""
    return run(name, ["--version"], about=name)


def run(name: str, arguments: Sequence[str | Path], *, about: str, folder: Path | None = None) -> str:
    """Return the stdout of a tool that runs in a folder; raises ToolError, which begins with `about`."""
    done = outcome(name, arguments, about=about, folder=folder)
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise ToolError(f"{about}: {name}: {words[-1].removeprefix(f'{name} ').strip()}")
    return done.stdout


def outcome(
    name: str, arguments: Sequence[str | Path], *, about: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Return what a tool did in a folder, right or wrong; raises ToolError for one that is missing or does not end."""
    command = [str(find(name)), *map(str, arguments)]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=folder, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"{about}: {name} ran for {_LONGEST} s and was stopped") from None
