"""Expressions of a generated program at random."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from fuzz.cuda.operators import CALLS, LEAVES

VARIABLES = {
    "u": ("u0", "u1", "u2", "u3"), "i": ("i0", "i1", "i2"), "q": ("q0", "q1"), "l": ("l0", "l1"),
    "f": ("f0", "f1", "f2"), "d": ("d0", "d1"), "h": ("h0", "h1"), "b": ("b0", "b1"), "p": ("p0", "p1"),
    "r": ("r0", "r1"),
}  # fmt: skip
KINDS = "uuuuuiiiqqllffffdddhhbbpr"  # how often an assignment is to each type
NUMBERS = 0, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 17, 31, 32, 33, 63, 64, 77, 100, 127, 128, 170, 200, 202, 240, 255

# What nvcc 13 makes wrong code of, so that it is not drawn, each with an expression that is the whole text:
# - ptxas from -O1 on takes the minimum of a maximum with one half for known, and leaves out the mask of the lower 16
#   bits of HMNMX2, which gives two halves;
# - cicc takes __mul24 of a number with itself for no less than 0, although its 48 bits may not fit into 32;
# - ptxas gives I2F.U64 the lower 32 bits of a shifted constant of 64 as an immediate.
_MISCOMPILED = re.compile(
    r"__h(min|max)\(__h(?!\1)(min|max)\(.*,(bh\(0x\w+\))\),\3\)"
    r"|__mul24\((.*),\s*\4\)"
    r"|__u?ll2\w+\((\([ui]64\)\()?0x\w+ull(<<|>>).*"
)


@dataclass(frozen=True)
class Place:
    """Where a statement stands: what is drawn from, the oldest architecture, numbers for new names, the lanes there.

    `mask` is the variable with the warp's lanes that come here, "" where it isn't known; `whole`: it has all 32.
    `uniform`: all threads of the block come here.
    """

    random: Random
    since: int
    fresh: Iterator[int]
    functions: str = ""
    mask: str = "m"
    whole: bool = False
    uniform: bool = False
    depth: int = 2


def expression(at: Place, kind: str, depth: int = 3) -> str:
    """Return an expression of a type, of so many levels at most."""
    random = at.random
    if depth <= 0 or random.random() < 0.15:
        return filled(random, random.choice(LEAVES[kind]).text)
    while True:
        one = random.choice(CALLS[kind])
        if one.since <= at.since:
            break
    inner = [expression(at, operand, depth - 1 - (len(one.operands) > 2)) for operand in one.operands]
    text = filled(random, one.text, inner)
    return expression(at, kind, depth) if _MISCOMPILED.fullmatch(text) else text


def filled(random: Random, text: str, operands: Sequence[str] = ()) -> str:
    """Return an operator's text with its operands and numbers."""
    rest = iter(operands)
    made = {
        "$": lambda: next(rest),
        "#": lambda: str(random.choice(NUMBERS)),
        "@": lambda: str(random.choice(NUMBERS[1:])),
    }
    return "".join(made[c]() if c in made else c for c in text)


def variable(at: Place, kind: str) -> str:
    """Return a variable of a type."""
    return at.random.choice(VARIABLES[kind])
