"""What a launch moved at each level of memory: sums over the counts of its run, by instruction, buffer and level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gpusim.engines import line_share
from gpusim.engines.sm_run import SmRun
from gpusim.engines.walks import launch_lines
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.machine.simulated_sms import simulated_blocks
from gpusim.sm.memory.account.declaration import (
    BUFFERS,
    DRAM_READ,
    ELSEWHERE,
    HITS,
    KINDS,
    L2_MISSES,
    L2_READ,
    L2_REQUESTS,
    L2_UPDATED,
    LOCAL,
    NEEDED,
    REQUESTS,
    SECTORS,
    SHARED,
    WAVEFRONTS,
)
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.l2_share.declaration import PARTS
from gpusim.support.document import doc
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.row import Row, Unit
from isa.support import frozen

PLACES = "elsewhere", "local memory", "shared memory"  # then the buffers by name
CACHED = "constant cache"  # the last place: what constants and scalars ask of caches that are no part of the L1
READ_ONLY = frozenset({Unit.CONSTANT, Unit.SMEM})
Counts = NDArray[np.float64]  # [pc, place, kind]
FIRST = [REQUESTS, WAVEFRONTS, NEEDED, SECTORS, HITS]  # kinds of the first cache


@dataclass(frozen=True)
class Moved:
    """What some accesses moved, of the whole launch. Sectors have 32 bytes; rates are from 0 to 1, None of nothing."""

    requests: Annotated[float, doc("Warp instructions that access memory.")]
    wavefronts: Annotated[float, doc("Passes through the L1's data, or shared memory.")]
    conflicts: Annotated[float, doc("Passes through shared memory beyond those that widths need.")]
    needed: Annotated[float, doc("Bytes that lanes access: those of a line that several lanes access count once.")]
    sectors: Annotated[float, doc("Sectors that the first cache on their way is asked for.")]
    hits: Annotated[float, doc("Of these, those that it holds, or that are on their way to it.")]
    l2_requests: Annotated[float, doc("Lines that go to the L2.")]
    l2_read: Annotated[float, doc("Sectors that it is asked for.")]
    l2_written: Annotated[float, doc("Sectors that are stored there.")]
    l2_updated: Annotated[float, doc("Sectors that atomics and reductions change there.")]
    l2_beyond: Annotated[float, doc("Sectors read that the partition of the L2 near the SM lacks.")]
    l2_misses: Annotated[float, doc("Sectors, read or updated, that the L2 lacks.")]
    dram_read: Annotated[float, doc("Sectors that come from the DRAM.")]
    dram_written: Annotated[float, doc("Sectors that go there.")]

    @property
    def bytes(self) -> float:
        """Bytes of the sectors that the first cache is asked for."""
        return SECTOR_BYTES * self.sectors

    @property
    def wasted(self) -> float:
        """Bytes of these that no lane needs."""
        return max(0.0, self.bytes - self.needed) if self.sectors else 0.0

    @property
    def hit_rate(self) -> float | None:
        """Part of the sectors that the first cache holds."""
        return self.hits / self.sectors if self.sectors else None

    @property
    def l2_sectors(self) -> float:
        """Sectors that go to the L2, or come from there."""
        return self.l2_read + self.l2_written + self.l2_updated

    @property
    def l2_hits(self) -> float:
        """Of these, those that the L2 holds; what is stored always hits."""
        return max(0.0, self.l2_sectors - self.l2_misses)

    @property
    def l2_hit_rate(self) -> float | None:
        """Part of the sectors that the L2 holds."""
        return self.l2_hits / self.l2_sectors if self.l2_sectors else None

    @property
    def dram(self) -> float:
        """Sectors that the DRAM moves."""
        return self.dram_read + self.dram_written


assert tuple(one.name for one in fields(Moved)) == KINDS


@frozen.comparable
@dataclass(frozen=True)
class MemoryAccount:
    """The counts of a run: [pc, place, kind], of the simulated SMs; `times` as much is the whole launch.

    Without tags nobody knows the buffers: all global memory is elsewhere.
    """

    kernel: Kernel
    tagged: bool
    counts: Counts
    times: float

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the places."""
        return (*PLACES, *(buffer.name for buffer in self.kernel.buffers if self.tagged), CACHED)

    @property
    def far(self) -> list[int]:
        """The places behind the L1: all but shared memory and caches of constants."""
        return [place for place in range(len(self.places) - 1) if place != SHARED]

    @property
    def pcs(self) -> list[int]:
        """The instructions that moved something."""
        return np.flatnonzero(self.counts.any(axis=(1, 2))).tolist()

    def of(self, pcs: Iterable[int] | None = None, places: Iterable[int] | None = None) -> Moved:
        """Return what instructions moved of places, all without these; of the whole launch."""
        rows = self.counts if pcs is None else self.counts[list(pcs)]
        some = rows if places is None else rows[:, list(places)]
        return Moved(*(self.times * some.sum(axis=(0, 1))).tolist())

    @property
    def whole(self) -> Moved:
        """What all instructions moved beyond shared memory and caches of constants: in L1, L2 and DRAM."""
        return self.of(places=self.far)


