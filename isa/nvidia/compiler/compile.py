"""CUDA C is compiled to a cubin: with nvcc where a host compiler is installed, else with NVRTC; no GPU is needed.

Cubins are kept by what they are made of: the source and every file that it includes, options, architecture, versions.
Source lines are always in them (`-lineinfo`).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.errors import UserError
from isa.nvidia.compiler import compiler_errors, nvrtc, tools
from isa.nvidia.compiler.kept import digest, kept
from isa.reading import input_file

ENDING = ".cu"
ARCHITECTURE = 90  # where none is asked for
FIX = "give a file of CUDA C"
_HOST_COMPILER = "g++"
_ADVICE = f"run pip install 'gpusim[{tools.EXTRA}]'"
_SETTINGS = "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"  # of the environment, which nvcc obeys
_TARGET = re.compile(r"-arch(=.*)?|--gpu-architecture(=.*)?|-gencode(=.*)?|--generate-code(=.*)?")
_NOT_LISTED = re.compile(r"(-optf|--options-file)(=.*)?")
_MACRO = re.compile(r"-D.")
_ACTIVE = re.compile(r"-.*|.*[\x00-\x1f\"$`\\].*", re.S)  # a name that nvcc, or its shell, would act on
_DEPENDENCY = re.compile(r"(?:[^\s\\]|\\.)+")
_SYSTEM = Path("/usr"), Path("/opt")  # where headers of compilers and libraries are
_MAY_INCLUDE = "include", "embed", "\\\n"  # a line that goes on in the next may spell one of these


class CompileError(UserError):
    """The compiler refused a source, or is missing; `further` are its other errors."""


@dataclass(frozen=True)
class _Job:
    """A source in a file `path`, which messages call `name`, to be compiled with these options in a folder."""

    path: Path
    name: str
    source: str
    flags: tuple[str, ...]


def compile_file(path: Path | str, architecture: int | None = None, flags: Sequence[str] = ()) -> bytes:
    """Return the cubin of a file of CUDA C for an architecture (90 for sm_90), compiled with more options of nvcc.

    Raises CompileError with a line for each error of the compiler, and UserError for a file that can't be read.
    """
    source = input_file.text(path, FIX)
    return _compiled(_Job(Path(path), str(path), source, _options(architecture, flags)))


def compile_source(source: str, options: tuple[str, ...], architecture: int, name: str) -> bytes:
    """Return the cubin of a text of CUDA C; its lines of source are those of a file `name` in the working directory.

    Raises CompileError as `compile_file` does.
    """
    if not re.fullmatch(r"[^\\\"\n\r]+", name):
        raise CompileError(f"{name!r}: no name of a file; leave out quotes, backslashes and line breaks")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"source{ENDING}"
        path.write_text(f'#line 1 "{name}"\n{source}', encoding="utf-8")
        return _compiled(_Job(path, name, source, _options(architecture, options)))


def _options(architecture: int | None, flags: Sequence[str]) -> tuple[str, ...]:
    """Return all options, the architecture's among them; that of the flags comes first, such as -arch=sm_90a."""
    for flag in filter(_NOT_LISTED.fullmatch, flags):
        raise CompileError(f"{flag}: options in a file are not read; write them out")
    target = () if names_target(flags) else (f"-arch=sm_{architecture or ARCHITECTURE}",)
    return *target, "-lineinfo", *flags


def names_target(flags: Sequence[str]) -> bool:
    """Tell whether options name the architecture to compile for."""
    return any(map(_TARGET.fullmatch, flags))


def _compiled(job: _Job) -> bytes:
    nvcc = tools.installed("nvcc")
    if nvcc and _has_host_compiler(job):
        return _by_nvcc(job)
    if nvrtc.available():
        return _by_nvrtc(job)
    if nvcc:
        raise CompileError(f"{job.name}: nvcc needs {_HOST_COMPILER}, which is not installed; install it, or {_ADVICE}")
    raise CompileError(f"{job.name}: CUDA C needs a compiler; {_ADVICE}")


def _has_host_compiler(job: _Job) -> bool:
    named = any(flag.startswith(("-ccbin", "--compiler-bindir")) for flag in job.flags)
    return named or bool(os.environ.get(_SETTINGS[0]) or shutil.which(_HOST_COMPILER))


