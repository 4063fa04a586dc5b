"""A warp's release times compared all at once: compiled code would compare one after the other.

A vector that is read soon after one of its words was written waits for that write. So this is for times that a warp had
before; those just worked out are read one by one (`latest` of stall_accounting.py).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from gpusim.sm.records import Numbers
from gpusim.sm.unit.stall import OWN

AT_ONCE = 4  # numbers of a vector of 256 bits
NUMBER = ir.IntType(64)
TIMES = ir.VectorType(NUMBER, AT_ONCE)


def later(times: Numbers, when: int) -> int:
    """Return the mask of the own reasons that are over later than that cycle."""
    return sum(int(times[reason] > when) << reason for reason in range(OWN))


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
