"""A block of a walk that waits for others: how that is noticed, what it asks, and how it makes way and comes back.

A block waits if its state returns while nothing that others see has changed (gpusim.sm.walk.watched): each warp that
can run does the same for ever. A block that asks memory for long, changes nothing, and counts its looks or reads a
clock, may wait: it makes way, too, and is asked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.endless_wait import AT_BARRIER, STATE
from gpusim.launch.launch import Launch
from gpusim.launch.scalar_registers import places
from gpusim.sm.jit.on_demand import uninterrupted
from gpusim.sm.jit.rule import borrow, entry
from gpusim.sm.records import Memory, Numbers, Records, Sm
from gpusim.sm.state.layout import layout, rows_of
from gpusim.sm.state.room import whole
from gpusim.sm.unit.capacities import NEVER
from gpusim.sm.walk import access_log, watched
from gpusim.sm.walk.access_log import ACTIVE, FIRST, PC, WARP, Log
from gpusim.sm.walk.watched import CHANGES, KEEP, KEPT, LOOKS, MOST_LOOKS, RAN
from isa.dataflow.memory.order_dependence import is_strong, may_vary
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.program import WORD_BYTES
from isa.row import Unit
from isa.support.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpusim.engines.walks.program_order import Tell, Walker

PATIENCE = 1 << 16  # warp instructions without a change until a block that asks memory makes way
SHORTEST, LONGEST = 1 << 6, 1 << 11  # warp instructions between two states that are kept
MOST_UNSEEN = 1 << 17  # warp instructions without a look: a look makes them half as fast
EARLY = 1 << 8  # warp instructions of each warp before its block is watched: most blocks have ended by then
ASKED = 1 << 9  # rows of a round of a loop that asks memory
OTHERS = "live", "waits_for", "reduced", "awaits"  # of a warp's record, beside those that endless_wait compares


class Asked(NamedTuple):
    """What a block asks memory for, in vain so far: who asks where (warp, pc), and the words with what they held.

    `certain`: it repeats itself until one of these words is another; else it may go on by itself.
    """

    certain: bool
    who: tuple[tuple[int, int], ...]
    words: NDArray[np.int64]
    held: NDArray[np.uint32]


class Outcome(NamedTuple):
    """The warp instructions that a watched block has executed, and what it waits for; None: it has ended, or failed."""

    done: int
    asked: Asked | None


@dataclass(frozen=True, eq=False)
class Parked:
    """A block that made way: its number, what it asks for, its state, its own memory, and what it has executed."""

    block: int
    asked: Asked
    state: NDArray[np.int64]
    own: NDArray[np.uint32]
    log: tuple[NDArray[np.int64], NDArray[np.int64]]
    done: int


@entry
def run(sms: Records[Sm], memory: Memory, away: Numbers, group: Numbers, log: Log, watch: Numbers, steps: int) -> int:
    """Run the first SM's block as `watched.proceed` does."""
    rows = access_log.borrowed(log)
    return watched.proceed(sms[0], borrow(memory), borrow(away), borrow(group), rows, borrow(watch), steps)


@once
def may_wait(kernel: Kernel) -> bool:
    """Tell whether a warp may go by what others store: by atomics, shared memory, or strong loads; in listings any."""
    program = kernel.program
    for pc in may_vary(kernel):
        memories = program.memories(program.instructions[pc].row)
        if Unit.SHARED in memories or (Unit.GLOBAL in memories and (not program.origins or is_strong(program, pc))):
            return True
    return False


class _Watch:
    """A block that is watched: the numbers of `watched`, and its state where its warps were when they were kept."""

    def __init__(self, one: Walker, log: Log) -> None:
        self.one, self.log, self.numbers = one, log, np.zeros(watched.SIZE, np.int64)
        held, self.used, self.state = one.launch, places(one.kernel.program), (b"", b"")
        self.run = uninterrupted(partial(run, held.sms, held.memory, one.away[0], one.group, log, self.numbers))

    def keep(self) -> None:
        """Keep the places of the warps."""
        self.numbers[KEPT], self.state = KEEP, (b"", b"")

    def ran(self) -> int:
        """Return which warps have run since their places were kept, as a mask."""
        return _bits(np.flatnonzero(self.numbers[RAN:]).tolist())

    def has_returned(self) -> bool:
        """Tell whether the state is the one that was there before, when all warps were where they are; remember it."""
        if not 0 < self.numbers[LOOKS] <= MOST_LOOKS or not self.numbers[KEPT]:
            return False
        before, self.state = self.state, _state(self.one.launch, self.used)
        return before == self.state