def of_run(kernel: Kernel, machine: Machine, run: SmRun) -> MemoryAccount:
    """Return the account of a run."""
    rows = [one.row for one in kernel.program.instructions]
    found = run.account[run.accounted[: len(rows)]]
    places = BUFFERS + len(kernel.buffers) if tagged(machine) else BUFFERS
    counts = np.zeros((len(rows), places + 1, len(KINDS)))
    if tagged(machine):
        counts[:, :-1] = found
    else:
        counts[np.arange(len(rows)), [_place(row) for row in rows]] = found[:, 0]
    for pc, part in line_share.asked(kernel, machine, run.first_sm).items():
        _ask_once(counts[pc], part)
    for pc in (pc for pc, row in enumerate(rows) if row.unit in READ_ONLY):
        counts[pc, -1, FIRST] = counts[pc][:, FIRST].sum(axis=0)
        counts[pc, :-1, FIRST] = 0
    times = kernel.blocks / max(1, run.blocks)
    sharers = min(machine.chip.sms, kernel.blocks)
    if tagged(machine) and run.sms < sharers and _is_cold(kernel, machine):
        every = len(simulated_blocks(kernel, machine, run.sms, run.first_sm))
        shares = [run.sms * (one.nbytes // sharers) // SECTOR_BYTES * run.blocks // every for one in kernel.buffers]
        _bring_all(counts, kernel, shares, times)
    return MemoryAccount(kernel, tagged(machine), counts, times)


def _ask_once(counts: Counts, part: float) -> None:
    """Leave the part of a load's requests that the L2 gets, as SMs of a GPC want the same at the same time.

    It gets those at least whose sectors it misses.
    """
    read = counts[:, L2_READ].copy()
    counts[:, L2_READ] = np.maximum(np.rint(part * read), counts[:, L2_MISSES])
    counts[:, L2_REQUESTS] = np.rint(counts[:, L2_REQUESTS] * counts[:, L2_READ] / np.maximum(1, read))


def _is_cold(kernel: Kernel, machine: Machine) -> bool:
    """Tell whether the launch finds nothing of its buffers in the L2."""
    if not (machine.l2 and machine.l2.filled):
        return True
    return launch_lines.lost(kernel, machine, occupancy(kernel, machine).blocks)[0] == PARTS


def _bring_all(counts: Counts, kernel: Kernel, shares: Sequence[int], times: float) -> None:
    """Count as missed, too, what the launch must bring of buffers of which the SMs have brought their shares.

    The rule of one SM that stands for all (docs/units/l2-share.md) lets an SM with more blocks than others bring no
    more than its share: what it asks for beyond is there, as others bring it. But all of them bring the whole buffer.
    """
    for number, (buffer, share) in enumerate(zip(kernel.buffers, shares, strict=True)):
        own, whole = counts[:, BUFFERS + number], buffer.nbytes / SECTOR_BYTES
        found = own[:, DRAM_READ].sum()
        hits = np.maximum(0, own[:, L2_READ] + own[:, L2_UPDATED] - own[:, L2_MISSES])
        if share <= found < whole / times and hits.sum():
            more = min(1.0, (whole / times - found) / hits.sum()) * hits
            own[:, L2_MISSES] += more
            own[:, DRAM_READ] += more


def _place(row: Row) -> int:
    """Return where an instruction's data lies, by its unit."""
    return {Unit.SHARED: SHARED, Unit.LOCAL: LOCAL}.get(row.unit, ELSEWHERE)
