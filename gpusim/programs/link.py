"""Executables of programs: CUDA C and C++ are compiled and linked to the stand-in runtime, by nvcc, and kept.

An executable that is there already must be linked to CUDA's shared libraries, which the stand-ins replace.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gpusim.programs.build import FOLDER, compiler_version, kept_folder
from gpusim.programs.flags import LINKED, SOURCES, libraries, parted
from isa.errors import UserError
from isa.nvidia.compiler import compiler_errors, tools
from isa.nvidia.compiler.compile import CompileError, names_target
from isa.nvidia.compiler.kept import digest
from isa.reading import extra, foreign, input_file
from isa.support import cache_folder

PYTHON = ".py"
SHARED = re.compile(r"libcudart\.so\.(12|13)|libcuda\.so\.1")
_ELF = b"\x7fELF"
_SETTINGS = "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"  # of the environment, which nvcc obeys
_ALWAYS = "-lineinfo", "-g", "-Wno-deprecated-gpu-targets"
_DEPENDENCY = re.compile(r"(?:[^\s\\]|\\.)+")
_RELEASE = re.compile(r"release (\d+)\.")
# Of CUDA, with kernels of their own that call what no document tells.
LIBRARIES = re.compile(r"lib(cublas|cublasLt|cudnn|cufft|curand|cusparse|cusolver|nccl)\.so")


@dataclass(frozen=True)
class _Job:
    """Sources to compile with these options and to link to the runtime of a folder."""

    sources: tuple[Path, ...]
    flags: tuple[str, ...]
    folder: Path


def executable(path: Path | Sequence[Path], architecture: int, flags: Sequence[str], folder: Path) -> Path:
    """Return the executable of sources of CUDA C or C++ (90 for sm_90) linked to the runtime of a folder, or itself.

    That of a program in Python is this Python, which finds the driver when it looks for it. Words of `flags` that name
    sources, objects or libraries are compiled and linked too.

    Raises CompileError with a line for each error of the compiler, and UserError for a file that can't be read, or is
    linked to the runtime statically.
    """
    paths = [path] if isinstance(path, Path) else list(path)
    if len(paths) == 1 and paths[0].suffix == PYTHON:
        input_file.read(paths[0], "give a program")
        return Path(sys.executable)
    if len(paths) == 1 and paths[0].suffix not in SOURCES:
        return _checked(paths[0])
    options, further = parted(flags)
    paths += further
    for one in paths:
        _check_source(one)
    target = () if names_target(options) else (f"-arch=sm_{architecture}",)
    return _kept(_Job(tuple(paths), (*target, *_ALWAYS, *options), folder))


def arguments_of(path: Path, given: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments of a program's executable: a program in Python is the first one of this Python."""
    return (str(path), *given) if path.suffix == PYTHON else tuple(given)


def _checked(path: Path) -> Path:
    """Return an executable that takes its runtime from a shared library; raises UserError for any other file."""
    needed = _needed(path)
    if not any(SHARED.fullmatch(name) for name in needed):
        if other := next((name for name in needed if name.startswith("libcudart.so")), None):
            raise UserError(f"{path}: linked to {other}; build it with CUDA 12 or 13")
        fix = "link it to the shared one (nvcc -cudart shared, or CMake's CUDA_RUNTIME_LIBRARY Shared)"
        raise UserError(f"{path}: has CUDA's runtime inside, if any, so that it can't be replaced; {fix}")
    if other := next((name for name in needed if LIBRARIES.match(name) and _is_missing(name, path)), None):
        raise UserError(f"{path}: calls functions of {other}, which is not there; let kernels of its own compute that")
    return path


def _is_missing(library: str, path: Path) -> bool:
    """Tell whether the loader would not find a library of a program; where that can't be asked it tells itself."""
    try:
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    except OSError:
        return False
    return f"{library} => not found" in listed


def _needed(path: Path) -> list[str]:
    """Return the names of the shared libraries that an executable needs."""
    names = "elf.elffile", "elf.dynamic", "common.exceptions"
    elffile, dynamic, exceptions = (extra.module(f"elftools.{one}", tools.EXTRA) for one in names)
    fix = f"give a program: an executable, or sources ({', '.join((*SOURCES, PYTHON))})"
    try:
        with path.open("rb") as file:
            head = file.read(20)
            looks = foreign.binary(head) if head.startswith(_ELF) else foreign.of_file(str(path))
            if looks:
                raise UserError(f"{path}: looks like {looks}")
            if not head.startswith(_ELF):
                raise UserError(f"{path}: neither an executable nor a source; {fix}")
            section = elffile.ELFFile(file).get_section_by_name(".dynamic")
            tags = section.iter_tags("DT_NEEDED") if isinstance(section, dynamic.DynamicSection) else ()
            return [str(tag.needed) for tag in tags]
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}; {fix}") from None
    except exceptions.ELFError as error:
        raise UserError(f"{path}: a damaged executable ({error}); {fix}") from None


