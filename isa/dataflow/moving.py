"""Words that move by a step from block to block, modulo 2**32: what is known of them, their sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Step = tuple[int, int, int]
STILL: Step = (0, 0, 0)
MASK = 0xFFFFFFFF
WORD = 32  # bits


@dataclass(frozen=True, slots=True)
class Value:
    """The known facts about a register: its step, None if it moves irregularly, and its content if that is fixed.

    Its lowest `zeros` bits are 0 in all blocks.
    """

    step: Step | None = STILL
    fixed: int | None = None
    zeros: int = 0


UNKNOWN, SOMETHING, ZERO = Value(None), Value(), Value(STILL, 0)


def either(a: Value, b: Value) -> Value:
    """Return what is known about a word that is one of two."""
    if a == b:
        return a
    if a.step != b.step:
        return UNKNOWN
    return Value(a.step, a.fixed if a.fixed == b.fixed else None, min(_zeros(a), _zeros(b)))


def _zeros(value: Value) -> int:
    """Return how many of the lowest bits are 0 in all blocks."""
    return value.zeros if value.fixed is None else _lowest(value.fixed)


def _lowest(number: int) -> int:
    """Return how many of the lowest bits of a word are 0."""
    return min(WORD, ((number | 1 << WORD) & -(number | 1 << WORD)).bit_length() - 1)


def plus(a: Value, b: Value) -> Value:
    """Return what is known about a sum."""
    if a.step is None or b.step is None:
        return UNKNOWN
    x, y, z = ((p + q) & MASK for p, q in zip(a.step, b.step, strict=True))
    fixed = None if a.fixed is None or b.fixed is None else (a.fixed + b.fixed) & MASK
    return Value((x, y, z), fixed, min(_zeros(a), _zeros(b)))


def product(a: Value, b: Value) -> Value:
    """Return what is known about a product."""
    if b.fixed is not None:
        return times(a, b.fixed)
    if a.fixed is not None:
        return times(b, a.fixed)
    return SOMETHING if a.step == b.step == STILL else UNKNOWN


def times(value: Value, factor: int) -> Value:
    """Return what is known about a word times a number."""
    if value.step is None:
        return UNKNOWN
    x, y, z = ((s * factor) & MASK for s in value.step)
    fixed = None if value.fixed is None else value.fixed * factor & MASK
    return Value((x, y, z), fixed, min(WORD, _zeros(value) + _lowest(factor & MASK)))


def passes(table: int, moving: int, sources: Sequence[Value]) -> bool:
    """Tell whether three words, combined bit by bit, give the moving one of them above bits that no block changes.

    `moving` is its place. Each of its bits is 0 in all blocks, or is the result's whatever the other words have there.
    The truth table has the bit for bits a, b and c in place 4 a + 2 b + c.
    """
    inputs = [(4 * a + 2 * b + c, (a, b, c)) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    return all(
        table >> place & 1 == given[moving]
        for bit in range(_zeros(sources[moving]), WORD)
        for place, given in inputs
        if all(one.fixed is None or one.fixed >> bit & 1 == g for one, g in zip(sources, given, strict=True))
    )
