"""The machine code of a file of any kind: a cubin, a fat binary or executable with some, a dump's text, or CUDA C."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.architecture import NVIDIA
from isa.errors import UserError
from isa.nvidia.compiler import compile as compiler
from isa.nvidia.compiler import tools
from isa.nvidia.compiler.kept import kept
from isa.nvidia.file import cubin, dump
from isa.nvidia.file.cubin import Cubin
from isa.nvidia.file.dump import Section
from isa.reading import foreign, input_file

_ELF, _FAT_BINARY = b"\x7fELF", b"\x50\xed\x55\xba"
_MACHINE = slice(18, 20)  # of an ELF file's header
_CUDA = b"\xbe\x00"
_PTX = re.compile(r"^\.version \d+\.\d+\s*$\s*^\.target sm_", re.M)  # how its text begins
_FAST = 1  # zlib's level: texts become a tenth as large
OPTIONS = "-hex", "-c", "-gi"  # of nvdisasm
FIX = "give a cubin, a fat binary or executable, what cuobjdump -sass or nvdisasm -hex -c prints, or CUDA C (.cu)"


class CodeError(UserError):
    """A file without machine code that can be read; the message begins with its name."""


@dataclass(frozen=True)
class Code:
    """Machine code for one architecture: sections by function; `cubin` is None for a text, which has no resources."""

    architecture: int
    sections: Mapping[str, Section]
    cubin: Cubin | None


def read(path: Path | str, architecture: int | None = None, flags: Sequence[str] = ()) -> Code:
    """Return the machine code of a file, for the architecture if it holds several; a `.cu` file is compiled for it.

    `flags` are options of nvcc for such a file. Raises UserError for a file that can't be read, one without machine
    code, or without any for that architecture, and for errors of the compiler.
    """
    if is_source(path):
        found = of_cubin(compiler.compile_file(path, architecture, flags), str(path))
    elif flags:
        raise CodeError(f"{path}: no CUDA C to compile with {' '.join(flags)}; leave these options out")
    else:
        found = _of_bytes(path, architecture)
    if architecture and found.architecture not in (0, architecture):  # 0: a text that doesn't say
        raise CodeError(f"{path}: machine code for sm_{found.architecture}, not for sm_{architecture}")
    if architecture and architecture not in NVIDIA:  # of such a text
        raise CodeError(cubin.unread(str(path), architecture))
    return found


def _of_bytes(path: Path | str, architecture: int | None) -> Code:
    """Return the machine code of a file of any kind but CUDA C, by its contents."""
    data = input_file.read(path, FIX, input_file.MOST_GENERATED)
    if data.startswith(_ELF) and data[_MACHINE] == _CUDA:
        return of_cubin(data, str(path))
    if what := foreign.binary(data):
        raise CodeError(f"{path}: {what}")
    if data.startswith((_ELF, _FAT_BINARY)):
        return of_cubin(_extracted(Path(path), architecture), str(path))
    return _of_text(data, str(path), architecture)


def check_kind(path: Path) -> None:
    """Raise CodeError for a file that can't be machine code, by its first bytes or, of a text, by all of it."""
    if is_source(path):
        return
    data = input_file.read(path, FIX, input_file.MOST_GENERATED)
    if what := foreign.binary(data):
        raise CodeError(f"{path}: {what}")
    if not data.startswith((_ELF, _FAT_BINARY)):
        _read_text(data, str(path))


def is_source(path: Path | str) -> bool:
    """Tell whether a file is CUDA C, by the ending of its name."""
    return str(path).endswith(compiler.ENDING)


def of_cubin(data: bytes, name: str) -> Code:
    """Return the machine code in a cubin's bytes; `name` is for messages. Raises UserError as `read` does."""
    contents = cubin.read(data, name)
    if not contents.functions:
        raise CodeError(f"{name}: it has no kernel; write a __global__ function, and instantiate a template explicitly")
    packed = kept(
        ["nvdisasm", tools.version("nvdisasm"), *OPTIONS, data], lambda: zlib.compress(_disassembled(data, name), _FAST)
    )
    return Code(contents.architecture, dump.read(zlib.decompress(packed).decode(), name).sections, contents)


