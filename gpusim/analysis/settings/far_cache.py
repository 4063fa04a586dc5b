"""Whether the L2 has room for all that a launch can touch: then neither its size nor its ways matter."""

from __future__ import annotations

import numpy as np

from gpusim.analysis.settings.given import Given
from gpusim.sm.memory.cache.declaration import FAR, tagged
from isa.memory import bases, page_ends
from isa.row import Unit

ELSEWHERE = Unit.LOCAL, Unit.CONSTANT, Unit.SMEM  # these access more than buffers, and the L2 serves them


def holds_all(given: Given) -> bool:
    """Tell whether no line of the L2 ever makes room: each set has ways for all its lines of the buffers' pages.

    What local memory and constants take is not known, so a launch with accesses to these may need more.
    """
    machine, kernel = given.machine, given.kernel
    if not (machine.l2 and tagged(machine) and given.cached) or given.units.intersection(ELSEWHERE):
        return False
    if kernel.program.local_bytes:
        return False
    line, ends = machine.global_memory.line_bytes, page_ends(kernel.buffers, kernel.page_bytes)
    spans = [(begin // line, -(-ends[name] // line)) for name, begin in bases(kernel.buffers).items()]
    if sum(end - begin for begin, end in spans) * line > machine.l2.bytes:
        return False
    lines = np.concatenate([np.arange(*span) for span in spans] or [np.zeros(0, np.int64)])
    taken = np.bincount(np.unique(lines) % given.levels["sets"][FAR], minlength=1)
    return bool(taken.max() <= given.levels["ways"][FAR])
