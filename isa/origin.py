"""Where an instruction comes from: its function, its bytes, its text and its line of source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PureWindowsPath

PlaceInSource = tuple[str, int]  # a file and a line
NOWHERE: PlaceInSource = ("", 0)


@dataclass(frozen=True, slots=True)
class Origin:
    """What an instruction is called where it comes from: `text` as the tools print it, byte `offset` in `function`.

    `line` of `file` is the source that it was compiled from; 0: unknown, as without -lineinfo.
    """

    function: str = ""
    offset: int = -1
    text: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return its place for messages, as `saxpy+0x70 LDG.E R2, [R2.64] (saxpy.cu:5)`: of these what is known."""
        offset = f"+{self.offset:#x}" if self.offset >= 0 else ""
        line = f"({base_name(self.file)}:{self.line})" if self.line else ""
        return " ".join(part for part in (f"{self.function}{offset}", self.text, line) if part)


def base_name(file: str) -> str:
    """Return the last part of a path of any system, as compilers write whole paths into machine code."""
    return PureWindowsPath(file).name or file
