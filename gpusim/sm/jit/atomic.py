"""Operations on elements of arrays that threads share: each is done as a whole, and in one order for all threads.

Called from Python they are plain ones.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from gpusim.sm.records import Numbers, Word

ORDER = "seq_cst"


def add(array: Numbers, index: int, amount: int) -> int:
    """Add to an element; return what it was before."""
    before = int(array[index])
    array[index] = before + amount
    return before


def load(array: Numbers, index: int) -> int:
    """Return an element."""
    return int(array[index])


def replace(array: Numbers, index: int, expected: Word, new: Word) -> bool:
    """Set an element to `new` if it is `expected`; tell whether it was."""
    same = bool(array[index] == expected)
    if same:
        array[index] = new
    return same


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


overload(add)(lambda array, index, amount: lambda array, index, amount: _add(array, index, amount))  # noqa: ARG005, PLW0108
overload(load)(lambda array, index: lambda array, index: _load(array, index))  # noqa: ARG005, PLW0108
overload(replace)(
    lambda array, index, expected, new: lambda array, index, expected, new: _replace(array, index, expected, new)  # noqa: ARG005, PLW0108
)
