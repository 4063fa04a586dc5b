"""What the tensor cores of a chip do at best, by type of the factors: the peak that rates are compared with."""

from __future__ import annotations

import msgspec

from gpusim.sm.unit.declare import Declaration
from gpusim.sm.unit.ranges import Count

STEP_BYTES, STEP_ROWS, STEP_COLUMNS = 32, 16, 8  # of K, and of C: the step of mma.sync's m16n8 shapes


class TensorPeak(msgspec.Struct, frozen=True):
    """Cycles in which the tensor core of a sub-partition takes 16 by 8 numbers by 32 bytes of K; 0 where it doesn't.

    That is one m16n8k16 of halves, or as much in other shapes. No rule of time reads this: instructions have intervals.
    """

    f16: Count  # cycles of halves that are summed in single precision
    f16_half: Count  # cycles of halves that are summed as halves
    bf16: Count  # cycles of bfloat16
    tf32: Count  # cycles of tf32
    s8: Count  # cycles of integers of 8 bits
    fp8: Count  # cycles of floats of 8 bits
    f64: Count  # cycles of double precision
    group: Count  # cycles of each type but f64 by wgmma


UNIT = Declaration(
    "tensor_peak",
)
