"""Compiled moves of words of all lanes: `gpusim.sm.jit.lane_words` as vectors."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from gpusim.sm.jit.lane_words import copy, exchange, put
from gpusim.sm.unit.capacities import LANES

AT_ONCE = 8  # words, as loops over lanes are compiled: a wider read would wait for the narrower writes before it
WORDS = ir.VectorType(ir.IntType(32), AT_ONCE)
FLAGS = ir.VectorType(ir.IntType(1), AT_ONCE)
ALIGNED = 4  # bytes: rows begin at any word


def _are_words(*arrays: Any) -> bool:
    """Tell whether the types are those of arrays of words that lie one after the other."""
    return all(each.dtype == types.uint32 and each.layout == "C" for each in arrays)


def _number(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _parts(context: Any, builder: Any, kind: Any, array: Any, *row: Any) -> list[Any]:
    """Return the addresses of the parts of a row, or of an array that is one."""
    view = context.make_array(kind)(context, builder, array)
    begin = cgutils.get_item_pointer(context, builder, kind, view, [*row, _number(0)])
    first = builder.bitcast(begin, WORDS.as_pointer())
    return [builder.gep(first, [_number(part)]) for part in range(LANES // AT_ONCE)]


@intrinsic
def _copy(_typing: Any, to: Any, rows: Any, _row: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = _parts(context, builder, to, given[0])
        sources = _parts(context, builder, rows, given[1], given[2])
        for place, source in zip(places, sources, strict=True):
            builder.store(builder.load(source, align=ALIGNED), place, align=ALIGNED)
        return context.get_dummy_value()

    return (types.void(to, rows, types.int64), generate) if _are_words(to, rows) else None


@intrinsic
def _put(_typing: Any, rows: Any, _row: Any, words: Any, _active: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = _parts(context, builder, rows, given[0], given[1])
        sources = _parts(context, builder, words, given[2])
        for part, (place, source) in enumerate(zip(places, sources, strict=True)):
            bits = builder.trunc(builder.lshr(given[3], _number(part * AT_ONCE)), ir.IntType(AT_ONCE))
            new, before = builder.load(source, align=ALIGNED), builder.load(place, align=ALIGNED)
            builder.store(builder.select(builder.bitcast(bits, FLAGS), new, before), place, align=ALIGNED)
        return context.get_dummy_value()

    return (types.void(rows, types.int64, words, types.int64), generate) if _are_words(rows, words) else None


@intrinsic
def _exchange(_typing: Any, rows: Any, _row: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = _parts(context, builder, rows, given[0], given[1])
        others = _parts(context, builder, words, given[2])
        for place, other in zip(places, others, strict=True):
            held, new = builder.load(place, align=ALIGNED), builder.load(other, align=ALIGNED)
            builder.store(new, place, align=ALIGNED)
            builder.store(held, other, align=ALIGNED)
        return context.get_dummy_value()

    return (types.void(rows, types.int64, words), generate) if _are_words(rows, words) else None


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(copy)(lambda to, rows, row: lambda to, rows, row: _copy(to, rows, row))  # noqa: ARG005, PLW0108
overload(put)(
    lambda rows, row, words, active: lambda rows, row, words, active: _put(rows, row, words, active)  # noqa: ARG005, PLW0108
)
overload(exchange)(lambda rows, row, words: lambda rows, row, words: _exchange(rows, row, words))  # noqa: ARG005, PLW0108
