"""How late accesses to global memory are done, for timelines: what they take beyond idle memory.

A load has the latency of the level that served it; a store goes as fast as the load/store unit passes it on.
"""

from __future__ import annotations

from gpusim.simulation.timeline.blockers import Facts
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.unit.opcodes import GLOBAL_MEMORY, LOAD
from gpusim.views.timeline.document import Issued


def late(facts: Facts, one: Issued) -> int:
    """Return the cycles by which an access to global memory is done later than where the level it needed is idle."""
    row, machine = facts.rows[one.pc], facts.machine
    if row.memory_kind != GLOBAL_MEMORY or not memory_access.accesses(row):
        return 0
    if row.action != LOAD and row.distinct == 0:
        passes = (one.conflicts + row.words * machine.groups) * machine.global_request
        return max(0, int(one.done - one.begin - passes))
    far = machine.far_latency[row.far]
    behind = {"L2": far, "far L2": far + machine.partition_late, "DRAM": machine.memory_latency}
    latency = max(row.latency, behind.get(one.level, 0)) if row.action == LOAD else 0
    return max(0, int(one.done - max(one.begin + latency, one.end)))