def _check_source(path: Path) -> None:
    if path.suffix not in SOURCES and path.suffix not in LINKED:
        raise UserError(f"{path}: no source; give files that end in {', '.join(SOURCES)}")
    if str(path).startswith("-") or re.search(r"[\x00-\x1f\"$`\\]", str(path)):
        raise CompileError(f'{path}: nvcc would not take this for a name; rename it, without " $ ` \\ and - first')
    try:
        path.open("rb").close()
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}; give a source") from None


def _kept(job: _Job) -> Path:
    """Return the executable of these sources as it was made before, unless a file that they include has changed."""
    made_of = list(_made_of(job))
    listing = _listing(digest(made_of))
    read = _read_before(listing)
    if read is None:
        with TemporaryDirectory() as scratch:
            made, read = _compiled(job, Path(scratch))
            if listing:
                cache_folder.write(listing, json.dumps(read).encode())
            return _stored(job, [*made_of, *_flat(read)], made)
    return _stored(job, [*made_of, *_flat(read)], None)


def _stored(job: _Job, made_of: list[str | bytes], made: Path | None) -> Path:
    """Return the executable in the cache, by the name of the first source."""
    name = job.sources[0].stem

    def fill(folder: Path) -> None:
        if made:
            shutil.copy2(made, folder / name)
            return
        with TemporaryDirectory() as scratch:
            shutil.copy2(_compiled(job, Path(scratch))[0], folder / name)

    return kept_folder(made_of, fill) / name


def _made_of(job: _Job) -> Iterator[str | bytes]:
    yield Path(__file__).read_bytes()  # the options that are always given
    yield from [tools.version("nvcc"), compiler_version(), str(Path.cwd()), str(job.folder), *job.flags]
    yield from (os.environ.get(one, "") for one in _SETTINGS)
    for path in job.sources:
        yield str(path)
        yield path.read_bytes()
    yield from libraries(job.flags)


def _listing(name: str) -> Path | None:
    """Return the file of the cache with what these sources included when they were compiled."""
    place = cache_folder.directory(os.environ.get(cache_folder.SETTING, ""))
    folder = place and cache_folder.folder(place, FOLDER)
    return folder and folder / f"{name}.includes"


Included = list[tuple[str, str]]  # paths and digests


def _read_before(listing: Path | None) -> Included | None:
    """Return what was included, if it is still the same; None if not, or if it is not known."""
    content = listing and cache_folder.read(listing)
    if not content:
        return None
    read: Included = [(path, was) for path, was in json.loads(content)]
    return read if all(_digest_of(path) == was for path, was in read) else None


def _digest_of(path: str) -> str:
    with suppress(OSError):
        return digest([Path(path).read_bytes()])
    return ""


def _flat(read: Included) -> list[str]:
    return [part for pair in read for part in pair]


def _compiled(job: _Job, scratch: Path) -> tuple[Path, Included]:
    """Return the executable in a folder, and what the sources include."""
    sources = [path for path in job.sources if path.suffix in SOURCES]
    names = {path: f"{number}" for number, path in enumerate(sources)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        read = list(pool.map(lambda path: _compile(job, path, scratch / names[path]), sources))
    inputs = [scratch / f"{names[path]}.o" if path in names else path for path in job.sources]
    made = scratch / "program"
    release = _RELEASE.search(tools.version("nvcc"))
    link = job.folder / "link" / (release[1] if release else "13")
    # of the toolkit's libcudart.so and ours, in a folder named first, the linker takes ours
    libraries = "-cudart", "shared", f"-L{link}", "-lcuda", "-Xlinker", f"-rpath-link={job.folder}"
    _nvcc(job, job.sources[0], *map(str, inputs), *libraries, "-o", str(made))
    paths = sorted({path for each in read for path in each})
    return made, [(path, _digest_of(path)) for path in paths]


def _compile(job: _Job, source: Path, made: Path) -> list[str]:
    """Compile a source to an object; return the paths of what it includes."""
    rule = made.with_suffix(".d")
    separate = any(flag in ("-rdc=true", "-dc", "--relocatable-device-code=true") for flag in job.flags)
    _nvcc(job, source, "-dc" if separate else "-c", "-MD", "-MF", str(rule), str(source), "-o", f"{made}.o")
    words = _DEPENDENCY.findall(rule.read_text(errors="replace").partition(":")[2].replace("\\\n", " "))
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


def _nvcc(job: _Job, source: Path, *arguments: str) -> None:
    """Run nvcc; raises CompileError with its errors."""
    flags = [flag for flag in job.flags if flag not in ("-dc", "-c")]
    done = tools.outcome("nvcc", [*flags, *arguments], about=str(source))
    if done.returncode:
        first, *further = _errors(done.stderr + done.stdout, source)
        raise CompileError(first, further)


def _errors(printed: str, source: Path) -> tuple[str, ...]:
    """Return a line for each error; those of the linker name what is missing."""
    missing = dict.fromkeys(re.findall(r"undefined reference to `([^']*)'", printed))
    if missing:
        return tuple(f"{source}: {name} is in no file or library that is given" for name in missing)
    return compiler_errors.read(printed, str(source), lambda name: _text(Path(name)))


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""
