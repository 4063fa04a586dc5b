"""How late accesses to global memory are done, for timelines: what they take beyond idle memory.

A load has the latency of the level that served it; a store goes as fast as the load/store unit passes it on.
"""

from __future__ import annotations

from gpusim.simulation.timeline.blockers import Facts
from gpusim.sm.memory.l2_channel.declaration import LOADS
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.unit.opcodes import GLOBAL_MEMORY, LOAD
from gpusim.views.timeline.document import Issued
from isa.memory import SECTOR_BYTES
from isa.program import WORD_BYTES


def late(facts: Facts, one: Issued) -> int:
    """Return the cycles by which an access to global memory is done later than where the level it needed is idle."""
    row, machine = facts.rows[one.pc], facts.machine
    if row.memory_kind != GLOBAL_MEMORY or not memory_access.accesses(row):
        return 0
    requests = one.conflicts + row.words * machine.groups
    if row.action != LOAD and row.distinct == 0:
        return max(0, int(one.done - one.begin - requests * machine.global_request))
    latency = max(row.latency, _behind(facts, one, requests)) if row.action == LOAD else 0
    return max(0, int(one.done - max(one.begin + latency, one.end)))


def _behind(facts: Facts, one: Issued, requests: int) -> int:
    """Return the idle latency of a load of so many requests that the L2 or the DRAM served; 0 of others.

    Where slices of the L2 lie near and far, one that takes as long as the other half of the L2 may have come from
    there. Of the DRAM it is the mean of its places.
    """
    row, machine = facts.rows[one.pc], facts.machine
    if one.level not in ("L2", "far L2"):
        return int(machine.memory_latency) if one.level == "DRAM" else 0
    sectors = -(-one.lanes * row.words * WORD_BYTES // SECTOR_BYTES)
    moved = -(-sectors * machine.port_cost[LOADS] // machine.port_parts)
    each = machine.far_latency[row.far] + moved + (requests - 1) * machine.far_late
    if one.level == "L2":
        return int(each - machine.slice_spread)
    beyond = one.done - one.begin >= each - machine.slice_spread + machine.partition_late
    return int(each + machine.slice_spread + beyond * machine.partition_late)
