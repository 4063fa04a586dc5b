"""Work that goes on by itself, in the search for races: what it reads and writes, who waits for it, who passes it on.

| actor | reads or writes | its epochs end | known by |
|---|---|---|---|
| LDGSTS of a warp | writes | where the warp closes a group, or lets a barrier follow its copies | a wait for groups |
| bulk and tensor stores of a warp | read | where the warp closes a group | a wait for groups |
| products of a warpgroup | read | the same | a wait for groups, by any of its warps |
| copies to a barrier in shared memory | write | with a phase | a wait for the phase |

Their rows are those of gpusim.sm.walk.marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.happens_before import known as knowledge
from gpusim.engines.walks.happens_before.conflicts import Touch, Watch, compare, conflicting, look_for_fences
from gpusim.engines.walks.happens_before.known import Words
from gpusim.sm.pipes.warpgroup.declaration import WARPS as GROUP
from gpusim.sm.walk.marks import (
    ASKED,
    AWAITING,
    FLIPPED,
    MULTIPLIED,
    NO_BARRIER,
    NOTED,
    PASSED,
    PLACED,
    SIGNALLED,
)
from isa.dataflow.waits.counted_groups import awaits_all
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.rows.control import CLUSTER_ARRIVE, CLUSTER_WAIT
from isa.nvidia.rows.copies.mbarrier import ARRIVALS, COME, ONE_ARRIVAL
from isa.operands.operand import Dependency, Immediate
from isa.program import Program
from isa.row import CLOSES, WAITS, Bulk, Groups, Signal, Unit
from isa.values.matrix.warpgroup import (
    FROM_REGISTERS,
    ROWS_OF_WARP,
    SPARSE,
    TURNED_A,
    TURNED_B,
    columns_of,
    place_of,
    turned_place_of,
)

FENCE = "FENCE.VIEW.ASYNC"
BLOCK_BYTES, BARRIER_BYTES = 16, 8
Rows = NDArray[np.uint32]
Active = NDArray[np.bool_]


class More(Protocol):
    """Who wants to see further rows: of the instructions at these pcs."""

    @property
    def pcs(self) -> Set[int]:
        """The instructions."""

    def note(self, block: int, mark: int, pc: int, warps: Words, words: Rows, active: Active) -> None:
        """See the rows of an instruction in a block."""


def wanted(kernel: Kernel, more: Set[int] = frozenset()) -> NDArray[np.int64]:
    """Return by pc what is noted of an instruction, 0 if nothing is."""
    program = kernel.program
    found = [_mark(program, i) or NOTED * (pc in more) for pc, i in enumerate(program.instructions)]
    if not any(mark in (PLACED, ASKED, MULTIPLIED) for mark in found):
        found = [mark if i.row.signal else 0 for mark, i in zip(found, program.instructions, strict=True)]
    arrivals = (CLUSTER_ARRIVE, CLUSTER_WAIT) if kernel.cluster_blocks > 1 else ()
    for pc, i in enumerate(program.instructions):
        if i.row.unit is Unit.BARRIER and i.row.code in arrivals:
            found[pc] = NOTED
    return np.array([*found, 0], np.int64)


def _mark(program: Program, instruction: Instruction) -> int:
    row = instruction.row
    if row.copies:
        return PLACED
    if row.unit is Unit.WARPGROUP:
        return MULTIPLIED
    if row.bulk in (Bulk.LOAD, Bulk.STORE, Bulk.REDUCE, Bulk.NEARBY):
        return ASKED
    if row.signal in (Signal.ARRIVE, Signal.FOLLOW, Signal.BEGIN):
        return SIGNALLED
    if row.signal in (Signal.LOOK, Signal.AWAIT):
        return PASSED
    waits = row.grouping & (WAITS | CLOSES) or awaits_all(program, instruction)
    return NOTED if waits or row.mnemonic.startswith(FENCE) else 0


def note(watch: Watch, mark: int, pc: int, warps: Words, words: Rows, active: Active) -> None:
    """See what rows of an instruction say."""
    if mark == FLIPPED:
        for row in words:
            _flip(watch, int(row[0]))
        return
    watch.later = True
    go_on(watch, warps)
    if mark == PLACED:
        _place(watch, pc, warps, words, active)
    for warp, row, lanes in zip(warps.tolist(), words, active, strict=True):
        if mark == ASKED:
            _ask(watch, pc, warp, row.astype(np.int64))
        elif mark == MULTIPLIED:
            _multiply(watch, pc, warp, row)
        elif mark == SIGNALLED:
            _signal(watch, pc, warp, np.unique(row[lanes]).tolist())
        elif mark in (PASSED, AWAITING):
            _use(watch, pc, warp, barriers := np.unique(row[lanes]).tolist())
            _answer(watch, warp, barriers, now=mark == PASSED)
        else:
            _step(watch, pc, warp, active=bool(lanes.any()))


def go_on(watch: Watch, warps: Iterable[int]) -> None:
    """Let those of the warps that have waited at the cluster's barrier know what others did before it."""
    for warp in set(map(int, warps)) & watch.passing if watch.passing else ():
        watch.passing.discard(warp)
        knowledge.learn(watch.known, warp, watch.met[watch.times[warp] - 1])


