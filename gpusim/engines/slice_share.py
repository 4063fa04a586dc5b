"""What other SMs' blocks do in the L2 slices where an SM's own atomics, and stores, are, as multiples of its own work.

Where all blocks do the atomic, and its address moves evenly from block to block, that step gives the multiple
(lockstep.py). For other atomics some blocks are run in program order, for a while: one or more of the SM's own, and
blocks for which each of these stands. An atomic that this walk does not meet counts as done by all blocks, at places as
far apart as the steps say, else in any slice. Of stores those are looked at that all blocks send to the same places;
one that the walk does not meet takes no slice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from gpusim.launch.launch import Launch
from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.l2_atomic.declaration import ALONE, SLICE_SHIFT, TURNS
from gpusim.sm.memory.l2_share.declaration import SPREADING
from gpusim.sm.records import Sm
from isa.dataflow.memory.address_steps import address_steps, linear_steps
from isa.dataflow.memory.shared_places import shared_places
from isa.errors import UserError
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.nvidia.abi.on_chip import on_chip
from isa.row import Unit
from isa.support.once import once

OWN = 2  # blocks of the SM whose wave is looked at, at most
LONG = 10_000  # instructions of a warp up to which a block is run, in the mean of its warps
STEPS, LEAST = 24_000, 3  # of all other blocks that are run for one of its own, in the same way; these blocks, at least
WORD = 32  # bits of an address
UNSEEN = 0.0  # the share of an atomic, or a store, that the walk did not come to

Work = NDArray[np.float64]  # passes of sectors, by slice


@dataclass(frozen=True)
class Place:
    """An SM of those simulated, the SMs for which it stands and those of the chip, and the slices, with their bytes."""

    index: int
    apart: int
    sms: int
    slices: int
    slice_bytes: int

    def wave(self, block: int, blocks: int) -> range:
        """Return the blocks for which one of the SM's stands, itself included."""
        begin = block - block % self.apart
        return range(begin, min(begin + self.apart, blocks))


@dataclass(frozen=True, eq=False)
class _Seen:
    """What each block that was run did: by pc, in each slice."""

    place: Place
    kernel: Kernel
    begun: list[int] = field(default_factory=list)
    work: dict[int, dict[int, Work]] = field(default_factory=lambda: defaultdict(dict))

    def of(self, pc: int, block: int) -> Work:
        return self.work[pc].get(block, np.zeros(self.place.slices))


def prepare(kernel: Kernel, machine: Machine, launches: Sequence[Launch]) -> None:
    """Store the work of a slice for each pass of the SM's own, of each atomic that the steps do not cover.

    Also of each store; of SMs that stand for no others that is the SM's own. Without any no slice is looked at.
    """
    waiting = [one.sm for one in launches if one.sm.machine.slices]
    there = on_chip(kernel, machine.chip.sms) if waiting else kernel
    stores = shared_places(kernel) if waiting else frozenset()
    for sm in waiting:
        found = slice_shares(there, _place(sm, machine)) if stores or sm.launch.sharers > 1 else {}
        for pc, share in found.items():
            if sm.launch.sharers > 1 or pc in stores:
                sm.program[pc].slice_share = share if sm.launch.sharers > 1 else ALONE
        sm.machine.slices *= bool(sm.program["packets"].any() or not stores.isdisjoint(found))


def slice_shares(kernel: Kernel, place: Place) -> Mapping[int, int]:
    """Return, by pc, the 64ths of the SM's own work that a slice does of an atomic that the steps do not cover.

    Also of each store to a place that blocks share.
    """
    told, stores = linear_steps(kernel), shared_places(kernel)
    walked = shares(kernel, place)
    found = {pc: share for pc, share in walked.items() if share > UNSEEN or pc not in {*told, *stores}}
    found |= {pc: float(place.apart) for pc in stores & address_steps(kernel).keys()}
    return {pc: max(ALONE, round((share or place.apart / place.slices) * ALONE)) for pc, share in found.items()}


def _place(sm: Sm, machine: Machine) -> Place:
    """Return the place of an SM; of those that are all simulated, as if the first one stood for all."""
    size, alone = int(sm.machine.slice_lines * sm.machine.line_bytes), sm.launch.sharers <= 1
    index, apart = (0, machine.chip.sms) if alone else (int(sm.launch.index), int(sm.launch.apart))
    return Place(index, apart, machine.chip.sms if alone else int(sm.launch.sms), int(sm.machine.slices), size)


def unseen(kernel: Kernel, machine: Machine, index: int) -> list[int]:
    """Return the pcs of atomics of which nothing is known, where the SM of that number stands for all."""
    rules, sms = machine.l2_atomic, machine.chip.sms
    if not (rules and machine.l2 and tagged(machine) and (machine.l2_channel or machine.architecture)):
        return []
    found = shares(on_chip(kernel, sms), Place(index, sms, sms, rules.slices, rules.bytes))
    return [pc for pc, share in found.items() if share == UNSEEN and pc not in shared_places(kernel)]


