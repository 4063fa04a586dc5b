"""Energy of a launch."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gpusim.sm.unit.declare import Declaration
from gpusim.sm.unit.ranges import Count, Flag, Positive


class Energy(msgspec.Struct, frozen=True):
    """What moving words and computing cost, in femtojoules (fJ) at one clock; all goes with the voltage's square.

    An instruction's energy is that of a thread, a scalar register's that of a warp; a word is one of a lane.
    """

    mhz: Positive  # MHz of the shader clock at which the others hold
    voltage_slope: Annotated[
        int, msgspec.Meta(ge=0, le=1000)
    ]  # relative change of voltage for that of clock, thousandths
    idle_mw: Count  # milliwatts of the chip without work
    single: Count  # fJ of a floating-point instruction of 32 bits, and whatever goes with it and is not below
    double: Count  # fJ of the same of 64 bits
    register: Count  # fJ of a word read from the register file or written to it
    scalar_register: Count  # fJ of a scalar register read or written
    shared: Count  # fJ of a word read from shared memory or written to it
    l1: Count  # fJ of a word from or to the L1, or from another cache of the SM
    l2: Count  # fJ of a word between the SM and the L2
    dram: Count  # fJ of a word between the L2 and DRAM
    forwarding: (
        Flag  # 1: the next instruction of a warp gets a result without the register file (isa.dataflow.forwarding)
    )


UNIT = Declaration(
    "energy",
)
