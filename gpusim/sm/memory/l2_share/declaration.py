"""An SM that stands for others: its part of what they bring to the L2, and which of its blocks run in lockstep."""

from __future__ import annotations

from gpusim.sm.memory.cache.declaration import untagged
from gpusim.sm.unit.capacities import WAVES
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import BUFFER

AXIS_SETS = 8  # sets of axes of the grid along which blocks ask for the same lines
PARTS = 64  # of the blocks of a wave, and of lines
SPREADING, SHIFT = 0x9E3779B1, 20  # 2**32 over the golden ratio: Knuth, The Art of Computer Programming 3, 6.4
UNKNOWN, BEFORE, NOW = range(3)  # when others bring what a load asks for
ITSELF = 3  # the SM brings it

UNIT = Declaration(
    "l2_share",
    fields={
        "row": (
            field("shared_along", "1 and the axes (bits) along which blocks ask for the same; 0: unknown", kind="i1"),
            field("sharers", "blocks of a wave that ask for the same, in the mean; 0: unknown", kind="i4"),
            field("waves_apart", "64ths of waves between blocks that ask for the same, a wave at least", kind="i4"),
            field("differing", "of 64 sectors that SMs of a GPC ask for, how many differ; 0: unknown", kind="i1"),
        ),
        "load_store": (
            field("from_others", "when others bring what is asked for, as above", role=Role.UNCOMPARED),
            field("differing", "that of the row whose access is served", role=Role.UNCOMPARED),
            field("sharers", "that of the row whose access is served, 1 for stores", role=Role.UNCOMPARED),
            field("waves_apart", "that of the row whose load is served", role=Role.UNCOMPARED),
            field("later", "1: the block whose access is served is not of the first wave", role=Role.UNCOMPARED),
            field(
                "stands", "blocks of the grid for which that one stands whose access is served", role=Role.UNCOMPARED
            ),
        ),
        "sm": (
            field(
                "room",
                "1/1024 lines of the L2 taken so far, of those that several SMs ask for a part",
                role=Role.TOTAL,
            ),
            field("room_before", "of these up to the begin of the last wave", role=Role.UNCOMPARED),
            field("room_of_wave", "that a whole wave took", role=Role.UNCOMPARED),
            field("wave", "number of the wave of the block placed last", role=Role.UNCOMPARED),
            field("brought", "sectors of each buffer that the L2 lacked", BUFFER, role=Role.TOTAL),
            field("stored", "1: the launch has stored to the buffer", BUFFER, role=Role.UNCOMPARED),
            field(
                "owed",
                "parts of blocks in lockstep beyond those that were so, by axes",
                AXIS_SETS,
                role=Role.UNCOMPARED,
            ),
        ),
        "block": (
            field("lockstep", "mask of the axes along which it is in lockstep with others", role=Role.UNCOMPARED),
        ),
        "launch": (
            field("side", "number of the half of the L2 near the SM"),
            field("sharers", "SMs with blocks, if not all SMs are simulated and each stands for others"),
            field("spills", "of 64 lines of the buffers, those that the L2 does not keep from launch to launch"),
            field("passes", "of 64 lines of the buffers, those of which what is stored goes on to the DRAM"),
            field("passes_on", "1: local memory of other SMs makes room in the L2"),
            field("keeps", "lines of which the L2 has all when they are asked for again"),
            field("loses", "lines of which it has none then"),
            field("lockstep", "of 64 blocks, those in lockstep, by axes and wave", AXIS_SETS, WAVES),
        ),
    },
    compared=untagged,
)
