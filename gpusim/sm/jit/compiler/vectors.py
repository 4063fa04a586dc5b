"""Compiled comparisons of `gpusim.sm.jit.vectors`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from gpusim.sm.jit.vectors import held, later
from gpusim.sm.unit.capacities import OPERANDS, REUSE
from gpusim.sm.unit.stall import OWN

AT_ONCE = 4  # numbers of a vector of 256 bits
NUMBER = ir.IntType(64)
NUMBERS, SHORTS = ir.VectorType(NUMBER, AT_ONCE), ir.VectorType(ir.IntType(16), AT_ONCE)


def _begin(context: Any, builder: Any, kind: Any, array: Any, vectors: Any) -> Any:
    """Generate the address of an array's first vector."""
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, vectors.as_pointer())


def _part(builder: Any, begin: Any, part: int, align: int) -> Any:
    return builder.load(builder.gep(begin, [NUMBER(part)]), align=align)


def _all(builder: Any, number: Any) -> Any:
    """Generate a vector that has a number in each place."""
    vector = ir.Constant(NUMBERS, ir.Undefined)
    for place in range(AT_ONCE):
        vector = builder.insert_element(vector, number, ir.IntType(32)(place))
    return vector


def _with(builder: Any, mask: Any, part: int, found: Any) -> Any:
    """Generate the mask with the results of one vector more."""
    bits = builder.zext(builder.bitcast(found, ir.IntType(AT_ONCE)), NUMBER)
    return builder.or_(mask, builder.shl(bits, NUMBER(part * AT_ONCE)))


@intrinsic
def _later(_typing: Any, times: Any, _when: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        first, limit, mask = _begin(context, builder, times, given[0], NUMBERS), _all(builder, given[1]), NUMBER(0)
        for part in range(OWN // AT_ONCE):
            over = builder.icmp_signed(">", _part(builder, first, part, 8), limit)
            mask = _with(builder, mask, part, over)
        return mask

    return (types.int64(times, types.int64), generate) if times.layout == "C" else None


@intrinsic
def _held(_typing: Any, cache: Any, sought: Any, _base: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        there = _begin(context, builder, cache, given[0], NUMBERS)
        wanted = _begin(context, builder, sought, given[1], SHORTS)
        base, mask = _all(builder, given[2]), NUMBER(0)
        for part in range(OPERANDS * REUSE // AT_ONCE):
            number = builder.add(builder.sext(_part(builder, wanted, part, 2), NUMBERS), base)
            mask = _with(builder, mask, part, builder.icmp_signed("==", _part(builder, there, part, 8), number))
        return mask

    fits = cache.layout == "C" and sought.layout == "C" and sought.dtype == types.int16
    return (types.int64(cache, sought, types.int64), generate) if fits else None


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(later)(lambda times, when: lambda times, when: _later(times, when))  # noqa: ARG005, PLW0108
overload(held)(lambda cache, sought, base: lambda cache, sought, base: _held(cache, sought, base))  # noqa: ARG005, PLW0108
