"""Compiled primitives of rules: bits, arrays without a count of references, atomic operations, waiting."""

from __future__ import annotations

from platform import machine
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from gpusim.sm.jit.atomic import add, load, nap, pause, replace
from gpusim.sm.jit.compiler.records import record_type
from gpusim.sm.jit.rule import borrow, count_bits, lowest_bit, since_volta

ORDER = "seq_cst"
PAUSE = "llvm.x86.sse2.pause" if machine() in ("x86_64", "AMD64") else ""  # elsewhere a pause does nothing


@intrinsic
def _count_trailing_zeros(_typing: Any, mask: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return mask(mask), generate


@intrinsic
def _count_set(_typing: Any, mask: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return mask(mask), generate


@intrinsic
def _without_owner(_typing: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        view.parent = ir.Constant(view.parent.type, None)
        return view._getvalue()

    return array(array), generate


@intrinsic
def _known(_typing: Any, sm: Any) -> Any:
    def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return record_type("sm", known=True)(sm), generate


def _element(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of an element of an array of one dimension."""
    return cgutils.get_item_pointer(context, builder, kind, context.make_array(kind)(context, builder, array), [index])


@intrinsic
def _add(_typing: Any, array: Any, index: Any, _amount: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.atomic_rmw("add", _element(context, builder, array, *given[:2]), given[2], ORDER)

    return array.dtype(array, index, array.dtype), generate


@intrinsic
def _load(_typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        return builder.load_atomic(_element(context, builder, array, *given), ORDER, size)

    return array.dtype(array, index), generate


@intrinsic
def _replace(_typing: Any, array: Any, index: Any, _expected: Any, _new: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        where = _element(context, builder, array, *given[:2])
        found = builder.cmpxchg(where, given[2], given[3], ORDER, ORDER)
        return builder.extract_value(found, 1)

    return types.boolean(array, index, array.dtype, array.dtype), generate


@intrinsic
def _pause(_typing: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, _given: Any) -> Any:
        if PAUSE:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, PAUSE), [])
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def _nap(_typing: Any, microseconds: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        sleep = cgutils.get_or_insert_function(builder.module, kind, "usleep")  # the C library's
        builder.call(sleep, [builder.trunc(given[0], ir.IntType(32))])
        return context.get_dummy_value()

    return types.none(microseconds), generate


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(borrow)(lambda array: lambda array: _without_owner(array))  # noqa: ARG005, PLW0108
overload(since_volta)(lambda sm: lambda sm: _known(sm))  # noqa: ARG005, PLW0108
overload(lowest_bit)(lambda mask: lambda mask: _count_trailing_zeros(mask))  # noqa: ARG005, PLW0108
overload(count_bits)(lambda mask: lambda mask: _count_set(mask))  # noqa: ARG005, PLW0108
overload(add)(lambda array, index, amount: lambda array, index, amount: _add(array, index, amount))  # noqa: ARG005, PLW0108
overload(load)(lambda array, index: lambda array, index: _load(array, index))  # noqa: ARG005, PLW0108
overload(replace)(
    lambda array, index, expected, new: lambda array, index, expected, new: _replace(array, index, expected, new)  # noqa: ARG005, PLW0108
)
overload(pause)(lambda: lambda: _pause())  # noqa: PLW0108
overload(nap)(lambda microseconds: lambda microseconds: _nap(microseconds))  # noqa: ARG005, PLW0108
