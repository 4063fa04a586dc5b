"""The chip: all SMs, and what they share."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gpusim.sm.unit.asks import never
from gpusim.sm.unit.capacities import CHANNELS
from gpusim.sm.unit.declare import Condition, Declaration, field
from gpusim.sm.unit.dimensions import STORE_SLICE
from gpusim.sm.unit.ranges import MOST, Positive

# A package holds eight today; more than so many would take the bandwidth beyond the range of its own number.
Stacks = Annotated[int, msgspec.Meta(ge=0, le=64)]


class Chip(msgspec.Struct, frozen=True):
    """What there is of everything, and how fast it runs."""

    sms: Positive  # streaming multiprocessors, or compute units
    shader_mhz: Positive  # MHz of the SM's fastest clock, in which all cycles count
    core_mhz: Positive  # MHz of the core clock; the same where the chip has one clock
    dram_mbs: Positive  # DRAM bandwidth, 10^6 bytes per second
    stacks: Stacks = 0  # HBM stacks of equal channels: others than a file's scale `dram_mbs`; 0: other memory


UNIT = Declaration(
    "chip",
    fields={
        "chip": (
            field("next", "id of the next block to place behind the first wave"),
            field("end", "block ids end here"),
            field("handed_until", "until when the chip hands out the block before"),
            field("handed_parts", "and so many 64ths of a cycle"),
            field("channel", "when the memory channel is free, in parts of a cycle"),
            field("slices_even", "work that all its slices have got, in parts of a cycle"),
            field("ahead", "when each slice has done its own work besides", STORE_SLICE),
            field("shared", "when the L2 is free, for loads, stores and shared answers, in parts of a cycle", 3),
            field("each_channel", "of several, when each is free, in parts of a cycle", CHANNELS),
        ),
    },
    conditions=(Condition("chip.core_mhz", "", never, "all cycles are of the shader clock"),),
    limits={"bandwidth": {"chip.dram_mbs": MOST}},
)
