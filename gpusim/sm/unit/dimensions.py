"""Dimensions of the records: how many of each thing there is room for, and how many a launch has."""

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
    machine = extent.machine
    return LEVELS - 1 + int(machine.schedulers) if machine.fetches else 0


AGENT = Dimension(room.AGENTS, lambda x: int(x.machine.schedulers) + 2)
WARP = Dimension(None, lambda x: x.warps)
LANE_GROUP = Dimension(room.GROUPS, lambda x: int(x.machine.groups))
REGISTER = Dimension(room.REGISTERS, lambda x: x.registers)
PREDICATE = Dimension(room.PREDICATES, lambda _: room.PREDICATES)
SCHEDULER = Dimension(room.SCHEDULERS, lambda x: int(x.machine.schedulers))
SLOT = Dimension(room.SLOTS, lambda _: room.SLOTS)
UNIT_CLASS = Dimension(room.UNITS, lambda _: room.UNITS)
PIPE = Dimension(room.PIPES, lambda _: room.PIPES)
BLOCK = Dimension(room.BLOCKS, lambda x: x.blocks)
BLOCK_BARRIER = Dimension(room.BARRIERS, lambda _: room.BARRIERS)
INSTRUCTION = Dimension(None, lambda x: x.rows)
RECORD = Dimension(None, lambda x: x.records)
LOOP = Dimension(room.DEPTHS, lambda _: room.DEPTHS)
REASON = Dimension(REASONS, lambda _: REASONS)
OWN_REASON = Dimension(OWN, lambda _: OWN)
SHARED_REASON = Dimension(SHARED, lambda _: SHARED)
EACH_QUEUE = Dimension(room.QUEUES, lambda x: int(x.machine.queues))
PLACE = Dimension(room.QUEUE, lambda x: int(x.machine.queue))
MEMORY_UNIT = Dimension(room.UNITS_OF_MEMORY, lambda _: room.UNITS_OF_MEMORY)
REGISTER_BANK = Dimension(room.REGISTER_BANKS, lambda x: int(x.machine.register_banks))
COLLECTED = Dimension(room.COLLECTING, lambda x: room.COLLECTING if x.machine.register_banks else 0)
RETURNING = Dimension(room.RETURNING, lambda x: room.RETURNING if x.machine.writes_back else 0)
OPERAND = Dimension(room.OPERANDS, lambda _: room.OPERANDS)
KEPT = Dimension(room.REUSE, lambda x: int(x.machine.reuse))
HOLD = Dimension(room.HOLDS, lambda x: room.HOLDS if x.machine.obeys_codes else 0)
COUNTER = Dimension(room.COUNTERS, lambda x: room.COUNTERS if x.machine.counts else 0)
COUNT = Dimension(room.COUNTED, lambda _: room.COUNTED)
CONSTANT_LINE = Dimension(room.CONSTANT_LINES, lambda x: room.CONSTANT_LINES if x.machine.constants else 0)
CACHED_LINE = Dimension(room.CACHED, _lines)
INSTRUCTION_CACHE = Dimension(LEVELS - 1 + room.SCHEDULERS, _caches)
