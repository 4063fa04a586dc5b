"""Functions of the instruction table as rules: from the operands in `sm.scratch` to the results there, lane by lane.

An operand is [words, lanes] of 32 bits. A function takes one word of it or, of two, a number of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpusim.sm.jit.on_demand import one_on_demand
from gpusim.sm.jit.rule import COMPILED, rule
from gpusim.sm.records import Sm
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import UPDATES, Function, Of

Rule = Callable[[Sm], None]
UPPER = np.uint64(32)


@rule
def word(operand: Any, lane: Any) -> Any:
    """Return a lane's word of an operand; of all lanes, if `lane` is a slice."""
    return operand[0, lane]


@rule
def pair(operand: Any, lane: Any) -> Any:
    """Return a lane's two words as one number."""
    return np.uint64(operand[0, lane]) | np.uint64(operand[1, lane]) << UPPER


@rule
def put_word(to: Any, lane: Any, result: Any) -> None:
    """Set a lane's word of an operand, or of d."""
    to[0, lane] = result


@rule
def put_pair(to: Any, lane: Any, result: Any) -> None:
    """Set a lane's two words of an operand, or of d, to the halves of a number."""
    to[0, lane] = np.uint32(result & np.uint64(0xFFFFFFFF))
    to[1, lane] = np.uint32(result >> UPPER)


@rule
def put_truths(to: Any, lane: Any, result: Any) -> None:
    """Set a lane's truths, P in bit 0."""
    to[lane] = result


TAKES: dict[int, Callable[..., Any]] = {1: word, 2: pair}  # by 32-bit words
GIVES: dict[int, Callable[..., None]] = {0: put_truths, 1: put_word, 2: put_pair}


def of_lanes(function: Function) -> Rule:
    """Return a rule (sm) that computes a function of each lane's operands."""
    take, put, value = TAKES[function.takes], GIVES[function.gives], rule(function.function)

    @rule
    def one(to: Any, a: Any, b: Any, c: Any, _p: Any, _n: Any, lane: Any) -> None:
        put(to, lane, value(take(a, lane), take(b, lane), take(c, lane)))

    return _over_lanes(one, function)


def of_number(function: Function) -> Rule:
    """Return a rule (sm) that computes a function of each lane's words and of the number n."""
    value = rule(function.function)

    @rule
    def one(to: Any, a: Any, b: Any, c: Any, _p: Any, n: Any, lane: Any) -> None:
        put_word(to, lane, value(word(a, lane), word(b, lane), word(c, lane), np.uint32(n)))

    return _over_lanes(one, function)


def of_general(function: Function) -> Rule:
    """Return a rule (sm) that computes a function of `isa.values.general`."""
    put, value = GIVES[function.gives], rule(function.function)

    @rule
    def one(to: Any, a: Any, b: Any, c: Any, p: Any, n: Any, lane: Any) -> None:
        put(to, lane, value(pair(a, lane), pair(b, lane), pair(c, lane), p[lane], np.uint64(n)))

    return _over_lanes(one, function)


def of_one_lane(update: Callable[..., Any], words: int) -> Rule:
    """Return a rule (sm) that computes an atomic's update in lane `sm.scratch.lane`."""
    take, put, value = TAKES[words], GIVES[words], rule(update)

    def apply(sm: Sm) -> None:
        scratch, lane = sm.scratch, sm.scratch.lane
        put(scratch.d, lane, value(take(scratch.a, lane), take(scratch.b, lane), take(scratch.c, lane)))

    if COMPILED:
        apply.__qualname__ = f"{update.__qualname__}_of_one_lane"
        return apply
    return _quiet(apply)


def _over_lanes(one: Callable[..., None], function: Function) -> Rule:
    """Return a rule (sm) that does for all lanes what `one` does for a lane, or for a slice of them.

    It hands over arrays instead of `scratch`: only then LLVM sees that lanes can be computed side by side.
    """

    def results(sm: Sm) -> None:
        s = sm.scratch
        for lane in range(LANES):
            one(s.d, s.a, s.b, s.c, s.p, s.n, lane)

    def told(sm: Sm) -> None:
        s = sm.scratch
        for lane in range(LANES):
            one(s.flag, s.a, s.b, s.c, s.p, s.n, lane)

    def at_once(sm: Sm) -> None:
        s = sm.scratch
        one(s.d if function.gives else s.flag, s.a, s.b, s.c, s.p, s.n, slice(None))

    if not COMPILED:
        return _quiet(at_once)
    apply = results if function.gives else told
    apply.__qualname__ = f"{function.function.__qualname__}_of_lanes"
    return apply


def _quiet(apply: Rule) -> Rule:
    """Return the rule without NumPy's warnings: overflow and NaN are results here, not errors."""

    def quiet(sm: Sm) -> None:
        with np.errstate(all="ignore"):
            apply(sm)

    return quiet


RULES: dict[Of, Callable[[Function], Rule]] = {Of.LANES: of_lanes, Of.NUMBER: of_number, Of.GENERAL: of_general}
update_word = one_on_demand("update_word", [of_one_lane(update, 1) for update in UPDATES])
update_pair = one_on_demand("update_pair", [of_one_lane(update, 2) for update in UPDATES])