def watch(one: Walker, log: Log, advance: Callable[[int], int], limit: int, tell: Tell) -> Outcome:
    """Run a block on until it has ended or failed, waits, or has executed more than `limit` warp instructions.

    `advance` runs it without a look: the longer it does not come back to where it was, the longer nobody looks.
    """
    found, asks = _Watch(one, log), _asking(one.kernel)
    done = calm = stuck = changes = asked = 0
    span, unseen, own = SHORTEST, 0, b""
    found.keep()
    while done <= limit and (free := _free(one)) and not one.launch.sm.fault.code:
        executed = found.run(span)
        told(log, tell)
        done, before = done + executed, asked
        asked = int(one.launch.program.issued[asks].sum())
        calm = calm + executed if found.numbers[CHANGES] == changes and asked != before else 0
        changes = int(found.numbers[CHANGES])
        if found.has_returned():
            stuck = (stuck if own == found.state[0] else 0) | found.ran()
            own = found.state[0]
            if not _bits(free) & ~stuck:
                return Outcome(done, _asked(one, certain=True))
            _let_others_go(one, stuck)
            found.keep()
        elif executed >= span or not found.numbers[KEPT]:
            done += _unseen(log, advance, min(unseen, limit - done), tell)
            unseen = min(2 * unseen, MOST_UNSEEN) if unseen else LONGEST * (span == LONGEST)
            span = min(2 * span, LONGEST)
            found.keep()
        if calm > PATIENCE:
            return Outcome(done, _asked(one, certain=False))
    return Outcome(done, None)


def _unseen(log: Log, advance: Callable[[int], int], steps: int, tell: Tell) -> int:
    """Run a block for so many warp instructions, or until it ends; return how many it was."""
    done, goes_on = 0, steps > 0
    while goes_on:
        executed = advance(steps - done)
        done += executed
        goes_on = done < steps and bool(access_log.is_full(log))
        told(log, tell)
    return done


def told(log: Log, tell: Tell) -> None:
    """Tell of what is in the log, and empty it."""
    tell(np.asarray(log.rows[: log.size[0]]))
    log.size[0] = 0


@once
def _asking(kernel: Kernel) -> list[int]:
    """Return the instructions by which a warp may ask global memory."""
    code = kernel.program.instructions
    return [pc for pc in sorted(may_vary(kernel)) if Unit.GLOBAL in kernel.program.memories(code[pc].row)]


def park(one: Walker, block: int, log: Log, asked: Asked, done: int) -> Parked:
    """Take a block's state aside."""
    words, own = whole(rows_of(one.launch.sms)), _own(one.launch)
    state = np.concatenate([words[part] for part in _parts(one.launch)])
    return Parked(block, asked, state, own.copy(), (np.array(log.members), np.array(log.phases)), done)


def bring_back(one: Walker, parked: Parked, log: Log) -> None:
    """Give a block the SM again."""
    words, at = whole(rows_of(one.launch.sms)), 0
    for part in _parts(one.launch):
        size = part.stop - part.start
        words[part] = parked.state[at : at + size]
        at += size
    _own(one.launch)[:] = parked.own
    log.members[:], log.phases[:] = parked.log
    one.away[:] = 0


def may_go_on(one: Walker, parked: Parked) -> bool:
    """Tell whether a block that made way may do something else now."""
    asked = parked.asked
    return not asked.certain or not np.array_equal(one.launch.memory[asked.words], asked.held)


def _own(held: Launch) -> NDArray[np.uint32]:
    """Return the words of the block's shared and local memory."""
    first = int(held.sm.launch.shared_word)
    return held.memory[first : first + int(held.sm.launch.peer)]


