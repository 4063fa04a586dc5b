"""How many of the lines for which neighbours ask together differ: the L2 is asked once for a line that several want.

Neighbours are the SMs of a graphics processing cluster (GPC), each with its block of the first wave. Where an address
moves evenly from block to block, that step tells which of these blocks ask for the same. For other loads, and for
copies of the copy engine, the blocks are run in program order, for a while. Together are requests of the same turn: of
a load those of a warp that has executed it as often before, of copies so many in a row as may be under way, twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Rows, lanes_of, run_block, walker
from gpusim.launch.caches.lockstep import waves
from gpusim.launch.launch import Launch
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.machine.simulated_sms import neighbours
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.memory.l2_channel.declaration import merges
from gpusim.sm.memory.l2_share.declaration import PARTS
from gpusim.sm.unit.capacities import WARPS
from gpusim.sm.walk.access_log import FIRST, PC, WARP
from gpusim.sm.walk.marks import ASKED, MARK, SOURCE, UNDER_WAY
from isa.dataflow.memory.address_steps import linear_steps
from isa.dataflow.moving import Step
from isa.errors import UserError
from isa.executing import clusters
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.nvidia.abi.on_chip import on_chip
from isa.row import Bulk, Unit
from isa.support.once import once

LONG = 1000  # instructions of a warp up to which a block is run, in the mean of its warps
COPIES = (Bulk.LOAD, Bulk.PREFETCH)
PRODUCTS = (Unit.TENSOR, Unit.WARPGROUP)  # which nobody is taken to need for an address
PCS, PLACES = (1 << MARK) - 1, 32  # bits of a pc; of a sector's number

Blocks = tuple[int, ...]
Asked = defaultdict[int, list[NDArray[np.int64]]]  # by pc, a number for each request of each block


def prepare(kernel: Kernel, machine: Machine, launches: Sequence[Launch]) -> None:
    """Store of each load how many of the lines that neighbours ask for differ, if the L2 merges requests for one.

    Where several SMs are simulated, the GPC of the first one stands for all.
    """
    for pc, parts in differing_of(kernel, machine, int(launches[0].sm.launch.index)).items():
        for one in launches:
            one.sm.program[pc].differing = parts


def merged(kernel: Kernel, machine: Machine, sm: int) -> bool:
    """Tell whether the L2 merges requests of that SM, the first of those simulated, and of its neighbours."""
    return any(parts < PARTS for parts in differing_of(kernel, machine, sm).values())


def differing_of(kernel: Kernel, machine: Machine, sm: int) -> Mapping[int, int]:
    """Return the same by pc, 64 at most, for that SM and its neighbours; none where the L2 merges nothing."""
    near = neighbours(kernel, machine, sm)
    return differing(_on_chip(kernel, machine.chip.sms), near) if merges(machine) and len(near) > 1 else {}


def asked(kernel: Kernel, machine: Machine, sm: int) -> Mapping[int, float]:
    """Return, by pc, what part of the sectors that SMs get the L2 is asked for; all of those that are not named.

    That SM's GPC stands for all. One request brings a sector to `l2_channel.merged` SMs at most, if they ask for it at
    the same time: where their blocks run in lockstep, and the fewer blocks each has, whose turns differ.
    """
    whole, near = machine.l2_channel, neighbours(kernel, machine, sm)
    if whole is None or not merges(machine) or len(near) < 2:
        return {}
    resident = min(occupancy(kernel, machine).blocks, -(-kernel.blocks // machine.chip.sms))
    together = whole.merged_blocks / (whole.merged_blocks + resident - 1) if resident > 1 else 1
    steps, found = linear_steps(kernel), dict[int, float]()
    for pc, sets in requested(_on_chip(kernel, machine.chip.sms), near).items():
        many = askers(sets)
        saved = 1 - (-(-many // whole.merged)).sum() / many.sum() if whole.merged else 0
        found[pc] = 1 - saved * together * _in_lockstep(kernel, machine, resident, steps.get(pc))
    return found


def _in_lockstep(kernel: Kernel, machine: Machine, resident: int, step: Step | None) -> float:
    """Return what part of the blocks runs in lockstep with those that ask for the same lines; 0 where it is unknown."""
    if step is None:
        return 0
    along = sum(1 << axis for axis, each in enumerate(step) if each == 0)
    first = [each / PARTS for each in waves(kernel.grid, machine.chip.sms, resident, along)]
    count = -(-kernel.blocks // (machine.chip.sms * resident))
    return float(np.mean([first[min(wave, len(first) - 1)] for wave in range(count)]))


@once
def _on_chip(kernel: Kernel, sms: int) -> Kernel:
    return on_chip(kernel, sms) if kernel.cluster_blocks == 1 else kernel


@once
def differing(kernel: Kernel, blocks: Blocks) -> Mapping[int, int]:
    """Return, by pc of a load or a copy, how many of 64 sectors for which these blocks ask are different ones."""
    return {pc: _share(askers(sets)) for pc, sets in requested(kernel, blocks).items()}


@once
def requested(kernel: Kernel, blocks: Blocks) -> Mapping[int, Sequence[NDArray[np.int64]]]:
    """Return, by pc of a load or a copy, for each of these blocks a number for each sector that it asks for."""
    code = kernel.program.instructions
    loads = [pc for pc, i in enumerate(code) if i.row.unit is Unit.GLOBAL and i.row.is_load and not i.row.update]
    steps = {pc: step for pc, step in linear_steps(kernel).items() if pc in loads}
    found = {pc: [_moved(kernel, block, step) for block in blocks] for pc, step in steps.items()}
    others = {pc for pc in loads if pc not in steps} | {pc for pc, i in enumerate(code) if i.row.bulk in COPIES}
    seen = _asked_for(kernel, blocks, others) if others else {}
    return found | {pc: sets for pc, sets in seen.items() if any(map(len, sets))}


def askers(sets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return of each member of sets how many have it."""
    return np.unique(np.concatenate(sets), return_counts=True)[1]


