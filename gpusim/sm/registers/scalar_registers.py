"""Scalar registers (GCN): 32 bits that all lanes of a warp have in common."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gpusim.sm.unit.asks import never
from gpusim.sm.unit.declare import Condition, Declaration
from gpusim.sm.unit.ranges import Positive


class ScalarFile(msgspec.Struct, frozen=True):
    """GCN's scalar registers, which the lanes of a warp have in common; without this section there are none."""

    registers: Positive  # 32-bit scalar registers of each scheduler
    unit: Positive  # a warp's are allocated in multiples of this
    per_warp: Annotated[int, msgspec.Meta(ge=1, le=102)]  # registers that a warp may use, beside VCC


UNIT = Declaration(
    "scalar_registers",
    conditions=(
        Condition(
            "scalar_file.*",
            "",
            never,
            "an SM holds {blocks} of {kernel}, limited by {limiter}, either way",
        ),
    ),
)
