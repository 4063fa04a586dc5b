"""Where an instruction comes from: its function, its bytes, its text and its line of source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PureWindowsPath

PlaceInSource = tuple[str, int]  # a file and a line
NOWHERE: PlaceInSource = ("", 0)
SYSTEM = "(system)"  # the file, without a line, of functions of the system that are linked to machine code
CUT = "..."  # stands for the beginning of a path


@dataclass(frozen=True, slots=True)
class Origin:
    """What an instruction is called where it comes from: `text` as the tools print it, byte `offset` in `function`.

    `line` of `file` is the source that it was compiled from; 0: unknown, as without -lineinfo. `inlined` is the place
    in a header whose code was inlined there, if it is such code.
    """

    function: str = ""
    offset: int = -1
    text: str = ""
    file: str = ""
    line: int = 0
    inlined: PlaceInSource = NOWHERE

    def __str__(self) -> str:
        """Return its place for messages, as `saxpy+0x70 LDG.E R2, [R2.64] (saxpy.cu:5)`: of these what is known."""
        return " ".join(part for part in (self.at, self.text, f"({self.source})" if self.line else "") if part)

    @property
    def of_system(self) -> bool:
        """Tell whether it is of a function of the system."""
        return self.file == SYSTEM

    @property
    def at(self) -> str:
        """Return its place in the machine code, as `saxpy+0x70`: of function and offset what is known."""
        return f"{self.function}+{self.offset:#x}" if self.offset >= 0 else self.function

    @property
    def source(self) -> str:
        """Return its line of source, as `saxpy.cu:5, inlined from cuda_fp16.hpp:2604`; empty if unknown."""
        return with_header(spot((self.file, self.line)), spot(self.inlined)) if self.line else ""


def base_name(file: str) -> str:
    """Return the last part of a path of any system, as compilers write whole paths into machine code."""
    return PureWindowsPath(file).name or file


def number(pc: int, offset: int) -> str:
    """Return what tables call an instruction: its offset in machine code, as 0x0cf0, or its pc where that is -1."""
    return f"{offset:#06x}" if offset >= 0 else f"{pc}"


def with_header(line: str, header: str) -> str:
    """Return a line of source in words, with the place in a header, if there is one, whose code was inlined there."""
    return f"{line}, inlined from {header}" if header else line


def spot(place: PlaceInSource) -> str:
    """Return a place in a source for readers, as `saxpy.cu:5`; empty for none."""
    return f"{base_name(place[0])}:{place[1]}" if place[1] else ""


def ending(path: str, room: int) -> str:
    """Return the end of a path that takes so many characters: whole folders if the name leaves room for any."""
    if len(path) <= room:
        return path
    parts, kept = path.replace("\\", "/").split("/"), ""
    while parts and len(parts[-1]) + len(kept) + len(CUT) + 1 <= room:
        kept = f"/{parts.pop()}{kept}"
    return f"{CUT}{kept}" if kept else f"{CUT}{path[len(path) + len(CUT) - room :]}"
