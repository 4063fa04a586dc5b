"""An access to memory: what its addresses cost, and what is remembered of that."""

from __future__ import annotations

from gpusim.sm.memory.shared_memory.declaration import atomic_costs
from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import LANES, OPERAND_WORDS
from gpusim.sm.unit.declare import Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import BANK, EACH_LANE_GROUP, REMEMBERED
from isa.executing.beyond import may_leave_buffers
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import RZ_INDEX, Register
from isa.row import Unit as UnitClass

HALF_WORDS = 4  # of an access of 256 bits, whose halves have registers apart


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """Fill in how what is less than a word is loaded, what an atomic tells, and what a generic address costs."""
    form = instruction.row
    row["signed_load"] = form.signed
    if form.words > HALF_WORDS:
        uppers = [o.index for letter, o in instruction.slots() if letter in "ob" and isinstance(o, Register)]
        follow = [o.index + HALF_WORDS for o in instruction.operands[:1] if isinstance(o, Register)]  # scalar registers
        row["upper"] = -1 if RZ_INDEX in uppers else (uppers or follow)[0]
    row["tested"] = sum(1 << "dP".index(letter) for letter in form.tested)
    row["leaves_buffers"] = may_leave_buffers(kernel, form)
    if form.generic and kernel.program.leaves_global:
        row["generic"] = 1
        row["near"] = sum(bit for unit, bit in ((UnitClass.SHARED, 1), (UnitClass.LOCAL, 2)) if unit in form.near)
        row["local_latency"] = machine.local_memory.latency
        row["shared_latency"] = getattr(machine.shared_memory, f"latency_{form.path_width}")
        if form.update and machine.shared_atomic:
            row["shared_latency"], row["near_turns"] = atomic_costs(form, machine.shared_atomic)


UNIT = Declaration(
    "memory_access",
    fields={
        "outcome": (
            field("cycles", "of the load/store unit; of shared memory as many as if no cycle had several passes"),
            field("extra", "cycles on top of the latency"),
            field("written", "passes through shared memory of what a copy writes there"),
            field("read", "cycles that an access takes without what a copy writes"),
            field("transactions", "lines it moves to or from global memory; sectors of a texture fetch"),
            field("requests", "lines that it asks caches for"),
            field("near", "cycles to the results of lanes that are not in global memory; 0 without such lanes"),
            field("ready", "when what a cache that is only read was asked for is there"),
        ),
        "row": (
            field(
                "feed",
                "place among the accesses, comparisons and coordinates whose range is remembered (-1: none)",
                kind="i4",
            ),
            field("tested", "an atomic tells whether it has swapped: 1 by its result, 2 by its predicate", kind="i1"),
            field("leaves_buffers", "1: a load that may read behind a buffer, in its last page", kind="i1"),
            field("generic", "1: each lane's address says in which memory it is", kind="i1"),
            field("near", "of such an access: 1 if shared memory can do it, and 2 if local memory can", kind="i1"),
            field("near_turns", "its turns in shared memory, as in turns", kind="i4"),
            field("shared_latency", "cycles to its result from shared memory", kind="i4"),
            field("local_latency", "and from local memory", kind="i4"),
        ),
        "sm": (
            field("memory_feeds", "memory instructions of the program", role=Role.FIXED),
            field("coordinate_feeds", "those, and comparisons that move with the block", role=Role.FIXED),
            field("feeds", "and two for each texture fetch that does: its column and its row", role=Role.FIXED),
            field(
                "feed",
                "what the addresses of each lane group's memory instructions cost, by feed modulo this",
                EACH_LANE_GROUP,
                REMEMBERED,
                kind="feed",
                role=Role.FREE,
            ),
            field("beyond", "the loads behind buffers", kind="beyond", role=Role.FREE),
            field("scratch", "room for what one access is reckoned with", kind="scratch", role=Role.FREE),
        ),
        "beyond": (
            field("loads", "of threads"),
            field("pc", "the first one's instruction"),
            field("block", "its block"),
            field("warp", "its warp in the block"),
            field("lane", "its lane"),
            field("address", "its byte address"),
        ),
        "feed": (
            field("version", "of the address register behind the remembered outcome (0: none)"),
            field("mask", "lanes it was computed for; above them, which of the instructions that have this place"),
            field("cycles", "the access's, as in outcome", kind="i4"),
            field("transactions", "the access's, as in outcome", kind="i4"),
            field("extra", "of generic addresses, as in outcome", kind="i4"),
            field("near", "of generic addresses, as in outcome", kind="i4"),
            field("low", "lowest byte accessed"),
            field("high", "behind the highest"),
            field("residue", "place of the first active lane's address in a row of banks and lines"),
            field("step", "each active lane's distance from that address", LANES, kind="i4"),
        ),
        "scratch": (
            field("seen", "words seen per bank", BANK, LANES),
            field("depth", "how many", BANK),
            field("line", "lines, or words, seen so far", 4 * LANES),
            field("address", "a 32-bit number of each lane", LANES, kind="u4"),
            field("apart", "that number as it is, where lanes are taken to lie side by side", LANES, kind="u4"),
            field("rank", "the number of each lane's place among those of other lanes", LANES),
            field("flag", "truths of each lane, P in bit 0", LANES, kind="u4"),
            field("left_out", "bytes that each lane's address leaves out of a copy", LANES, kind="u4"),
            field("source", "the byte address from which each lane copies", LANES, kind="u4"),
            field("a", "an operand: words of each lane", OPERAND_WORDS, LANES, kind="u4"),
            field("b", "another", OPERAND_WORDS, LANES, kind="u4"),
            field("c", "another", OPERAND_WORDS, LANES, kind="u4"),
            field("d", "a result", OPERAND_WORDS, LANES, kind="u4"),
            field("p", "the predicates read by each lane", LANES, kind="u4"),
            field("n", "the number that functions get", kind="u8"),
            field("tiles", "matrices that share a and are computed together; 0: one"),
            field("group", "the lane group that is computed"),
            field("active", "mask of the lanes that take part in an exchange"),
            field("lane", "the lane for which an atomic's update is computed"),
        ),
    },
    decode=decode,
)