def _step(watch: Watch, pc: int, warp: int, *, active: bool) -> None:
    """Let a warp wait for groups, whatever its guard, close one, pass a fence, or come to the cluster's barrier."""
    instruction = watch.kernel.program.instructions[pc]
    row = instruction.row
    for kind, most in waits_for(watch.kernel.program, instruction):
        _wait(watch, kind, warp, most)
    if row.grouping & CLOSES and active:
        _close(watch, row.groups, warp)
    if row.mnemonic.startswith(FENCE):
        knowledge.fence(watch.known, warp)
    if row.unit is Unit.BARRIER and row.code == CLUSTER_ARRIVE and active:
        _come(watch, warp)
    if row.unit is Unit.BARRIER and row.code == CLUSTER_WAIT and active:
        watch.passing.add(warp)


def _come(watch: Watch, warp: int) -> None:
    """Let a warp arrive at the cluster's barrier."""
    count = watch.times.get(warp, 0)
    watch.times[warp] = count + 1
    mine = knowledge.leave(watch.known, warp)
    if count == len(watch.met):
        watch.met.append(mine)
    else:
        held = watch.met[count]
        mine[:, : held.shape[1]] = np.maximum(mine[:, : held.shape[1]], held)
        watch.met[count] = mine


def waits_for(program: Program, instruction: Instruction) -> Iterator[tuple[Groups, int]]:
    """Yield the kinds of groups for which an instruction waits, and how many of each may be under way then."""
    row = instruction.row
    if awaits_all(program, instruction):
        yield Groups.COPIES, 0
    others = any(isinstance(o, Dependency) and o.index for o in instruction.operands)
    if row.grouping & WAITS and not others:
        (most, *_) = (o.bits for o in instruction.operands if isinstance(o, Immediate))
        together = (Groups.COPIES, Groups.BULK) if row.groups is not Groups.MATRIX else (Groups.MATRIX,)
        yield from ((kind, most) for kind in together)


def _work(watch: Watch, kind: Groups, warp: int) -> int:
    """Return the actor of a warp's work of a kind, in its present epoch; products are those of four warps."""
    within = warp % watch.kernel.warps
    owner = warp - within % GROUP if kind is Groups.MATRIX else warp
    found = knowledge.actor(watch.known, (kind.name, owner), warp)
    if kind is Groups.MATRIX:
        watch.known.order[found, found] = 1 + len(watch.closed.get((kind, warp), ()))
    return found


