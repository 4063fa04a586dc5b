"""Dimensions of the records: how many of each thing a launch has."""

from __future__ import annotations

from gpusim.sm.unit import capacities as room
from gpusim.sm.unit.declare import Dimension, Extent
from gpusim.sm.unit.stall import OWN, REASONS, SHARED

LEVELS = 4  # from which instructions come: a scheduler's own cache, two of the SM, memory


def _lines(extent: Extent) -> int:
    """Lines of the largest instruction cache."""
    levels = extent.machine.levels
    return int((levels["sets"] * levels["ways"]).max())


def _caches(extent: Extent) -> int:
    """Instruction caches of the SM, where instructions may be late."""
    return LEVELS - 1 + int(extent.machine.schedulers) if _lines(extent) else 0


# As many as each launch has.
WARP = Dimension(None, lambda x: x.warps)
EACH_LANE_GROUP = Dimension(None, lambda x: x.warps * int(x.machine.groups))
REGISTER = Dimension(None, lambda x: x.registers)
BLOCK = Dimension(None, lambda x: x.blocks)
INSTRUCTION = Dimension(None, lambda x: x.rows)
RECORD = Dimension(None, lambda x: room.TRACE if x.traces else 0)
EACH_QUEUE = Dimension(None, lambda x: int(x.machine.queues))
PLACE = Dimension(None, lambda x: int(x.machine.queue))
COUNT = Dimension(None, lambda x: room.COUNTED if x.machine.counts else 0)
CACHED_LINE = Dimension(None, _lines)
INSTRUCTION_CACHE = Dimension(None, _caches)
WAITING_PATH = Dimension(None, lambda x: 2 * x.warp_size if x.diverges else 0)
PARTED = Dimension(None, lambda x: 3 * x.warp_size if x.independent else 0)
EFFECT = Dimension(None, lambda x: room.EFFECTS if x.defers or x.grouped or x.signals else 0)
GROUP_KIND = Dimension(None, lambda x: room.GROUP_KINDS if x.grouped else 0)
GROUP = Dimension(None, lambda x: room.GROUPED if x.grouped else 0)
AWAITED_PHASE = Dimension(None, lambda x: room.AWAITED if x.signals else 0)
COPY = Dimension(None, lambda x: room.COPIES if x.bulk else 0)
PIECE = Dimension(None, lambda x: room.PIECES if x.bulk else 0)
PRODUCT = Dimension(None, lambda x: room.PRODUCTS if x.multiplies else 0)
REMEMBERED = Dimension(None, lambda x: min(x.accesses, room.REMEMBERED))
RANGE = Dimension(None, lambda x: min(x.ranges, room.FEED) if x.replays else 0)
EVENT = Dimension(None, lambda x: room.EVENTS if x.replays else 0)
STREAM = Dimension(None, lambda x: room.STREAMS if x.replays else 0)
SCRIPT = Dimension(None, lambda x: room.SCRIPTS if x.replays else 0)
PLACED = Dimension(None, lambda x: room.LOG if x.replays else 0)
END = Dimension(None, lambda x: min(x.grid, room.ENDS))
BUFFER = Dimension(None, lambda x: x.buffers)
TEXTURE = Dimension(None, lambda x: x.textures)
QUESTION = Dimension(None, lambda x: room.QUESTIONS if x.ahead else 0)
LATE_LINE = Dimension(None, lambda x: room.LATE_LINES if x.ahead and x.tagged else 0)
RETURN = Dimension(None, lambda x: room.RETURNS if x.machine.late_asks else 0)
SLICE = Dimension(None, lambda x: int(x.machine.slices))
BANK = Dimension(None, lambda x: int(x.machine.banks))
STORE_SLICE = Dimension(None, lambda x: int(x.machine.store_slices))
HELD_LINE = Dimension(None, lambda x: int(x.machine.store_lines))
# As many as there may be, in each record: few, and each issue looks at them. Apart they would cost it up to 5 %.
AGENT = Dimension(room.SCHEDULERS + 3, lambda x: int(x.machine.schedulers) + 3)
SCHEDULER = Dimension(room.SCHEDULERS, lambda x: int(x.machine.schedulers))
SLOT = Dimension(room.SLOTS, lambda x: -(-x.warps // int(x.machine.schedulers)))
PIPE = Dimension(room.PIPES, lambda x: x.pipes)
RETURNING = Dimension(room.RETURNING, lambda x: room.RETURNING if x.machine.writes_back else 0)
CONSTANT_LINE = Dimension(room.CONSTANT_LINES, lambda x: room.CONSTANT_LINES if x.machine.constants else 0)
LANE_GROUP = Dimension(room.GROUPS, lambda x: int(x.machine.groups))
PREDICATE = Dimension(room.PREDICATES, lambda _: room.PREDICATES)
UNIT_CLASS = Dimension(room.UNITS, lambda _: room.UNITS)
BLOCK_BARRIER = Dimension(room.BARRIERS, lambda _: room.BARRIERS)
LOOP = Dimension(room.DEPTHS, lambda _: room.DEPTHS)
REASON = Dimension(REASONS, lambda _: REASONS)
OWN_REASON = Dimension(OWN, lambda _: OWN)
SHARED_REASON = Dimension(SHARED, lambda _: SHARED)
MEMORY_UNIT = Dimension(room.UNITS_OF_MEMORY, lambda _: room.UNITS_OF_MEMORY)
REGISTER_BANK = Dimension(room.REGISTER_BANKS, lambda x: int(x.machine.register_banks))
COLLECTED = Dimension(room.COLLECTING, lambda x: room.COLLECTING if x.machine.register_banks else 0)
OPERAND = Dimension(room.OPERANDS, lambda _: room.OPERANDS)
KEPT = Dimension(room.REUSE, lambda x: int(x.machine.reuse))
HOLD = Dimension(room.HOLDS, lambda x: room.HOLDS if x.machine.obeys_codes else 0)
COUNTER = Dimension(room.COUNTERS, lambda x: room.COUNTERS if x.machine.counts else 0)
