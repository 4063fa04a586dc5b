"""Machine code in lines: labels, places in the source, and instructions with their offsets and control codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from isa.nvidia import control
from isa.nvidia.control import Control
from isa.reading.origin import NOWHERE, Origin, with_header


def lines(code: Iterable[tuple[Origin, Control]], labels: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of machine code: labels, a line of source where it changes, and each instruction.

    `labels` are names by the byte offset of what follows them.
    """
    place = None
    for origin, codes in code:
        yield from (f"{name}:\n" for name in labels.get(origin.offset, ()))
        if origin.line and place != (origin.file, origin.line, origin.inlined):
            yield f"// {_place(origin)}\n"
        place = origin.file, origin.line, origin.inlined
        yield f"{origin.offset:04x}  {control.show(codes)}  {origin.text}\n"


def _place(origin: Origin) -> str:
    """Return a line of source as text, with the place in a header whose code was inlined there."""
    header, line = origin.inlined
    return with_header(f"{origin.file}:{origin.line}", f"{header}:{line}" if origin.inlined != NOWHERE else "")