def untold(kernel: Kernel) -> list[int]:
    """Return the pcs of atomics to global memory for which the steps give neither who else does them nor where.

    Also of stores to places that blocks share.
    """
    told, code = address_steps(kernel), kernel.program.instructions
    atomics = {pc for pc, i in enumerate(code) if i.row.update and i.row.unit is Unit.GLOBAL}
    return sorted((atomics | shared_places(kernel)) - told.keys())


def shares(kernel: Kernel, place: Place) -> Mapping[int, float]:
    """Return, by pc, the work of all SMs for which one stands, as multiples of its own, of each that is untold."""
    if not untold(kernel) or min(place.apart, kernel.blocks) == 1:
        return {}
    return _shares(kernel, place)


@once
def _shares(kernel: Kernel, place: Place) -> Mapping[int, float]:
    seen, waves = _Seen(place, kernel), {}
    own = range(place.index, kernel.blocks, place.sms)[:: -(-kernel.blocks // place.sms // OWN)]
    for block in own:
        taken = max(1, _run(seen, [block], LONG * kernel.warps))
        others = [other for other in place.wave(block, kernel.blocks) if other != block]
        few = sorted(others, key=_scattered)[: max(LEAST, STEPS * kernel.warps // len(own) // taken)]
        _run(seen, few, LONG * kernel.warps)
        waves[block] = [other for other in few if other in seen.begun]
    return {pc: _share(seen, pc, waves) for pc in untold(kernel)}


def _scattered(block: int) -> int:
    """Return a number that puts blocks in an order that no address has."""
    return block * SPREADING % (1 << WORD)


def _run(seen: _Seen, blocks: Sequence[int], limit: int) -> int:
    """Run blocks, up to so many warp instructions of one or a fault; return how many they have."""
    code, wanted = seen.kernel.program.instructions, frozenset(untold(seen.kernel))

    def observe(pc: int, _warps: object, addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        row, block = code[pc].row, seen.begun[-1]
        if pc in wanted:
            done = active & lanes_in(Unit.GLOBAL, addresses) if row.generic else active
            work = _work(seen.place, addresses, done, stores=not row.update)
            seen.work[pc][block] = seen.of(pc, block) + work

    with suppress(UserError):
        limit += len(code) * seen.kernel.warps  # straight code goes on to its end
        run = walk(seen.kernel, blocks, observe, addresses=True, started=seen.begun.append, limit=limit)
        return int(run.counts.sum())
    return limit


def _work(place: Place, addresses: NDArray[np.uint32], active: NDArray[np.bool_], *, stores: bool) -> Work:
    """Return the sectors of all passes of a request, in each slice: a sector has one for each lane of its word.

    `stores`: one pass does all.
    """
    request = np.nonzero(active)[0].astype(np.int64)
    words, lanes = np.unique(request << WORD | addresses[active], return_counts=True)
    first = np.flatnonzero(np.diff(words // SECTOR_BYTES, prepend=-1))
    if not len(first):
        return np.zeros(place.slices)
    bits = np.int64((1 << WORD) - 1)
    at = slices_of((words[first] & bits) // place.slice_bytes, place.slices)
    passes = np.ones(len(first)) if stores else np.maximum.reduceat(lanes, first)
    return np.bincount(at, passes, place.slices).astype(np.float64)


def slices_of(pieces: NDArray[np.int64], slices: int) -> NDArray[np.int64]:
    """Return the slice of each piece of memory that has one, as sm/memory/l2_atomic/l2_atomic.py has it."""
    return ((pieces // TURNS * 2 + pieces % 2) * SPREADING >> SLICE_SHIFT) % slices


def _share(seen: _Seen, pc: int, waves: Mapping[int, Sequence[int]]) -> float:
    """Return the work of all blocks of a wave in the slices of the SM's own block, as multiples of that block's.

    Waves count in which the block does the atomic, whole ones if there are any; blocks not run count as those run.
    """
    kernel, apart = seen.kernel, seen.place.apart
    own = [block for block in waves if seen.of(pc, block).any()]
    whole = [block for block in own if len(seen.place.wave(block, kernel.blocks)) == apart] or own[:1]
    found = alone = 0.0
    for block in whole:
        mine, others = seen.of(pc, block), waves[block]
        size = len(seen.place.wave(block, kernel.blocks))
        theirs = sum(float(seen.of(pc, other)[mine > 0].sum()) for other in others) / max(1, len(others))
        found += (mine.sum() + theirs * (size - 1)) * apart / size
        alone += mine.sum()
    return found / alone if alone else UNSEEN
