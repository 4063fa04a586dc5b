"""Decorators that compile rules: `@rule` for a step of the model, `@entry` for engine calls, `switch` for a choice.

A rule is a plain function on plain data. Numba compiles it when an engine first needs it. Called from Python, and with
NUMBA_DISABLE_JIT=1 always, the same source runs as Python. Only entries are kept on disk (gpusim/sm/jit/code_cache.py),
with every rule below them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from gpusim.sm.jit import sources
from gpusim.sm.jit.code_cache import COMPILED
from gpusim.sm.jit.entry import Entry, Rule
from gpusim.sm.unit.capacities import NEVER

__all__ = [
    "COMPILED",
    "NEVER",
    "borrow",
    "count_bits",
    "entry",
    "lowest_bit",
    "rarely",
    "rule",
    "since_volta",
    "switch",
]

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def rule(function: F) -> F:
    """Return the function, which is compiled when compiled code first calls it."""
    return cast(F, Rule(function, inlined=True)) if COMPILED else function


def rarely(function: F) -> F:
    """Return a rule that is called instead of inlined: large and seldom used."""
    return cast(F, Rule(function, inlined=False)) if COMPILED else function


def entry(function: F) -> F:
    """Return a rule that an engine calls from Python: compiled once per installation, then loaded from disk."""
    return cast(F, Entry(function)) if COMPILED else function


def switch(functions: Sequence[Callable[[A, B, C, D], T]]) -> Callable[[int, A, B, C, D], T]:
    """Return a rule f(index, a, b, c, d) that calls the index-th of some rules of four arguments, by quartering."""
    if not COMPILED:
        return lambda index, a, b, c, d: functions[index](a, b, c, d)
    return _quarter(tuple(functions), 0)


def _quarter(functions: tuple[Callable[..., Any], ...], first: int) -> Callable[..., Any]:
    if len(functions) <= 4:
        return _among_four(functions, tuple(first + i for i in range(len(functions))), exact=True)
    size = 4  # a power of four: full leaves are the fewest
    while 4 * size < len(functions):
        size *= 4
    parts = [functions[i : i + size] for i in range(0, len(functions), size)]
    nodes = tuple(_quarter(part, first + i * size) for i, part in enumerate(parts))
    return _among_four(nodes, tuple(first + i * size for i in range(len(nodes))), exact=False)


def _among_four(choices: tuple[Callable[..., Any], ...], firsts: tuple[int, ...], *, exact: bool) -> Callable[..., Any]:
    """Return a rule that calls the last choice whose first index is at most the index; inner nodes pass it on."""
    p, q, r, s = (*choices, *[choices[-1]] * (4 - len(choices)))
    never = firsts[-1] + 1 << 20
    at_q, at_r, at_s = (*firsts[1:], *[never] * (4 - len(firsts)))
    if exact:

        @rule
        def leaf(index: int, a: Any, b: Any, c: Any, d: Any) -> Any:
            if index >= at_r:
                return s(a, b, c, d) if index >= at_s else r(a, b, c, d)
            return q(a, b, c, d) if index >= at_q else p(a, b, c, d)

        return leaf

    @rule
    def node(index: int, a: Any, b: Any, c: Any, d: Any) -> Any:
        if index >= at_r:
            return s(index, a, b, c, d) if index >= at_s else r(index, a, b, c, d)
        return q(index, a, b, c, d) if index >= at_q else p(index, a, b, c, d)

    return node


def lowest_bit(mask: int) -> int:
    """Return the index of the lowest set bit of a mask that is not zero."""
    mask = int(mask)
    return (mask & -mask).bit_length() - 1


def count_bits(mask: int) -> int:
    """Return the number of set bits of a mask that is not negative."""
    return int(mask).bit_count()


def borrow(array: A) -> A:
    """Return the same array without its reference count, which compiled code would update at every call.

    Counting is atomic and took 40 % of the engine's time. Use this only for arrays that the caller of an entry keeps
    alive.
    """
    return array


def since_volta(sm: A) -> A:
    """Return the same SM, of whose machine compiled code then takes the numbers of `SINCE_VOLTA` as constants."""
    return sm


sources.begin()  # their state now is what later edits are noticed by