def _by_nvcc(job: _Job) -> bytes:
    versions = [tools.version("nvcc"), tools.version("ptxas"), *(os.environ.get(one, "") for one in _SETTINGS)]
    read = [part for path in _dependencies(job) for part in (str(path), digest([path.read_bytes()]))]
    place = str(Path(job.name).absolute())  # the line table has it
    return kept(
        ["nvcc", *versions, place, job.source, str(len(job.flags)), *job.flags, *read], lambda: _nvcc_cubin(job)
    )


def _dependencies(job: _Job) -> tuple[Path, ...]:
    """Return the files that a source includes, those of the system too, in the order in which nvcc lists them.

    A source without any of its own has those of every such source, which are asked for once: macros change nothing.
    """
    if _may_include(job):
        return tuple(_listed(job))
    settings = tuple(os.environ.get(one, "") for one in _SETTINGS)
    try:
        return _implicit(tools.find("nvcc"), settings, tuple(flag for flag in job.flags if not _MACRO.match(flag)))
    except CompileError:
        return ()  # the compilation itself says what is wrong, by the source's name


@cache
def _implicit(_nvcc: Path, _settings: tuple[str, ...], flags: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files that this nvcc includes by itself."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"empty{ENDING}"
        path.write_text("", encoding="utf-8")
        return tuple(_listed(_Job(path, path.name, "", flags)))


def _listed(job: _Job) -> Iterator[Path]:
    """Yield the files that nvcc lists as those that it includes."""
    rule = _nvcc(job, "-M")
    for word in _DEPENDENCY.findall(rule.partition(" : ")[2].replace("\\\n", " ")):
        path = Path(re.sub(r"\\(.)", r"\1", word).replace("$$", "$"))
        if path != job.path and path.is_file():  # a name that `#line` gives is listed too, and may be of no file
            yield path


def _nvcc_cubin(job: _Job) -> bytes:
    with TemporaryDirectory() as folder:
        made = Path(folder) / "code.cubin"
        _nvcc(job, "-cubin", "-o", made)
        if not made.is_file():
            raise CompileError(f"{job.name}: nvcc made no cubin with {' '.join(job.flags)}")
        return made.read_bytes()


def _nvcc(job: _Job, *how: str | Path) -> str:
    """Return what nvcc prints on stdout; raises CompileError with its errors."""
    if _ACTIVE.fullmatch(str(job.path)):
        fix = 'rename it, without " $ ` \\ and - first'
        raise CompileError(f"{job.name}: nvcc would not take this for a name; {fix}")
    done = tools.outcome("nvcc", [*job.flags, *how, job.path], about=job.name)
    if done.returncode:
        raise _refused(job, done.stderr + done.stdout)
    return done.stdout


def _by_nvrtc(job: _Job) -> bytes:
    """Return a cubin of NVRTC, which lists no dependencies: only that of a source without any is kept."""

    def make() -> bytes:
        try:
            return nvrtc.cubin(job.source, job.name, [*job.flags, f"-I{Path(job.name).absolute().parent}"])
        except nvrtc.NvrtcError as error:
            more = f"{job.name}: compiled with {nvrtc.version()}, for device code alone; nvcc needs {_HOST_COMPILER}"
            raise _refused(job, str(error), more) from None

    place = str(Path(job.name).absolute())
    made_of = [nvrtc.version(), place, job.source, *job.flags]
    return make() if _may_include(job) else kept(made_of, make)


def _may_include(job: _Job) -> bool:
    return any(word in text for text in (job.source, *job.flags) for word in _MAY_INCLUDE)


def _refused(job: _Job, printed: str, *more: str) -> CompileError:
    first, *further = compiler_errors.read(printed, job.name, _source_of(job), partial(_is_open, job))
    return CompileError(first, [*further, *more])


def _is_open(job: _Job, name: str) -> bool:
    """Tell whether messages may quote a file: the source, what lies beside or below it, and headers of the system.

    A source may include any file, also one that is nobody's business.
    """
    if name in (job.name, str(job.path)):
        return True
    given = (flag[2:] for flag in job.flags if flag.startswith("-I"))
    known = Path(job.name).parent, *_SYSTEM, *tools.packaged("include"), *map(Path, filter(None, given))
    return any(Path(name).resolve().is_relative_to(folder.resolve()) for folder in known)


def _source_of(job: _Job) -> Callable[[str], str]:
    """Return a function that gives the text of a file by the name that the compiler prints; empty for others."""

    def text(name: str) -> str:
        try:
            return job.source if name == job.name else Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    return text
