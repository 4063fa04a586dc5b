"""The machine code of a file of any kind: a cubin, a fat binary or executable with some, or the text of a dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.errors import UserError
from isa.reading import input_file
from isa.sass import cubin, dump, tools
from isa.sass.cubin import Cubin
from isa.sass.dump import Section

_ELF, _FAT_BINARY = b"\x7fELF", b"\x50\xed\x55\xba"
_MACHINE = slice(18, 20)  # of an ELF file's header
_CUDA = b"\xbe\x00"
FIX = "give a cubin, a fat binary or executable, or what cuobjdump -sass or nvdisasm -hex -c prints"


class CodeError(UserError):
    """A file without machine code that can be read; the message begins with its name."""


@dataclass(frozen=True)
class Code:
    """Machine code for one architecture: sections by function; `cubin` is None for a text, which has no resources."""

    architecture: int
    sections: Mapping[str, Section]
    cubin: Cubin | None


def read(path: Path | str, architecture: int | None = None) -> Code:
    """Return the machine code of a file, for the architecture if it holds several.

    Raises UserError for a file that can't be read, one without machine code, or without any for that architecture.
    """
    data = input_file.read(path, FIX, input_file.MOST_GENERATED)
    if data.startswith(_ELF) and data[_MACHINE] == _CUDA:
        found = _of_cubin(data, str(path))
    elif data.startswith((_ELF, _FAT_BINARY)):
        found = _of_cubin(_chosen(Path(path), architecture), str(path))
    else:
        found = _of_text(data, str(path))
    if architecture and found.architecture not in (0, architecture):  # 0: a text that doesn't say
        raise CodeError(f"{path}: machine code for sm_{found.architecture}, not for sm_{architecture}")
    return found


def _of_cubin(data: bytes, name: str) -> Code:
    contents = cubin.read(data, name)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "code.cubin"
        file.write_bytes(data)
        text = tools.run("nvdisasm", ["-hex", "-c", "-g", file], about=name)
    return Code(contents.architecture, dump.read(text, name).sections, contents)


def _of_text(data: bytes, name: str) -> Code:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise CodeError(f"{name}: neither machine code nor text; {FIX}") from None
    found = dump.read(text, name)
    return Code(found.architecture, found.sections, None)


def _chosen(path: Path, architecture: int | None) -> bytes:
    """Return the cubin in a fat binary or executable for an architecture, or its only one."""
    with TemporaryDirectory() as folder:
        tools.run("cuobjdump", ["-xelf", "all", path.resolve()], about=str(path), folder=Path(folder))
        files = {_architecture(file): file for file in sorted(Path(folder).glob("*.cubin"))}
        if not files:
            raise CodeError(f"{path}: it holds no machine code; {FIX}")
        names = ", ".join(f"sm_{one}" for one in sorted(files))
        if architecture is None and len(files) > 1:
            raise CodeError(f"{path}: it holds machine code for {names}; choose one of these")
        file = files.get(architecture or next(iter(files)))
        if file is None:
            raise CodeError(f"{path}: it holds machine code for {names}, not for sm_{architecture}")
        return file.read_bytes()


def _architecture(file: Path) -> int:
    """Return the number in a name such as `a.sm_90.cubin`; letters after it, as in sm_90a, don't count."""
    word = next(part for part in file.name.split(".") if part.startswith("sm_"))
    return int("".join(filter(str.isdigit, word)))
