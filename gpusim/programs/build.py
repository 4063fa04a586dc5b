"""The stand-ins for CUDA's runtime and driver, built from runtime/ with the user's own g++ and kept in the cache."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from isa.errors import UserError
from isa.nvidia.compiler.kept import digest
from isa.support import cache_folder

SOURCES = Path(__file__).parent / "runtime"
FOLDER = "programs"  # of the cache's directory; it may be deleted at any time
COMPILER = "g++"
LONGEST = 300  # seconds of one file
_OPTIONS = "-std=c++17", "-O1", "-fPIC", "-fvisibility-inlines-hidden", "-Wall", "-Wextra"
_COMMON = "graphs/graphs.h"  # read once for all
_CORE = "core", "device", "graphs", "cudart"
_RUNTIMES = "12", "13"


def runtime() -> Path:
    """Return the folder with libcudart.so.12, libcudart.so.13, libcuda.so.1, and in link/12 and link/13 those to link.

    It is built at first use, in seconds. Raises UserError where there is no Linux or g++, or it fails.
    """
    if sys.platform != "linux":
        raise UserError(
            "whole programs run on Linux alone; run gpusim there, or in a container or virtual machine of it"
        )
    read = (part for path in _sources() for part in (str(path), (SOURCES / path).read_bytes()))
    made_of = [compiler_version(), *_OPTIONS, *read, Path(__file__).read_bytes()]
    return kept_folder(made_of, _build)


def kept_folder(made_of: Sequence[str | bytes], make: Callable[[Path], None]) -> Path:
    """Return the folder of the cache that was made of these parts before, or let `make` fill it, and keep it.

    Where nothing can be kept it is a temporary one, until this process ends.
    """
    place = _place(os.environ.get(cache_folder.SETTING, ""))
    if place is None:
        folder = Path(mkdtemp(prefix="gpusim-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        make(folder)
        return folder
    found = place / digest(made_of)
    if not found.is_dir():
        with TemporaryDirectory(dir=place, prefix="part-") as part:
            made = Path(part) / "made"
            made.mkdir(0o700)
            make(made)
            _put(made, found)
    cache_folder.check(found, found.lstat())
    return found


@cache
def compiler_version() -> str:
    """Return the first line by which the compiler says its version; raises UserError where there is none."""
    if not shutil.which(COMPILER):
        raise UserError(f"{COMPILER} is not installed, with which a program's runtime is built; install it")
    said = _done("--version")
    if said.returncode or not said.stdout.strip():
        raise UserError(f"{COMPILER} --version says nothing, or fails (exit code {said.returncode}); install it again")
    return said.stdout.strip().splitlines()[0]


@cache
def _place(setting: str) -> Path | None:
    place = cache_folder.directory(setting)
    return place and cache_folder.folder(place, FOLDER)


def _put(made: Path, found: Path) -> None:
    """Give a folder its name, unless another process was first."""
    try:
        made.rename(found)
    except OSError:
        if not found.is_dir():
            raise


@cache
def _sources() -> tuple[Path, ...]:
    """Return all files, by their path below the folder."""
    files = (path.relative_to(SOURCES) for path in SOURCES.rglob("*") if path.suffix in (".cc", ".h", ".def"))
    return tuple(path for path in sorted(files))


def _build(folder: Path) -> None:
    with TemporaryDirectory() as scratch:
        objects = _compiled(Path(scratch))
        _link(folder, "libgpusim-core.so", objects, _CORE)
        for version in _RUNTIMES:
            _library(folder, f"libcudart.so.{version}", objects, ("exports", f"cuda{version}"))
            link = folder / "link" / version
            link.mkdir(parents=True)
            (link / "libcudart.so").symlink_to(f"../../libcudart.so.{version}")
            (link / "libcuda.so").symlink_to("../../libcuda.so.1")
        _library(folder, "libcuda.so.1", objects, ("driver",), "cu*")


def _compiled(scratch: Path) -> dict[Path, Path]:
    """Return the object of each source, compiled on all processors."""
    common = scratch / "common.h"
    common.write_text(f'#include "{SOURCES / _COMMON}"\n', encoding="utf-8")
    _compile(common, scratch / "common.h.gch")
    sources = [path for path in _sources() if path.suffix == ".cc"]
    sources.sort(key=lambda path: -(SOURCES / path).stat().st_size)  # long ones first, for an even end
    objects = {path: scratch / f"{str(path).replace('/', '-')}.o" for path in sources}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda path: _compile(SOURCES / path, objects[path], "-include", str(common)), sources))
    return objects


def _compile(source: Path, made: Path, *options: str) -> None:
    language = "c++-header" if source.suffix == ".h" else "c++"
    _run(*_OPTIONS, *options, "-x", language, "-c", str(source), "-o", str(made))


def _library(
    folder: Path, name: str, objects: dict[Path, Path], rooms: tuple[str, ...], exports: str = "cuda*; __cuda*"
) -> None:
    """Link a library of CUDA's, whose functions have its name for a version, as those of the real one do."""
    with TemporaryDirectory() as scratch:
        versions = Path(scratch) / "versions"
        versions.write_text(f"{name} {{ global: {exports}; local: *; }};\n", encoding="utf-8")
        _link(folder, name, objects, rooms, f"-Wl,--version-script={versions}", f"-L{folder}", "-lgpusim-core")


def _link(folder: Path, name: str, objects: dict[Path, Path], rooms: tuple[str, ...], *options: str) -> None:
    own = [str(made) for path, made in objects.items() if path.parts[0] in rooms]
    # never unloaded before the program's end, which the core tells the simulator
    common = "-shared", "-Wl,-rpath,$ORIGIN", "-Wl,-Bsymbolic-functions", "-Wl,-z,defs,-z,nodelete"
    _run(*common, f"-Wl,-soname,{name}", *own, *options, "-o", str(folder / name))


def _done(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Return what the compiler did, right or wrong; raises UserError where it does not end, or can't be started."""
    command = [COMPILER, *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"{COMPILER} ran for {LONGEST} s and was stopped; try again on a computer less busy") from None
    except OSError as error:
        raise UserError(f"{COMPILER}: {(error.strerror or str(error)).lower()}; install it again") from None


def _run(*arguments: str) -> None:
    done = _done(*arguments)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-300:])
        raise UserError(f"{COMPILER} can't build the runtime of programs: {said}; is it complete, and C++17?")
