"""The DRAM, and how long loads wait that surely miss."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor

import numpy as np

from gpusim.bounds.memory.share import buffer_of
from gpusim.bounds.memory.sm_side import near
from gpusim.bounds.memory.touched import MASK, PCS, STORED, Numbers, by_pc, firsts
from gpusim.bounds.memory.use import DEVICE, PAST_L1, Levels, summed
from gpusim.bounds.pressure import Pressure, Resource
from gpusim.sm.memory.dram.dram import least_latency
from isa.dataflow.memory.address_steps import address_steps
from isa.dataflow.memory.pointers import pointed
from isa.memory import SECTOR_BYTES
from isa.row import Unit


def device(levels: Levels) -> Resource:
    """The DRAM: sectors that the L2 lacks, and stored ones that go on; without an L2 all that leaves the L1."""
    numbers, times = levels.numbers, levels.sharing
    if levels.share.machine.l2:
        read, written = _read(levels, int(numbers.line_cost)), _passed_on(levels)
        parts = written * min(int(numbers.written_cost), int(numbers.written_alone_cost))
        cycle = Fraction(1, int(numbers.channel_parts)) * levels.share.of_dram
        copied = any(i.row.bulk for i in levels.kernel.program.instructions)
        behind = min(0, floor(parts.sum() * cycle) - least_latency(numbers)) if read.any() and not copied else 0
        return Resource(DEVICE, Pressure(parts + read, cycle), behind)
    always = levels.always(lambda pc, one: one.total(one.sectors) if levels.kinds[pc] in (*PAST_L1, STORED) else 0)
    parts = int(numbers.line_cost) * (near(levels) * times.denominator + summed(levels, always) * times.numerator)
    return Resource(DEVICE, Pressure(parts, Fraction(1, int(numbers.channel_parts) * times.denominator)))


def _read(levels: Levels, cost: int) -> Numbers:
    """Return by pc the time of the sectors that the SMs must bring from the DRAM: of each buffer their part at most.

    A sector costs so much.
    """
    share, kernel, sectors, size = levels.share, levels.kernel, levels.sectors, len(levels.kinds)
    keys, found = sectors.read[share.missing(sectors.read >> PCS)], levels.nothing
    assert share.machine.l2
    together = share.machine.l2.sector_bytes // SECTOR_BYTES
    keys = firsts(keys, share.machine.l2.sector_bytes)
    pieces = (keys >> PCS) // together
    stored = np.searchsorted(sectors.others // together, [pieces, pieces + 1])
    brought, where = together - (stored[1] - stored[0]), buffer_of(kernel, keys >> PCS)
    for number, buffer in enumerate(kernel.buffers):
        own = (where == number) & (buffer.name not in _clouded(levels))
        moved, most = int(brought[own].sum()), share.part(buffer.nbytes)
        by = np.bincount(keys[own] & MASK, brought[own] * cost, size).astype(np.int64)
        found += by * min(most, moved) // max(1, moved)
    return found


def _clouded(levels: Levels) -> frozenset[str]:
    """Return the buffers that stores and atomics may write of which it is not known where, and so perhaps first."""
    code, every = levels.kernel.program.instructions, frozenset(buffer.name for buffer in levels.kernel.buffers)
    unsure = levels.unsure | set(levels.sectors.elsewhere.tolist())
    writes = [pc for pc in unsure if code[pc].row.is_store or code[pc].row.update is not None]
    some = [pointed(levels.kernel, pc) for pc in writes if code[pc].row.unit is Unit.GLOBAL]
    return frozenset[str]().union(*(names or every for names in some))


def _passed_on(levels: Levels) -> Numbers:
    """Return by pc the sectors that stores send on to the DRAM, as the L2 does not keep them."""
    sectors = levels.sectors
    keys = (
        sectors.stored[levels.share.passed_on(sectors.stored >> PCS)] if levels.share.passes_on else sectors.stored[:0]
    )
    return by_pc(keys[~np.isin(keys >> PCS, sectors.updated)], len(levels.kinds))


def delays(levels: Levels) -> Mapping[int, int]:
    """Return by pc the least cycles from the service of a load to its result, where each is new to the SM's caches.

    It has the latency of the L2, or of the DRAM if the SM brings it, or waits for those that bring it now.
    """
    numbers, own, program = levels.numbers, levels.sectors.own, levels.program
    if any(levels.kernel.program.instructions[pc].row.unit is Unit.GLOBAL for pc in levels.unsure):
        return {}
    shared = np.isin((own >> PCS) // levels.share.piece, levels.sectors.common)
    new = np.setdiff1d(own & MASK, np.append(levels.sectors.again, own[shared] & MASK)).tolist()
    brought = np.isin(own >> PCS, levels.sectors.read >> PCS) & levels.share.missing(own >> PCS)
    alone = levels.share.sharers <= 1
    far = set(address_steps(levels.kernel) if not alone else new) - set((own[~brought] & MASK).tolist())
    hit = {pc: int(numbers.far_latency[program[pc]["far"]] - numbers.slice_spread) for pc in new}
    return {pc: least_latency(numbers) if pc in far else min(hit[pc], least_latency(numbers)) for pc in new}
