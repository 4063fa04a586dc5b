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

from gpusim.sm.jit.linking import RuleCompiler
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
