"""The text that `nvdisasm -hex -c` and `cuobjdump -sass` print: each function's instructions, with their encodings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from isa.errors import UserError
from isa.nvidia.control import Control
from isa.nvidia.file import encoding
from isa.nvidia.file.inlined import NO_SOURCE, SourceLine, attributed
from isa.reading.foreign import looks_like
from isa.reading.origin import PlaceInSource
from isa.support.bulk import without_collection

_INSTRUCTION = re.compile(
    r"\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?P<text>(?:[^;/]*[^;/\s])?)\s*;?\s*(?:/\* 0x(?P<low>[0-9a-f]{16}) \*/)?\s*"
)
_BEFORE_REMARK = re.compile(r"\s+\(\*")  # of an indirect branch: the labels that it may go to, printed far to the right
_UPPER = re.compile(r"\s*/\* 0x(?P<high>[0-9a-f]{16}) \*/\s*")
_FUNCTION = re.compile(r"\s*Function : (?P<cuobjdump>\S+)\s*|\.text\.(?P<nvdisasm>\S+):\s*")
_LABEL = re.compile(r"(?P<name>[.$\w]\S*):\s*")
_SOURCE = re.compile(r'\s*//## File "(?P<file>.*?)", line (?P<line>\d+)(?P<inlined> inlined at )?.*')
_ARCHITECTURE = re.compile(r"\s*(?:\.target\s+|code for |\.headerflags\s+@\"EF_CUDA_SM)(?:sm_)?(?P<number>\d+).*")
FIX = "print it with cuobjdump -sass, or with nvdisasm -hex -c"


class DumpError(UserError):
    """Text that is no such dump; the message begins with `file:line`."""


class Encoded(NamedTuple):
    """One instruction as the tools print it: byte offset in its section, text without `;`, 128 bits, source line."""

    offset: int
    text: str
    low: int
    high: int
    source: SourceLine = NO_SOURCE

    @property
    def control(self) -> Control:
        """The control code."""
        return encoding.control(self.high)

    @property
    def reuse(self) -> int:
        """The mask of source operands that it keeps for reuse."""
        return encoding.reuse(self.high)


@dataclass(slots=True)
class Section:
    """The code of a kernel and of the functions compiled into it; labels and functions by name, with their offsets."""

    instructions: list[Encoded] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Titled:
    """A section with its function and architecture, 0 as long as no line says it."""

    function: str
    section: Section
    architecture: int


@dataclass(frozen=True, slots=True)
class Dump:
    """Sections by the name of their function; `architecture` is 0 if the text doesn't say."""

    architecture: int
    sections: dict[str, Section]


@without_collection()
def read(text: str, name: str) -> Dump:
    """Return what a dump of code for one architecture says; `name` is the file's, for messages.

    Raises DumpError as `read_each` does, and for code for several architectures.
    """
    found = read_each(text, name)
    if len(found) > 1:
        names = ", ".join(f"sm_{one}" for one in sorted(found))
        raise DumpError(f"{name}: code for {names}; give the text of one")
    return next(iter(found.values()))


def read_each(text: str, name: str) -> dict[int, Dump]:
    """Return what a dump says by architecture: a fat binary's text has code for several.

    Raises DumpError for a text without instructions, and for instructions without encodings or out of order.
    """
    found, section, source, architecture = list[_Titled](), Section(), NO_SOURCE, 0
    chain = list[PlaceInSource]()
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        if match := _INSTRUCTION.fullmatch(line):
            upper = _UPPER.fullmatch(next(lines, (0, ""))[1])
            if match["low"] is None or upper is None:
                raise _refused(text, name, number, match)
            if not found:
                raise DumpError(f"{name}:{number}: an instruction of no function; {FIX}")
            section.instructions.append(_instruction(match, upper["high"], source))
            _check_order(section, f"{name}:{number}")
        elif match := _FUNCTION.fullmatch(line):
            section, source = Section(), NO_SOURCE
            found.append(_Titled(match["cuobjdump"] or match["nvdisasm"], section, architecture))
        elif match := _LABEL.fullmatch(line):
            section.labels[match["name"]] = len(section.instructions) * encoding.BYTES
        elif match := _SOURCE.fullmatch(line):
            chain.append((match["file"], int(match["line"])))
            if not match["inlined"]:  # else the next line says where
                source, chain = attributed(chain), []
        elif match := _ARCHITECTURE.fullmatch(line):
            architecture = int(match["number"])
            if found and not section.instructions:  # cuobjdump says it behind the function's name
                found[-1].architecture = architecture
    if not any(one.section.instructions for one in found) and (foreign := looks_like(text, name, sass=True)):
        raise DumpError(f"{name}:{foreign.line}: no machine code: looks like {foreign.words}")
    return _by_architecture([one for one in found if one.section.instructions], name)


def _refused(text: str, name: str, number: int, match: re.Match[str]) -> DumpError:
    """Return the error for an instruction without its encoding: what the text is, if it is of another kind."""
    if foreign := looks_like(text, name, sass=True):
        return DumpError(f"{name}:{foreign.line}: looks like {foreign.words}")
    return DumpError(f"{name}:{number}: {match['text'][:60]} has no encoding, so no control code; {FIX}")


def _by_architecture(found: Sequence[_Titled], name: str) -> dict[int, Dump]:
    """Return the sections by architecture; what stands before the first that is named counts with it."""
    if not found:
        raise DumpError(f"{name}: no instructions; {FIX}")
    first = next((one.architecture for one in found if one.architecture), 0)
    dumps = dict[int, Dump]()
    for one in found:
        number = one.architecture or first
        dumps.setdefault(number, Dump(number, {})).sections[one.function] = one.section
    return dumps


def _instruction(match: re.Match[str], high: str, source: SourceLine) -> Encoded:
    """Return the instruction of a line; `high` has the digits of the upper half of its encoding, of the next line."""
    text = _BEFORE_REMARK.sub(" (*", match["text"]) if "(*" in match["text"] else match["text"]
    return Encoded(int(match["offset"], 16), text, int(match["low"], 16), int(high, 16), source)


def _check_order(section: Section, place: str) -> None:
    found, expected = section.instructions[-1].offset, (len(section.instructions) - 1) * encoding.BYTES
    if found != expected:
        raise DumpError(f"{place}: offset {found:#06x} where {expected:#06x} comes next; {FIX}")
