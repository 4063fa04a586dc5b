"""The primitives of value functions, compiled: each of `isa.values.lanes` gets a machine instruction of its meaning.

The results equal those of the NumPy originals bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload, register_jitable
from numba.np.arrayobj import populate_array

from gpusim.sm.jit.compiler.linking import RuleCompiler
from isa.values import lanes as original
from isa.values.parts import INLINED, PARTS


@intrinsic
def _fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, b, c), generate


def _bit_cast(to: Any) -> Any:
    @intrinsic
    def cast(_typing: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(to))

        return to(a), generate

    return cast


def _room(of: Any) -> Any:
    """Return a function that gives an array in the caller's frame: nothing else is there, as the compiler sees."""

    @intrinsic
    def room(_typing: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
            element, array = context.get_data_type(of), context.make_array(kind)(context, builder)
            place = cgutils.alloca_once(builder, ir.ArrayType(element, original.ROOM))
            place.align = 64
            count, size = (context.get_constant(types.intp, n) for n in (original.ROOM, of.bitwidth // 8))
            begin = builder.bitcast(place, element.as_pointer())
            populate_array(array, data=begin, shape=[count], strides=[size], itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(), generate

    kind = types.Array(of, 1, "C")
    return room


QUADS, QUAD = original.LANES // original.QUAD, original.QUAD


def _rows(context: Any, builder: Any, kind: Any, array: Any, places: Any) -> list[Any]:
    """Return the addresses of as many words as there are quads, from each of some places of an array on."""
    view, row = context.make_array(kind)(context, builder, array), ir.VectorType(ir.IntType(32), QUADS).as_pointer()
    return [builder.bitcast(cgutils.get_item_pointer(context, builder, kind, view, [one]), row) for one in places]


def _all(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of the words of all lanes."""
    first = _rows(context, builder, kind, array, [ir.Constant(ir.IntType(64), 0)])[0]
    return builder.bitcast(first, ir.VectorType(ir.IntType(32), QUADS * QUAD).as_pointer())


def _places(builder: Any, first: Any, distance: Any) -> list[Any]:
    return [builder.add(first, builder.mul(distance, ir.Constant(ir.IntType(64), t))) for t in range(QUAD)]


def _chosen(builder: Any, one: Any, other: Any, places: Any) -> Any:
    number = ir.IntType(32)
    mask = ir.Constant(ir.VectorType(number, len(places)), [ir.Constant(number, place) for place in places])
    return builder.shuffle_vector(one, other, mask)


@intrinsic
def _spread(_typing: Any, to: Any, _first: Any, _distance: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        whole = builder.load(_all(context, builder, words, given[3]), align=4)
        for t, place in enumerate(_rows(context, builder, to, given[0], _places(builder, given[1], given[2]))):
            part = _chosen(builder, whole, whole, range(t, QUADS * QUAD, QUAD))
            builder.store(part, place, align=4)
        return context.get_dummy_value()

    return types.void(to, types.int64, types.int64, words), generate


@intrinsic
def _collect(_typing: Any, words: Any, of: Any, _first: Any, _distance: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        places = _rows(context, builder, of, given[1], _places(builder, given[2], given[3]))
        parts = [builder.load(place, align=4) for place in places]
        while len(parts) > 1:
            both = range(2 * parts[0].type.count)
            parts = [_chosen(builder, *pair, both) for pair in zip(parts[::2], parts[1::2], strict=True)]
        order = [QUADS * t + g for g in range(QUADS) for t in range(QUAD)]
        whole = _chosen(builder, parts[0], parts[0], order)
        builder.store(whole, _all(context, builder, words, given[0]), align=4)
        return context.get_dummy_value()

    return types.void(words, of, types.int64, types.int64), generate


_to_f32, _to_f64, _to_i32 = _bit_cast(types.float32), _bit_cast(types.float64), _bit_cast(types.int32)
_room_u32, _room_i32 = _room(types.uint32), _room(types.int32)
_room_f32, _room_f64 = _room(types.float32), _room(types.float64)
_to_u32, _to_u64 = _bit_cast(types.uint32), _bit_cast(types.uint64)


@register_jitable
def _from_half(pattern: int) -> Any:
    """Return the double equal to the half in the low 16 bits: a single with the same digits, moved to place."""
    magnitude = np.uint32(pattern & 0x7FFF)
    if magnitude >= 0x7C00:
        number = np.inf if magnitude == 0x7C00 else np.nan
    else:
        number = np.float64(_to_f32(np.uint32(magnitude << 13))) * 2.0**112  # exponents count from -127, not from -15
    return -number if pattern & 0x8000 else number


@register_jitable
def _to_half(number: Any) -> Any:
    """Return the half nearest to a double, as a pattern: rounded steps above a power of two carry into the exponent."""
    if np.isnan(number):
        return np.uint32(0x7FFF)
    bits, magnitude = _to_u64(number), abs(number)
    sign = np.uint32(bits >> np.uint64(48)) & np.uint32(0x8000)
    if magnitude >= 65520.0:
        return np.uint32(sign | 0x7C00)
    exponent = np.int64(bits >> np.uint64(52)) & 2047
    exponent = exponent if exponent > 1009 else np.int64(1009)  # that of the least normal half, also for smaller values
    steps = np.rint(magnitude * _to_f64(np.uint64(2056 - exponent) << np.uint64(52)))
    return np.uint32(sign + ((exponent - 1009) << 10) + np.int64(steps))


def _either(typed: Any, for_float: Any, for_integer: Any) -> Any:
    """Return the implementation for an argument of that Numba type."""
    return for_float if isinstance(typed, types.Float) else for_integer


# An overload is a function of types that returns the function of values to compile: one lambda inside the other.
# ruff: noqa: ARG005, PLW0108
MACHINE_CODE: dict[Callable[..., Any], Callable[..., Any]] = {
    original.as_u32: lambda x: _either(x, lambda x: _to_u32(np.float32(x)), lambda x: np.uint32(x)),
    original.as_u64: lambda x: _either(x, lambda x: _to_u64(np.float64(x)), lambda x: np.uint64(x)),
    original.as_i32: lambda x: lambda x: _to_i32(np.uint32(x)),
    original.as_f32: lambda x: lambda x: _to_f32(np.uint32(x)),
    original.as_f64: lambda x: lambda x: _to_f64(np.uint64(x)),
    original.as_i64: lambda x: lambda x: np.int64(x),
    original.widen: lambda x: lambda x: np.uint64(np.uint32(x)),
    original.narrow: lambda x: lambda x: np.uint32(x),
    original.room_for_words: lambda: lambda: _room_u32(),
    original.room_for_integers: lambda: lambda: _room_i32(),
    original.room_for_singles: lambda: lambda: _room_f32(),
    original.room_for_doubles: lambda: lambda: _room_f64(),
    original.spread: lambda to, first, distance, words: (
        lambda to, first, distance, words: _spread(to, first, distance, words)
    ),
    original.collect: lambda words, of, first, distance: (
        lambda words, of, first, distance: _collect(words, of, first, distance)
    ),
    original.choose: lambda condition, yes, no: lambda condition, yes, no: yes if condition else no,
    original.fma16: lambda a, b, c: lambda a, b, c: _to_half(_from_half(a) * _from_half(b) + _from_half(c)),
    original.fma32: lambda a, b, c: lambda a, b, c: _fma(np.float32(a), np.float32(b), np.float32(c)),
    original.fma64: lambda a, b, c: lambda a, b, c: _fma(np.float64(a), np.float64(b), np.float64(c)),
}
for primitive, implementation in MACHINE_CODE.items():
    overload(primitive)(implementation)
for part in PARTS:
    register_jitable(part)
for part in INLINED:
    register_jitable(pipeline_class=RuleCompiler, error_model="numpy", forceinline=True, no_cpython_wrapper=True)(part)
