"""Buffers that hold addresses of other buffers: `addresses x 64` is that of x, and 64 bytes more for each element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file.source import Source
from isa.errors import UserError
from isa.kernel import Buffer
from isa.nvidia.abi.launch import POINTER_BYTES, pointer
from isa.reading import literals
from isa.reading.source import suggest

WORD = "addresses"


@dataclass(frozen=True)
class AddressFill:
    """Addresses with equal steps, the first at `begin`."""

    begin: int
    step: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the addresses at the element indices."""
        return (np.uint64(self.begin) + index.astype(np.uint64) * np.uint64(self.step)).astype(np.uint64)


def is_of(fill: str) -> bool:
    """Tell whether a fill is of addresses."""
    return fill.split()[:1] == [WORD]


def filled(source: Source, known: Sequence[Buffer], fills: Sequence[tuple[str, str]]) -> tuple[Buffer, ...]:
    """Return the buffers of a launch file, those with the addresses that `fills` say, each with its key; UserError."""
    return tuple(
        replace(one, fill=_fill(source, key, fill, one, known)) if is_of(fill) else one
        for one, (key, fill) in zip(known, fills, strict=True)
    )


def _fill(source: Source, key: str, text: str, buffer: Buffer, known: Sequence[Buffer]) -> AddressFill:
    words = text.split()
    if len(words) not in (2, 3):
        raise _refused(source, key, f"{text}: write {WORD} NAME, or {WORD} NAME STEP")
    if buffer.dtype != f"u{POINTER_BYTES}":
        raise _refused(source, key, f'{buffer.name} has no elements for addresses; write buffer = "uint64"')
    names = [one.name for one in known]
    if words[1] not in names:
        raise _refused(source, key, f"unknown buffer {words[1]}; {suggest(words[1], names)}")
    try:
        step = literals.integer(words[2]) if len(words) == 3 else 0
    except ValueError as error:
        raise _refused(source, key, str(error)) from None
    if not 0 <= step <= literals.MOST:
        raise _refused(source, key, f"a step of {step} bytes; write 0 to {literals.MOST}")
    return AddressFill(int.from_bytes(pointer(known, words[1]).data, "little"), step)


def _refused(source: Source, key: str, message: str) -> UserError:
    return source.refusal(f"{key}.fill", message)