def _close(watch: Watch, kind: Groups, warp: int) -> None:
    """Close a warp's open group."""
    actor = _work(watch, kind, warp)
    watch.closed.setdefault((kind, warp), []).append(int(watch.known.order[actor, actor]))
    watch.known.order[actor, actor] += 1


def _wait(watch: Watch, kind: Groups, warp: int, most: int) -> None:
    """Let a warp know of all of its groups but the last ones."""
    groups = watch.closed.get((kind, warp), [])
    if len(groups) > most:
        order, actor = watch.known.order, _work(watch, kind, warp)
        order[warp, actor] = max(order[warp, actor], groups[-1 - most])


def _place(watch: Watch, pc: int, warps: Words, words: Rows, active: Active) -> None:
    """Record what warps' copies will write, and compare it with what others have accessed."""
    nbytes = watch.kernel.program.instructions[pc].row.nbytes
    each = []
    for warp, row, lanes in zip(warps.tolist(), words, active, strict=True):
        actor = _work(watch, Groups.COPIES, warp)
        places = row[lanes].astype(np.int64)
        each.append((warp, actor, watch.touch(pc, places, nbytes, np.full(len(places), warp))))
        knowledge.record(watch.known, "writes", each[-1][2].words, actor, pc)
    for warp, actor, touch in each:
        clock = watch.known.order[warp].copy()
        clock[actor] = np.iinfo(np.int32).max  # of two of its own the one that is done last stays
        for kind in conflicting(watch, "writes", writes=True):
            compare(watch, kind, touch, clock)


def _writes(watch: Watch, pc: int, warp: int, actor: int, words: Words) -> None:
    """Compare what a copy will write with what was accessed before, and record it."""
    touch = Touch(pc, words, np.full(len(words), warp))
    for kind in conflicting(watch, "writes", writes=True):
        compare(watch, kind, touch, watch.known.order[warp])
    knowledge.record(watch.known, "writes", words, actor, pc)


def _reads(watch: Watch, pc: int, warp: int, actor: int, words: Words) -> None:
    """Do the same with what work reads; what warps have written it sees behind a fence alone."""
    touch = Touch(pc, words, np.full(len(words), warp))
    for kind in conflicting(watch, "reads", writes=False):
        compare(watch, kind, touch, watch.known.order[warp])
        look_for_fences(watch, kind, touch, warp)
    knowledge.record(watch.known, "reads", words, actor, pc)


