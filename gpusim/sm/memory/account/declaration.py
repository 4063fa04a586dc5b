"""The account of memory: one table of counts by instruction, place and kind, of which all that is shown is a sum."""

from __future__ import annotations

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Declaration, Dimension, Extent, Machine, Role, field
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.row import LOAD_UNITS

# What is counted (docs/units/account.md). Sectors have 32 bytes.
KINDS = (
    "requests",  # warp instructions that access memory
    "wavefronts",  # passes through the L1 or shared memory
    "conflicts",  # of these through shared memory, those beyond what the width needs
    "needed",  # bytes that lanes access, in each line once
    "sectors",  # that the first cache on the way is asked for
    "hits",  # of these, those that it holds, or that are on their way to it
    "l2_requests",  # lines that go to the L2
    "l2_read",  # sectors that the L2 is asked for
    "l2_written",  # sectors that are stored there
    "l2_updated",  # sectors that atomics and reductions change there
    "l2_beyond",  # sectors read that the partition near the SM lacks
    "l2_misses",  # sectors, read or updated, that the L2 lacks
    "dram_read",  # sectors that come from the DRAM
    "dram_written",  # sectors that go there
)
REQUESTS, WAVEFRONTS, CONFLICTS, NEEDED, SECTORS, HITS, L2_REQUESTS = range(7)
L2_READ, L2_WRITTEN, L2_UPDATED, L2_BEYOND, L2_MISSES, DRAM_READ, DRAM_WRITTEN = range(7, len(KINDS))
# The furthest level that an access needed: the first cache, the L2 near the SM, its far side, the DRAM.
LEVELS = "L1", "L2", "far L2", "DRAM"
IN_L1, IN_L2, IN_FAR_L2, IN_DRAM = range(len(LEVELS))
# Where the data lies: elsewhere, in local memory, in shared memory, in each buffer.
ELSEWHERE, LOCAL, SHARED, BUFFERS = range(4)


def _places(extent: Extent) -> int:
    """Places that are told apart: where no cache keeps tags, nobody asks for lines, and the instruction says all."""
    return BUFFERS + extent.buffers if extent.tagged else 1


ACCOUNTED = Dimension(None, lambda x: x.accounted + 1)
DATA = Dimension(None, _places)


def decode(row: Columns, instruction: Instruction, _: Machine, __: Kernel) -> None:
    """Note 1 if an instruction moves data of memory; its number among those of the program replaces it."""
    row["accounted"] = instruction.row.unit in LOAD_UNITS or bool(instruction.row.bulk)


UNIT = Declaration(
    "account",
    fields={
        "row": (field("accounted", "its number in the account of memory, from 1 on; 0: it moves nothing", kind="i4"),),
        "load_store": (
            field("accounted", "that of the instruction that is served", role=Role.FREE),
            field("placed_line", "1 and the line whose place was looked for last", role=Role.FREE),
            field("placed", "its place", role=Role.FREE),
            field("level", "the furthest level that the access needed which is served", role=Role.FREE),
        ),
        "sm": (
            field("account", "counts by instruction, place and kind", ACCOUNTED, DATA, len(KINDS), role=Role.TOTAL),
        ),
    },
    decode=decode,
)
