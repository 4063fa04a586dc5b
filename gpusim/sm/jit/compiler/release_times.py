"""Compiled comparisons of release times: `gpusim.sm.jit.release_times` as vectors."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from gpusim.sm.jit.release_times import later
from gpusim.sm.unit.stall import OWN

AT_ONCE = 4  # numbers of a vector of 256 bits
NUMBER = ir.IntType(64)
TIMES = ir.VectorType(NUMBER, AT_ONCE)


@intrinsic
def _later(_typing: Any, times: Any, _when: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        view = context.make_array(times)(context, builder, given[0])
        first = builder.bitcast(view.data, TIMES.as_pointer())
        limit, mask = ir.Constant(TIMES, ir.Undefined), NUMBER(0)
        for each in range(AT_ONCE):
            limit = builder.insert_element(limit, given[1], ir.IntType(32)(each))
        for part in range(OWN // AT_ONCE):
            found = builder.load(builder.gep(first, [NUMBER(part)]), align=8)
            over = builder.bitcast(builder.icmp_signed(">", found, limit), ir.IntType(AT_ONCE))
            mask = builder.or_(mask, builder.shl(builder.zext(over, NUMBER), NUMBER(part * AT_ONCE)))
        return mask

    return (types.int64(times, types.int64), generate) if times.layout == "C" else None


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(later)(lambda times, when: lambda times, when: _later(times, when))  # noqa: ARG005, PLW0108