def _ask(watch: Watch, pc: int, warp: int, row: Words) -> None:
    """Let a warp ask for a copy by the copy engine."""
    barrier, place, nbytes, source, blocks = row[:5].tolist()
    kind = watch.kernel.program.instructions[pc].row.bulk
    if kind in (Bulk.STORE, Bulk.REDUCE):
        _reads(watch, pc, warp, _work(watch, Groups.BULK, warp), watch.range(place, nbytes))
        return
    mine = knowledge.leave(watch.known, warp)
    ranks = [r for r in range(watch.kernel.cluster_blocks) if blocks >> r & 1] or [place // max(watch.span, 1)]
    for rank in ranks:
        its = barrier % watch.span + (rank if blocks else barrier // watch.span) * watch.span
        signals = knowledge.actor(watch.known, ("barrier", its if barrier != NO_BARRIER else barrier), warp)
        knowledge.learn(watch.known, signals, mine)
        if kind is Bulk.NEARBY:
            _reads(watch, pc, warp, signals, watch.range(source, nbytes))
        if barrier != NO_BARRIER:
            _use(watch, pc, warp, [its])
        _writes(watch, pc, warp, signals, watch.range(place % watch.span + rank * watch.span, nbytes))


def _signal(watch: Watch, pc: int, warp: int, barriers: list[int]) -> None:
    """Let a warp, or the copies that it has issued, arrive at barriers."""
    row, known = watch.kernel.program.instructions[pc].row, watch.known
    if row.signal is Signal.BEGIN:
        for barrier in barriers:
            knowledge.record(known, "begun", watch.range(barrier, BARRIER_BYTES), warp, pc)
        return
    _use(watch, pc, warp, barriers)
    if row.signal is Signal.FOLLOW:
        copies, mine = _work(watch, Groups.COPIES, warp), knowledge.leave(known, warp)
        for barrier in barriers:
            actor = knowledge.actor(known, ("barrier", barrier), warp)
            knowledge.learn(known, actor, mine)
            known.order[actor, copies] = known.order[copies, copies]
        known.order[copies, copies] += 1
    elif row.signal is Signal.ARRIVE and row.code & (ONE_ARRIVAL | ARRIVALS | COME):
        mine = knowledge.leave(known, warp)
        for barrier in barriers:
            knowledge.learn(known, knowledge.actor(known, ("barrier", barrier), warp), mine)


def _use(watch: Watch, pc: int, warp: int, barriers: Iterable[int]) -> None:
    """Compare the use of barriers by a warp, or by its copies, with their beginning by another."""
    for barrier in barriers:
        words = watch.range(barrier, BARRIER_BYTES)
        compare(watch, "begun", Touch(pc, words, np.full(len(words), warp)), watch.known.order[warp])


def _flip(watch: Watch, barrier: int) -> None:
    """Let the phase of a barrier end: those who wait for it learn what those knew who have arrived so far."""
    known = watch.known
    actor = knowledge.actor(known, ("barrier", barrier), 0)
    watch.ended[barrier] = known.clocks[:, actor].copy()
    known.order[actor, actor] += 1
    for warp in watch.waiting.pop(barrier, []):
        knowledge.learn(known, warp, watch.ended[barrier])


def _answer(watch: Watch, warp: int, barriers: list[int], *, now: bool) -> None:
    """Let a warp pass phases that are over, or wait for those that are not."""
    for barrier in barriers:
        if now and barrier in watch.ended:
            knowledge.learn(watch.known, warp, watch.ended[barrier])
        elif not now:
            watch.waiting.setdefault(barrier, []).append(warp)


def _multiply(watch: Watch, pc: int, warp: int, row: Rows) -> None:
    """Let a warp issue a matrix instruction of its warpgroup, which reads shared memory when it is computed."""
    code, within = watch.kernel.program.instructions[pc].row.code, warp % watch.kernel.warps
    words = tuple(row[:4].tolist())
    key = (code, within % GROUP, *words)
    if key not in watch.read:
        watch.read[key] = np.unique(np.fromiter(_bytes(code, within % GROUP, words), np.int64) // watch.size)
    base = warp // watch.kernel.warps * watch.span // watch.size
    inside = watch.read[key] < watch.span // watch.size  # else the product is a fault
    _reads(watch, pc, warp, _work(watch, Groups.MATRIX, warp), watch.read[key][inside] + base)
    if watch.kernel.program.instructions[pc].row.grouping & CLOSES:
        _close(watch, Groups.MATRIX, warp)


def _bytes(code: int, index: int, words: tuple[int, ...]) -> Iterator[int]:
    """Yield the places of parts of the matrices that the index-th warp of four reads: every fourth byte at least."""
    if not code & FROM_REGISTERS:
        rows = range(index * ROWS_OF_WARP, (index + 1) * ROWS_OF_WARP)
        yield from _matrix(words[0], words[1], rows, 2, turned=bool(code & TURNED_A))
    blocks = 4 if code & SPARSE else 2
    yield from _matrix(words[2], words[3], range(columns_of(code)), blocks, turned=bool(code & TURNED_B))


def _matrix(low: int, high: int, rows: range, blocks: int, *, turned: bool) -> Iterator[int]:
    for row in rows:
        if turned:
            yield from (turned_place_of(low, high, row, k) for k in range(BLOCK_BYTES // 2 * blocks))
        else:
            for block in range(blocks):
                start = place_of(low, high, row, block)
                yield from range(start, start + BLOCK_BYTES, 4)
