"""Machine code in lines: labels, places in the source, and instructions with their offsets and control codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from isa import control
from isa.control import Control
from isa.origin import Origin


def lines(code: Iterable[tuple[Origin, Control]], labels: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of machine code: labels, a line of source where it changes, and each instruction.

    `labels` are names by the byte offset of what follows them.
    """
    source = "", 0
    for origin, codes in code:
        yield from (f"{name}:\n" for name in labels.get(origin.offset, ()))
        if (origin.file, origin.line) != source and origin.line:
            yield f"// {origin.file}:{origin.line}\n"
        source = origin.file, origin.line
        yield f"{origin.offset:04x}  {control.show(codes)}  {origin.text}\n"
