"""NVIDIA's own tools, from packages of the extras `cubin` and `cuda`, or from a CUDA toolkit on the path."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from isa.errors import UserError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # has no limits of this kind

EXTRA = "cuda"  # has compilers
READERS = "cubin"  # has those that read machine code, and nothing else
LONGEST = 300  # seconds of a tool, where nothing less is known
MEGABYTE = 1 << 20
_FIX = "give a file that is not damaged"
_STOPPED = (-signal.SIGKILL, -signal.SIGXCPU) if hasattr(signal, "SIGXCPU") else ()  # what a limit ends with


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
    if found := packaged(f"bin/{name}"):
        return found[0]
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def packaged(part: str) -> list[Path]:
    """Return what NVIDIA's packages have below the folder of a version of CUDA, as `bin/nvcc`, the newest first."""
    versions = (version for folder in _folders() for version in folder.iterdir())
    newest = sorted(versions, key=lambda version: version.name, reverse=True)
    return [path for version in newest if (path := version / part).exists()]


def _folders() -> Iterator[Path]:
    """Yield the folders into which NVIDIA's packages are installed.

    Python's own comes first, then those on its path: after `pip install --target` packages are there alone.
    """
    spec = find_spec("nvidia")
    on_path = (spec.submodule_search_locations if spec else None) or ()
    for folder in dict.fromkeys((Path(sysconfig.get_path("purelib")) / "nvidia", *map(Path, on_path))):
        if folder.is_dir():
            yield folder


def version(name: str) -> str:
    """Return the text by which a tool says its version; raises ToolError as `run` does."""
    return run(name, ["--version"], about=name)


def run(
    name: str, arguments: Sequence[str | Path], *, about: str, folder: Path | None = None, seconds: int = LONGEST
) -> str:
    """Return the stdout of a tool that runs in a folder; raises ToolError, which begins with `about`."""
    done = outcome(name, arguments, about=about, folder=folder, seconds=seconds)
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise ToolError(f"{about}: {name}: {words[-1].removeprefix(f'{name} ').strip()}")
    return done.stdout


def reading_seconds(size: int) -> int:
    """Return the seconds of computing that a reader of machine code may take for so many bytes.

    An undamaged file takes a fifth of that at most: half a second, and 2 s for each MB.
    """
    return 5 + 10 * size // MEGABYTE


def outcome(
    name: str, arguments: Sequence[str | Path], *, about: str, folder: Path | None = None, seconds: int = LONGEST
) -> subprocess.CompletedProcess[str]:
    """Return what a tool did in a folder, right or wrong; raises ToolError for one that is missing or does not end.

    A tool that computes for more than `seconds`, or takes LONGEST, is stopped with all that it has started.
    """
    command = [str(find(name)), *map(str, arguments)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=folder,
        start_new_session=True,
    )
    with process:
        try:
            _limit(process, seconds)
            stdout, stderr = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            _stop(process)
            raise ToolError(f"{about}: {name} ran for {LONGEST} s and was stopped; {_FIX}") from None
        except BaseException:
            _stop(process)
            raise
    if process.returncode in _STOPPED:
        raise ToolError(f"{about}: {name} computed for {seconds} s and was stopped; {_FIX}")
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _limit(process: subprocess.Popen[str], seconds: int) -> None:
    """Limit the time for which a process, and each that it starts, may compute; a busy computer does not shorten it."""
    if hasattr(resource, "prlimit"):  # Linux
        with suppress(ProcessLookupError):  # it has ended
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))


def _stop(process: subprocess.Popen[str]) -> None:
    """Stop a process and those that it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