def of_image(data: bytes, name: str, architecture: int) -> Code:
    """Return the machine code for an architecture in the bytes of a cubin or fat binary; `name` is for messages.

    Raises UserError as `read` does.
    """
    if data.startswith(_ELF):
        return of_cubin(data, name)
    if not data.startswith(_FAT_BINARY):
        raise CodeError(f"{name}: neither a cubin nor a fat binary; {FIX}")
    version = tools.version("cuobjdump")
    return of_cubin(kept(["cuobjdump", version, str(architecture), data], lambda: _taken(data, architecture)), name)


def _taken(data: bytes, architecture: int) -> bytes:
    """Return the cubin in a fat binary's bytes for an architecture."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "code.fatbin"
        file.write_bytes(data)
        return _extracted(file, architecture)


def _disassembled(data: bytes, name: str) -> bytes:
    """Return the text of a cubin's code, with encodings, lines of source and where those were inlined."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "code.cubin"
        file.write_bytes(data)
        seconds = tools.reading_seconds(len(data))
        return tools.run("nvdisasm", [*OPTIONS, file], about=name, seconds=seconds).encode()


def _of_text(data: bytes, name: str, architecture: int | None) -> Code:
    each = _read_text(data, name)
    found = next(iter(each.values())) if len(each) == 1 else each[_chosen(name, each, architecture)]
    if found.architecture not in (0, *NVIDIA):  # 0: a text that doesn't say
        raise CodeError(cubin.unread(name, found.architecture))
    return Code(found.architecture, found.sections, None)


def _read_text(data: bytes, name: str) -> dict[int, dump.Dump]:
    """Return what a dump's text says, by architecture; raises UserError for another text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise CodeError(f"{name}: neither machine code nor text; {FIX}") from None
    if _PTX.search(text):
        raise CodeError(f"{name}: PTX, which is no machine code; compile it with ptxas -arch=sm_90")
    return dump.read_each(text, name)


def _extracted(path: Path, architecture: int | None) -> bytes:
    """Return the cubin in a fat binary or executable for an architecture, or its only one."""
    with TemporaryDirectory() as folder:
        seconds = tools.reading_seconds(path.stat().st_size)
        tools.run("cuobjdump", ["-xelf", "all", path.resolve()], about=str(path), folder=Path(folder), seconds=seconds)
        files = dict[int, list[Path]]()
        for file in sorted(Path(folder).glob("*.cubin")):
            files.setdefault(_architecture(file), []).append(file)
        if not files:
            raise CodeError(f"{path}: it holds no machine code, or PTX alone; compile it with -arch=sm_90")
        number = _chosen(str(path), files, architecture)
        each = _with_kernels([file.read_bytes() for file in files[number]], str(path))
        if len(each) > 1:
            what = f"{len(each)} cubins for sm_{number}"
            raise CodeError(f"{path}: it holds {what}; take one out: cuobjdump -xelf all {path}")
        return each[0]


def _with_kernels(cubins: list[bytes], name: str) -> list[bytes]:
    """Return those of several cubins that have kernels, or all if none has: nvcc 13 adds one without."""
    if len(cubins) == 1:
        return cubins
    return [one for one in cubins if cubin.read(one, name).kernels] or cubins


def _chosen(name: str, known: Collection[int], architecture: int | None) -> int:
    """Return the architecture that is meant of several; raises CodeError."""
    names, read = ", ".join(f"sm_{one}" for one in sorted(known)), set(known) & set(NVIDIA)
    if architecture is None and len(known) > 1:
        if not read:
            raise CodeError(cubin.unread(name, *sorted(known)))
        best = compiler.ARCHITECTURE if compiler.ARCHITECTURE in read else max(read)
        fix = f"choose one, as in --arch {best}, or in a launch file: architecture = {best}"
        raise CodeError(f"{name}: it holds machine code for {names}; {fix}")
    number = architecture or next(iter(known))
    if number not in known:
        raise CodeError(f"{name}: it holds machine code for {names}, not for sm_{number}")
    return number


def _architecture(file: Path) -> int:
    """Return the number in a name such as `a.sm_90.cubin`; letters after it, as in sm_90a, don't count."""
    word = next(part for part in file.name.split(".") if part.startswith("sm_"))
    return int("".join(filter(str.isdigit, word)))