def _parts(held: Launch) -> list[slice]:
    """Return the words of the SM's state that are a block's: all but counts and loads behind buffers, which add up."""
    words, begin = whole(rows_of(held.sms)), rows_of(held.sms).ctypes.data
    fields = layout("sm").fields
    assert fields is not None
    program = rows_of(held.sm.program)
    first = (program.ctypes.data - begin) // 8
    kind, offset = fields["beyond"][:2]
    cuts = sorted([(first, first + program.nbytes // 8), (offset // 8, (offset + kind.itemsize) // 8)])
    ends = [0, *(end for _, end in cuts)]
    return [slice(*part) for part in zip(ends, [*(start for start, _ in cuts), len(words)], strict=True)]


def _state(held: Launch, used: int) -> tuple[bytes, bytes]:
    """Return the block's own memory and barriers, and the state of its warps that decides what they do next."""
    sm, count = held.sm, int(held.sm.launch.warps)
    warps = rows_of(sm.warps)[:count]
    lanes = rows_of(rows_of(sm.lanes)[: count * int(sm.machine.groups)])
    parts: list[Any] = [warps[name] for name in (*STATE, *OTHERS)]
    parts += [warps["release_at"][:, AT_BARRIER] >= NEVER, lanes.registers[:, :used], lanes.predicates]
    parted, stack = rows_of(sm.parted), rows_of(sm.simt_stack)
    parts += [parted[:count, : int(warps["parted"].max())], stack[:count, : int(warps["depth"].max())]]
    own = _own(held).tobytes() + rows_of(sm.blocks)[:1]["barriers"].tobytes()
    return own, b"".join(np.asarray(part).tobytes() for part in parts)


def _free(one: Walker) -> list[int]:
    """Return the warps that can run."""
    warps = rows_of(one.launch.sm.warps)[: one.kernel.warps]
    return np.flatnonzero((warps["live"] != 0) & (warps["release_at"][:, AT_BARRIER] < NEVER)).tolist()


def _bits(warps: list[int]) -> int:
    return sum(1 << g for g in warps)


def _let_others_go(one: Walker, stuck: int) -> None:
    """Let the warps that repeat themselves run only when nobody else can."""
    for g in range(one.kernel.warps):
        if stuck >> g & 1:
            one.away[0, g] = 1


def _asked(one: Walker, *, certain: bool) -> Asked:
    """Return what a block that waits asks for in its next rounds: of each warp one, if its state returns."""
    log = access_log.room(one.kernel.warp_size, ASKED + access_log.MARGIN)
    found, free, rows = _Watch(one, log), _bits(_free(one)), [np.asarray(log.rows[:0])]
    one.away[:] = ran = 0
    asks = True
    while free & ~ran and asks:
        log.size[0] = 0
        found.keep()
        found.run(LONGEST)
        rows.append(np.array(log.rows[: log.size[0]]))
        ran |= found.ran()
        asks = certain = certain and found.numbers[LOOKS] == 1
        _let_others_go(one, ran)
    words, who = _words(one.kernel, np.concatenate(rows))
    return Asked(certain, who, words, one.launch.memory[words])


def _words(kernel: Kernel, rows: NDArray[np.uint32]) -> tuple[NDArray[np.int64], tuple[tuple[int, int], ...]]:
    """Return the words of global memory that are asked for, and which warps ask where."""
    found, who = [np.zeros(0, np.int64)], dict[tuple[int, int], None]()
    for one in rows[rows[:, PC] < len(kernel.program)]:
        row = kernel.program.instructions[int(one[PC])].row
        active = np.unpackbits(one[ACTIVE:FIRST].view(np.uint8), bitorder="little")[: kernel.warp_size].astype(np.bool_)
        first = one[FIRST:][active]
        if Unit.GLOBAL not in kernel.program.memories(row) or not (row.is_load or row.update is not None):
            continue
        if row.generic and kernel.program.leaves_global:
            first = first[lanes_in(Unit.GLOBAL, first)]
        if first.size:
            found.append((first.astype(np.int64) // WORD_BYTES)[:, None] + np.arange(max(1, row.words)))
            who[int(one[WARP]), int(one[PC])] = None
    return np.unique(np.concatenate([each.ravel() for each in found])), tuple(who)
