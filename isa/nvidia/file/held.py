"""What a fat binary or an executable holds: machine code for several architectures, and PTX, which is compiled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.architecture import NVIDIA
from isa.errors import UserError
from isa.nvidia.compiler import ptx, tools
from isa.nvidia.compiler.compile import ARCHITECTURE
from isa.nvidia.file import cubin

_ENTRY = b".entry"  # of a kernel


class CodeError(UserError):
    """A file without machine code that can be read; the message begins with its name."""


def extracted(path: Path, architecture: int | None, name: str = "") -> bytes:
    """Return the cubin in a fat binary or executable for an architecture, or its only one.

    Where there is none, one is compiled of the PTX that it holds, as a driver does. `name` is for messages, if it is
    not the path. Raises UserError.
    """
    name = name or str(path)
    with TemporaryDirectory() as folder:
        files = dict[int, list[Path]]()
        for file in _taken_out(path, name, "elf", Path(folder)):
            files.setdefault(_architecture(file), []).append(file)
        if not files or (architecture and architecture not in files):
            texts = [file.read_bytes() for file in _taken_out(path, name, "ptx", Path(folder))]
            if (made := _of_ptx(texts, architecture, name, alone=not files)) is not None:
                return made
        if not files:
            raise CodeError(f"{name}: it holds neither machine code nor PTX; compile it with -arch=sm_90")
        number = meant(name, files, architecture)
        each = _with_kernels([file.read_bytes() for file in files[number]], name)
        return _one(each, name, f"cubins for sm_{number}", "elf")


def meant(name: str, known: Collection[int], architecture: int | None) -> int:
    """Return the architecture that is meant of several; raises CodeError."""
    names, read = ", ".join(f"sm_{one}" for one in sorted(known)), set(known) & set(NVIDIA)
    if architecture is None and len(known) > 1:
        if not read:
            raise CodeError(cubin.unread(name, *sorted(known)))
        best = ARCHITECTURE if ARCHITECTURE in read else max(read)
        fix = f"choose one, as in --arch {best}, or in a launch file: architecture = {best}"
        raise CodeError(f"{name}: it holds machine code for {names}; {fix}")
    number = architecture or next(iter(known))
    if number not in known:
        raise CodeError(f"{name}: it holds machine code for {names}, not for sm_{number}")
    return number


def _taken_out(path: Path, name: str, kind: str, folder: Path) -> Sequence[Path]:
    """Return the files of a kind that cuobjdump takes out into a folder, in order of their names."""
    seconds = tools.reading_seconds(path.stat().st_size)
    tools.run("cuobjdump", [f"-x{kind}", "all", path.resolve()], about=name, folder=folder, seconds=seconds)
    return sorted(folder.glob("*.cubin" if kind == "elf" else f"*{ptx.ENDING}"))


def _of_ptx(texts: Sequence[bytes], architecture: int | None, name: str, *, alone: bool) -> bytes | None:
    """Return the cubin of the PTX for the latest architecture up to the one asked for; None if there is none.

    PTX that is `alone`, without machine code beside it, is compiled whatever it is for, which may be refused.
    """
    found = dict[int, list[bytes]]()
    for text in texts:
        found.setdefault(ptx.own_architecture(text.decode(errors="replace")), []).append(text)
    asked = architecture or ARCHITECTURE
    below = [one for one in found if one <= asked] or (list(found) if alone else [])
    if not below:
        return None
    number = max(below)
    each = [text for text in found[number] if _ENTRY in text] or found[number]
    text = _one(each, name, f"texts of PTX for sm_{number}", "ptx")
    return ptx.compile_ptx(text, architecture, (), f"{name}: its PTX")


def _one(each: Sequence[bytes], name: str, what: str, kind: str) -> bytes:
    """Return the only one of several; raises CodeError, which says how those of a kind are taken out."""
    if len(each) > 1:
        raise CodeError(f"{name}: it holds {len(each)} {what}; take one out: cuobjdump -x{kind} all {name}")
    return each[0]


def _with_kernels(cubins: list[bytes], name: str) -> list[bytes]:
    """Return those of several cubins that have kernels, or all if none has: nvcc 13 adds one without."""
    if len(cubins) == 1:
        return cubins
    return [one for one in cubins if cubin.read(one, name).kernels] or cubins


def _architecture(file: Path) -> int:
    """Return the number in a name such as `a.sm_90.cubin`; letters after it, as in sm_90a, don't count."""
    word = next(part for part in file.name.split(".") if part.startswith("sm_"))
    return int("".join(filter(str.isdigit, word)))