def _share(many: NDArray[np.int64]) -> int:
    """Return how many of 64 requests are for different sectors, at least one; so `many` are for each."""
    return max(1, round(PARTS * len(many) / int(many.sum())))


def _moved(kernel: Kernel, block: int, step: Step) -> NDArray[np.int64]:
    """Return by how many sectors a block's place moves an address."""
    x, y, _ = kernel.grid
    place = (block % x, block // x % y, block // (x * y))
    moved = sum(at * each for at, each in zip(place, step, strict=True))
    return np.array([moved % (1 << 32) // SECTOR_BYTES])


def _asked_for(kernel: Kernel, blocks: Blocks, pcs: Collection[int]) -> Asked:
    """Run the blocks one by one up to some instructions; return what each asks for with those at these pcs."""
    code = kernel.program.instructions
    found: Asked = defaultdict(list)
    wanted = np.array([ASKED if pc in pcs and i.row.bulk else 0 for pc, i in enumerate(code)], np.int64)
    with suppress(UserError):
        one = walker(kernel, addresses=True, again=False)
        for held in one.each:
            held.program.evaluate[[pc for pc, i in enumerate(code) if i.row.unit in PRODUCTS]] = 0
        fresh, limit = np.array(one.sms), LONG * kernel.warps + len(code)
        for block in (clusters.block_of(kernel, cluster, 0) for cluster in clusters.of_blocks(kernel, blocks)):
            kept: list[Rows] = []
            np.asarray(one.sms)[:] = fresh
            with suppress(UserError):  # it is longer, or waits for what others do
                run_block(one, block, limit, partial(_keep, pcs, kept), wanted)
            rows = np.concatenate(kept)
            turns = _turns(rows)
            for number in np.unique(rows[:, PC]).tolist():
                some = rows[:, PC] == number
                found[number & PCS].append(_requests(kernel, rows[some], turns[some]))
    return found


def _keep(pcs: Collection[int], kept: list[Rows], rows: Rows) -> None:
    """Keep the rows of those instructions, of a copy the marked ones."""
    kept.append(rows[np.isin(rows[:, PC] & PCS, list(pcs))].copy())


def _turns(rows: Rows) -> NDArray[np.int64]:
    """Return a number for each row, which requests have that are made together.

    That is a load's warp, and how often it has executed the instruction; of a copy, how many copies there were before
    it over twice those that are under way at once: neighbours may be ahead by as many.
    """
    copies = rows[:, PC] >> MARK == ASKED
    turns = np.zeros(len(rows), np.int64)
    if copies.any():
        turns[copies] = np.arange(copies.sum()) // max(1, 2 * int(np.median(rows[copies, FIRST + UNDER_WAY])))
    who = rows[:, PC].astype(np.int64) * WARPS + rows[:, WARP]
    order = np.flatnonzero(~copies)[np.argsort(who[~copies], kind="stable")]
    times = np.arange(len(order)) - np.searchsorted(who[order], who[order])
    turns[order] = times * WARPS + rows[order, WARP]
    return turns


def _requests(kernel: Kernel, rows: Rows, turns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each sector or box that an instruction of a block asks for in each of its turns."""
    number = int(rows[0, PC])
    if number >> MARK:
        boxes = np.column_stack([turns, rows[:, FIRST + SOURCE : FIRST + SOURCE + 1 + DIMENSIONS]])
        return np.array([int.from_bytes(blake2b(one, digest_size=7).digest()) for one in boxes], np.int64)
    row, places = kernel.program.instructions[number].row, rows[:, FIRST:]
    active = lanes_of(rows) & lanes_in(Unit.GLOBAL, places) if row.generic else lanes_of(rows)
    first, turn = places[active].astype(np.int64), np.repeat(turns, active.sum(axis=1)) << PLACES
    return np.unique([first // SECTOR_BYTES | turn, (first + row.nbytes - 1) // SECTOR_BYTES | turn])
