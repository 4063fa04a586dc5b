"""The machine code of a file of any kind: a cubin, a fat binary or executable, a dump's text, PTX, or CUDA C."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.architecture import NVIDIA
from isa.nvidia.compiler import compile as compiler
from isa.nvidia.compiler import ptx, tools
from isa.nvidia.compiler.kept import kept
from isa.nvidia.file import cubin, dump
from isa.nvidia.file.cubin import Cubin
from isa.nvidia.file.dump import Section
from isa.nvidia.file.held import CodeError, extracted, meant
from isa.reading import foreign, input_file

_ELF, _FAT_BINARY = b"\x7fELF", b"\x50\xed\x55\xba"
_MACHINE = slice(18, 20)  # of an ELF file's header
_CUDA = b"\xbe\x00"
_FAST = 1  # zlib's level: texts become a tenth as large
_HEAD = 1 << 16  # bytes of a text, of which comments may be before what says that it is PTX
OPTIONS = "-hex", "-c", "-gi"  # of nvdisasm
FIX = "give a cubin, a fat binary or executable, what cuobjdump -sass or nvdisasm -hex -c prints, PTX, or CUDA C (.cu)"


@dataclass(frozen=True)
class Code:
    """Machine code for one architecture: sections by function; `cubin` is None for a text, which has no resources."""

    architecture: int
    sections: Mapping[str, Section]
    cubin: Cubin | None


def read(path: Path | str, architecture: int | None = None, flags: Sequence[str] = ()) -> Code:
    """Return the machine code of a file, for the architecture if it holds several; CUDA C and PTX are compiled for it.

    `flags` are options of nvcc for such a file. Raises UserError for a file that can't be read, one without machine
    code, or without any for that architecture, and for errors of the compiler.
    """
    if is_source(path):
        found = of_cubin(compiler.compile_file(path, architecture, flags), str(path))
    elif is_ptx(path):
        text = input_file.read(path, FIX, input_file.MOST_GENERATED)
        found = of_cubin(ptx.compile_ptx(text, architecture, flags, str(path), str(path)), str(path))
    elif flags:
        raise CodeError(f"{path}: neither CUDA C nor PTX to compile with {' '.join(flags)}; leave these options out")
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
        return of_cubin(extracted(Path(path), architecture), str(path))
    return _of_text(data, str(path), architecture)


def check_kind(path: Path) -> None:
    """Raise CodeError for a file that can't be machine code, by its first bytes or, of a text, by all of it."""
    if is_source(path) or is_ptx(path):
        return
    data = input_file.read(path, FIX, input_file.MOST_GENERATED)
    if what := foreign.binary(data):
        raise CodeError(f"{path}: {what}")
    if not data.startswith((_ELF, _FAT_BINARY)):
        _read_text(data, str(path))


def cubin_in(path: Path | str) -> bytes:
    """Return the bytes of a file that is a cubin; nothing for another one."""
    data = b"" if is_compiled(path) else input_file.read(path, FIX, input_file.MOST_GENERATED)
    return data if data.startswith(_ELF) and data[_MACHINE] == _CUDA else b""


def is_source(path: Path | str) -> bool:
    """Tell whether a file is CUDA C, by the ending of its name."""
    return str(path).endswith(compiler.ENDING)


def is_ptx(path: Path | str) -> bool:
    """Tell whether a file is PTX, by the ending of its name, or by how its text begins."""
    return str(path).endswith(ptx.ENDING) or ptx.is_ptx(input_file.beginning(path, _HEAD))


def is_compiled(path: Path | str) -> bool:
    """Tell whether a file is one that options of the compiler are for: CUDA C or PTX."""
    return is_source(path) or is_ptx(path)


def of_cubin(data: bytes, name: str) -> Code:
    """Return the machine code in a cubin's bytes; `name` is for messages. Raises UserError as `read` does."""
    contents = cubin.read(data, name)
    if not contents.functions:
        raise CodeError(f"{name}: it has no kernel; write a __global__ function, and instantiate a template explicitly")
    packed = kept(
        ["nvdisasm", tools.version("nvdisasm"), *OPTIONS, data], lambda: zlib.compress(_disassembled(data, name), _FAST)
    )
    return Code(contents.architecture, dump.read(zlib.decompress(packed).decode(), name).sections, contents)


def cubin_of_image(data: bytes, name: str, architecture: int) -> bytes:
    """Return the cubin for an architecture in the bytes of a fat binary, or a cubin itself, or that of PTX.

    `name` is for messages. Raises UserError as `read` does.
    """
    if data.startswith(_ELF):
        return data
    if ptx.is_ptx(data):
        return ptx.compile_ptx(data, architecture, (), name)
    if not data.startswith(_FAT_BINARY):
        raise CodeError(f"{name}: neither a cubin, nor a fat binary, nor PTX; {FIX}")
    versions = "".join(tools.version(tool) for tool in ("cuobjdump", "ptxas") if tools.installed(tool))
    made_of = "cuobjdump", versions, str(architecture), data
    return kept(made_of, lambda: _taken(data, name, architecture))


def _taken(data: bytes, name: str, architecture: int) -> bytes:
    """Return the cubin in a fat binary's bytes for an architecture, or one of its PTX; `name` is for messages."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "code.fatbin"
        file.write_bytes(data)
        return extracted(file, architecture, name)


def _disassembled(data: bytes, name: str) -> bytes:
    """Return the text of a cubin's code, with encodings, lines of source and where those were inlined."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "code.cubin"
        file.write_bytes(data)
        seconds = tools.reading_seconds(len(data))
        return tools.run("nvdisasm", [*OPTIONS, file], about=name, seconds=seconds).encode()


def _of_text(data: bytes, name: str, architecture: int | None) -> Code:
    each = _read_text(data, name)
    found = next(iter(each.values())) if len(each) == 1 else each[meant(name, each, architecture)]
    if found.architecture not in (0, *NVIDIA):  # 0: a text that doesn't say
        raise CodeError(cubin.unread(name, found.architecture))
    return Code(found.architecture, found.sections, None)


def _read_text(data: bytes, name: str) -> dict[int, dump.Dump]:
    """Return what a dump's text says, by architecture; raises UserError for another text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise CodeError(f"{name}: neither machine code nor text; {FIX}") from None
    return dump.read_each(text, name)
