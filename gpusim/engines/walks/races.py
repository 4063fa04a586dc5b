"""Find races: accesses of different warps to the same shared word that no barrier orders.

Each warp has a vector clock. A barrier joins the clocks of the warps that it releases, and each starts a new epoch. A
barrier in shared memory (mbarrier) has the clocks of those who have arrived in its phase: who waits for the phase
learns them when it ends. So does a barrier of a cluster, whose blocks are looked at together. To use a barrier in
shared memory without knowing that it has begun is a race, too.

What a warp has under way is an actor of its own, which knows what the warp knew when it issued it: copies by LDGSTS and
stores of the copy engine, matrix instructions of a warpgroup (their reads), and of each barrier in shared memory the
copies that bring it bytes (gpusim/engines/walks/happens_before/work.py). A wait lets the warp know of what it waits
for, and a barrier then others. So a stage that is read before its copy is waited for is a race, and so is one that is
copied to while others may still read it.

So every word with a race is reported, but not each pair of instructions that conflict there within one epoch. Two
atomics are no race: the memory serves them one after the other. A load whose word a compare-and-swap then expects
counts as an atomic against stores: if another has come between, the swap fails. Compiled loops for float atomics have
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.happens_before import work
from gpusim.engines.walks.happens_before.conflicts import Conflict, Race, Touch, Watch, access, join, watch_of
from isa.dataflow.flow import writes
from isa.dataflow.reaching import onward, reached
from isa.errors import UserError
from isa.executing.faults import LIMIT
from isa.executing.places import lanes_in
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Register
from isa.operands.windows import PEER_BYTES, SHARED_PLACE
from isa.program import Program
from isa.row import Unit
from isa.support.once import once
from isa.values.atomic import compare_and_swap

MOST_WARPS = 64  # of a block: in the log of accesses a barrier has a bit for each warp that it releases

Found = dict[tuple[int, int, bool], Conflict]


def races(kernel: Kernel, blocks: Iterable[int] | None = None, *, limit: int = LIMIT) -> list[Race]:
    """Return the races in `blocks` (None: all), one for each pair of instructions, in the order of discovery.

    Clusters are looked at whole. Raises what `walk` raises, such as LimitError beyond `limit` warp instructions in one
    block, and UserError for blocks of more than MOST_WARPS warps.
    """
    if kernel.warps > MOST_WARPS:
        held = f"blocks of {kernel.warps} warps; races are found in those of {MOST_WARPS} at most"
        raise UserError(f"{kernel.name}: has {held}; launch smaller blocks")
    found: Found = {}
    search(kernel, blocks, limit, found)
    return [one.race for one in found.values() if not one.unfenced]


def unordered(kernel: Kernel, blocks: Iterable[int], wanted: Set[int], limit: int) -> set[int]:
    """Return which wanted accesses to shared memory no barrier orders, two atomics on one word among them.

    Of blocks of more than MOST_WARPS warps all: they may be unordered. Raises what `walk` raises.
    """
    if kernel.warps > MOST_WARPS:
        return set(wanted)
    found: Found = {}

    def known() -> set[int]:
        return {pc for pair in found for pc in pair[:2] if pc in wanted}

    with suppress(StopIteration):
        search(kernel, blocks, limit, found, among_atomics=True, enough=lambda: len(known()) == len(wanted))
    return known()


@once
def compared(program: Program) -> frozenset[int]:
    """Return the pcs of loads from shared memory whose result a compare-and-swap there expects to find."""
    shared = {pc: i for pc, i in enumerate(program.instructions) if Unit.SHARED in program.memories(i.row)}
    swaps = {pc: _expected(i) for pc, i in shared.items() if i.row.update is compare_and_swap}
    loads = {pc: i for pc, i in shared.items() if swaps and i.row.is_load and not i.row.is_store}
    after, found = onward(program), set[int]()
    for pc, load in loads.items():
        for name in writes(load):
            if any(name in swaps.get(user, ()) for user in reached(program, after, after[pc], name)):
                found.add(pc)
    return frozenset(found)


def _expected(swap: Instruction) -> set[str]:
    """Return the names of the registers with what a compare-and-swap expects."""
    return {f"R{o.index}" for letter, o in swap.slots() if letter == "a" and isinstance(o, Register)}


def search(
    kernel: Kernel,
    blocks: Iterable[int] | None,
    limit: int,
    found: Found,
    *,
    among_atomics: bool = False,
    enough: Callable[[], bool] = lambda: False,
    more: work.More | None = None,
) -> None:
    """Add the conflicts by their pcs, in the order of discovery; `more` sees the rows that it wants too.

    Raises StopIteration once these are enough, and what `races` raises.
    """
    from gpusim.engines.walks.program_order import walk  # noqa: PLC0415  (--help waits for no compiler)

    leaves = kernel.program.leaves_global
    watches: list[Watch] = []

    def started(block: int) -> None:
        watches[:] = [watch_of(kernel, compared(kernel.program), block, found, among_atomics=among_atomics)]

    def observe(pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        row = kernel.program.instructions[pc].row
        if row.generic and leaves:
            active = active & lanes_in(Unit.SHARED, addresses)
        if row.unit is Unit.SHARED or (row.generic and leaves and active.any()):
            known, watch = len(found), watches[0]
            work.go_on(watch, warps)
            access(watch, _touch(watch, pc, warps, addresses, active), row)
            _stop(known)

    def released(warps: NDArray[np.int64]) -> None:
        work.go_on(watches[0], warps)
        join(watches[0], warps)

    def marked(
        mark: int, pc: int, warps: NDArray[np.int64], words: NDArray[np.uint32], active: NDArray[np.bool_]
    ) -> None:
        known = len(found)
        work.note(watches[0], mark, pc, warps, words, active)
        if more:
            more.note(watches[0].block, mark, pc, warps, words, active)
        _stop(known)

    def _stop(known: int) -> None:
        if len(found) > known and enough():
            raise StopIteration

    wanted = work.wanted(kernel, more.pcs if more else frozenset())
    any_work = bool(wanted.any()) or kernel.cluster_blocks > 1
    walk(
        kernel,
        blocks,
        observe,
        addresses=not any_work,  # their places in shared memory too
        started=started,
        released=released,
        marked=marked if any_work else None,
        wanted=wanted if any_work else None,
        limit=limit,
    )


def _touch(
    watch: Watch, pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]
) -> Touch:
    """Return the words that an instruction accesses in shared memory, with their warps."""
    row, (of, lanes) = watch.kernel.program.instructions[pc].row, np.nonzero(active)
    places, who = addresses[of, lanes].astype(np.int64), warps[of]
    rank = who // watch.kernel.warps
    if row.generic:
        places = places - SHARED_PLACE
        rank, places = np.where(places < PEER_BYTES, rank, places // PEER_BYTES - 1), places % PEER_BYTES
    return watch.touch(pc, places + rank * watch.span, row.accessed_bytes, who)
