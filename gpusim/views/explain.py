"""Why a warp did not issue in a cycle: the chain of blockers, back to one that waited for nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from gpusim.support.plural import plural
from gpusim.views.timeline.dependence import born, over
from gpusim.views.timeline.document import NONE, Copy, Issued, Phase, Timeline, Wait
from gpusim.views.timeline.units import TENSOR, phase_words
from isa.dataflow.waits.awaited import result_of
from isa.dataflow.waits.shared_barriers import RESULT, SOURCES, words
from isa.errors import UserError
from isa.reading.origin import number

CONFLICTS = {
    "shared": ("pass", "es", "bank conflicts"),
    "global": ("request", "s", "its lanes are spread"),
}
LEVELS = {
    "L1": "the L1 served it",
    "L2": "the L1 missed, the L2 served it",
    "far L2": "the L1 missed, the far side of the L2 served it",
    "DRAM": "L1 and L2 missed, the DRAM served it",
}
CONSTANTS = {
    "L1": "the caches of constants served it",
    "L2": "the caches of constants missed, the L2 served it",
    "far L2": "the caches of constants missed, the far side of the L2 served it",
    "DRAM": "the caches of constants and the L2 missed, the DRAM served it",
}
LATE = "later than its latency, as memory moves it and earlier transactions"
TAKEN = "of that as memory takes stores slower than they are sent"
NONE_LEFT = "; no other has one: the launch ends when the L2 has done its atomics and stores, if no block is to come"
WASTED = ", whose access finds its queue full and wastes the slot"
ACTIVE = "; two_level chooses among the scheduler's active warps alone"
BARRIER_REASONS = frozenset(
    {"short_scoreboard", "long_scoreboard", "war_hazard"}
)  # reasons to wait for dependency barriers
RESULT_REASONS = BARRIER_REASONS - {"war_hazard"}
FENCE = re.compile(r"\bMEMBAR\b")
STORE = re.compile(r"\b(STG?|STL|REDG?)\b|_store_")
MEMORY = frozenset({"shared", "global", "local", "constant"})  # unit classes that the load/store unit serves


class Step(msgspec.Struct, frozen=True):
    """The state of an instruction in a cycle, and its extent: a state or stall reason by its name, and in words.

    Times are shader cycles since the launch; `pc`, `start`, `end` and `id` are -1 where there is none, and so is
    `offset`, that of the instruction in machine code, in bytes.
    """

    cycle: int
    warp: int
    pc: int
    instruction: str
    what: str
    start: int
    end: int
    words: str
    id: int = NONE
    offset: int = NONE

    @property
    def number(self) -> str:
        """What tables call the instruction: in machine code its offset, else its pc; empty if there is none."""
        return number(self.pc, self.offset) if self.pc >= 0 else ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A document with its instructions by id, meanings of stall reasons, and the unit classes that enter a queue.

    `awaited` and `copies` are the phases for which instructions wait, and the copies that they ask for.
    """

    document: Timeline
    by_id: dict[int, Issued]
    awaited: dict[int, Phase]
    copies: dict[int, Copy]
    meaning: dict[str, str]
    queued: frozenset[str]


def explain(document: Timeline, warp: int, cycle: int, depth: int) -> list[Step]:
    """Return what a warp did in a cycle; if it waited, also its blocker, that one's blocker before, and so on.

    For each blocker the last wait counts, as the one that delayed its issue. There are at most `depth` steps. Raises
    UserError for warps and cycles that the document does not have.
    """
    _check(document, warp, cycle)
    letters = {letter.name: letter.meaning for letter in document.letters}
    others = {document.program[one.pc].unit for one in document.instructions if one.begin > one.issue} - set(TENSOR)
    awaited = {one.instruction: phase for phase in document.phases for one in phase.waiting}
    copies = {copy.instruction: copy for copy in document.copies}
    found = _Found(document, {one.id: one for one in document.instructions}, awaited, copies, letters, MEMORY | others)
    first = _at(document, warp, cycle)
    if first is None:
        return [_absent(found, warp, cycle)]
    return list(islice(_chain(found, first, cycle), min(depth, sys.maxsize)))


def needed(document: Timeline, warp: int, cycle: int) -> int:
    """Return the cycle up to which a document must reach to contain all waits of a warp in a cycle."""
    first = _at(document, warp, cycle)
    return cycle + 1 if first is None else first.issue + 1


def _at(document: Timeline, warp: int, cycle: int) -> Issued | None:
    """The instruction that a warp waits to issue, or issues, in a cycle."""
    mine = (one for one in document.instructions if one.warp == warp)
    return next((one for one in mine if born(one) <= cycle < one.issue + document.interval), None)


def _check(document: Timeline, warp: int, cycle: int) -> None:
    if warp not in document.shown:
        raise UserError(f"--warp {warp}: the run has warp slots {document.shown[0]} to {document.shown[-1]} of an SM")
    if not document.start <= cycle < document.end:
        raise UserError(f"cycle {cycle}: there are cycles {document.start} to {document.end - 1} to look at")


def _absent(found: _Found, warp: int, cycle: int) -> Step:
    """The step of a warp without a waiting or issuing instruction in this cycle."""
    here = (block for block in found.document.blocks if warp in block.warps)
    block = next((one for one in here if one.placed <= cycle and (cycle < one.retired or one.retired == NONE)), None)
    if block is None:
        blocks = found.document.blocks
        left = NONE_LEFT if blocks and all(NONE < one.retired <= cycle for one in blocks) else ""
        return Step(cycle, warp, NONE, "", "no_warp", NONE, NONE, found.meaning["no_warp"] + left)
    issued = [one for one in found.document.instructions if (one.warp, one.block) == (warp, block.id)]
    before = [one.issue for one in issued if one.issue <= cycle]
    if not before and found.document.start <= block.placed:
        words = f"its first issue slot is not there yet (block {block.id})"
        return Step(cycle, warp, NONE, "", "no_warp", block.placed, min(map(born, issued), default=NONE), words)
    exited = max(before) + found.document.interval if before else found.document.start
    words = f"{found.meaning['warp_exited']} (block {block.id})"
    return Step(cycle, warp, NONE, "", "warp_exited", exited, block.retired, words)


def _chain(found: _Found, one: Issued, cycle: int) -> Iterator[Step]:
    """The instruction's wait in this cycle, its blocker, that one's last wait, and so on."""
    while True:
        wait = next((wait for wait in one.waits if wait.start <= cycle < wait.end), None)
        if wait is None:
            yield _step(found, one, cycle, "selected", one.issue, one.issue + found.document.interval, "issues")
            return
        blocker = _blocker(found, one, wait, cycle)
        late = _is_late(blocker, cycle)
        more = _unchosen(found, late) if wait.reason == "not_selected" else _shared_barrier(found, one, wait, blocker)
        meaning = _meaning(found, wait, blocker) + more
        yield _step(found, one, cycle, wait.reason, wait.start, wait.end, meaning)
        following = _at(found.document, blocker.warp, cycle) if blocker and late else blocker
        if following is None:
            return
        if not late:
            yield from _doings(found, following, cycle)
            if ender := _ender(found, following):
                late = _is_late(ender, cycle)
                ending = _at(found.document, ender.warp, cycle) if late else ender
                if ending is None:
                    return
                following = ending
                yield from () if late else _doings(found, following, cycle)
            if not late and (wait.reason == "not_selected" or not following.waits):
                return
            cycle = cycle if late else following.issue - 1
        one = following


def _is_late(blocker: Issued | None, cycle: int) -> bool:
    """Whether an instruction is still to issue."""
    return blocker is not None and blocker.issue > cycle


def _ender(found: _Found, one: Issued) -> Issued | None:
    """The instruction that ended the phase of a barrier in shared memory for which another one waited."""
    phase = found.awaited.get(one.id)
    return found.by_id.get(phase.ended_by) if phase else None


def _meaning(found: _Found, wait: Wait, blocker: Issued | None) -> str:
    """What the reason means; of a wait for a result with a time of its own, a fence or a warpgroup, what it is for."""
    line = found.document.program[blocker.pc] if blocker else None
    if line and wait.reason == "barrier" and FENCE.search(line.text):
        return "waits until what its fence orders has been performed"
    if line and wait.reason == "barrier" and line.unit in TENSOR:
        return "waits for matrix instructions of its warpgroup"
    if line is None or wait.reason not in RESULT_REASONS:
        return found.meaning[wait.reason]
    return f"waits for {result_of(line.unit, line.text).one}"


def _shared_barrier(found: _Found, one: Issued, wait: Wait, blocker: Issued | None) -> str:
    """A further cause to wait for a dependency barrier: another instruction that shares it and is not needed."""
    lines = found.document.program
    those = lines[one.pc].shared_barriers if blocker else ()
    what = SOURCES if wait.reason == "war_hazard" else RESULT
    needless = next((other for other in those if blocker and (other.pc, other.what) == (blocker.pc, what)), None)
    if needless is None or wait.reason not in BARRIER_REASONS:
        return ""
    other = words(needless, lambda pc: lines[pc].text, lambda pc: lines[pc].place)
    return f"; it does not need this, but waits for {other}, which it needs"


def _unchosen(found: _Found, wasted: bool) -> str:
    """Further causes why another warp was chosen: it wastes the slot, or the policy ignores inactive warps."""
    return (WASTED if wasted else "") + (ACTIVE if found.document.policy == "two_level" else "")


def _doings(found: _Found, one: Issued, cycle: int) -> Iterator[Step]:
    """The state of an issued instruction in a cycle; if it is queued, also the one that is served instead."""
    if one.begin > cycle:
        serving = _served(found, cycle)
        yield _doing(found, one, cycle)
        if serving:
            yield _doing(found, serving, cycle)
    else:
        yield _doing(found, one, cycle)


def _blocker(found: _Found, one: Issued, wait: Wait, cycle: int) -> Issued | None:
    """The blocker in this very cycle; the wait names the last of several."""
    if wait.reason != "not_selected":
        return found.by_id.get(wait.blocker)
    rivals = (other for other in found.document.instructions if other.scheduler == one.scheduler)
    issued = (other for other in rivals if other.issue <= cycle < other.issue + found.document.interval)
    return next(issued, None) or _refused(found, one, cycle)


def _refused(found: _Found, one: Issued, cycle: int) -> Issued | None:
    """The access that finds its queue full in this cycle, which costs the instruction's scheduler the slot."""
    slots = (slot for slot in found.document.lost if slot.scheduler == one.scheduler and slot.ended_by != one.id)
    wasted = (slot for slot in slots if slot.start <= cycle < slot.end and slot.reason == "mio_throttle")
    return next((found.by_id.get(slot.ended_by) for slot in wasted), None)


def _served(found: _Found, cycle: int) -> Issued | None:
    """The instruction that the load/store unit serves in a cycle, if the document has it."""
    lines = found.document.program
    serving = (one for one in found.document.instructions if one.begin <= cycle < one.end)
    return next((one for one in serving if lines[one.pc].unit in found.queued), None)


def _doing(found: _Found, one: Issued, cycle: int) -> Step:
    times = (("queued", one.begin), ("occupies", one.end), ("under_way", one.done))
    what = next((name for name, until in times if cycle < until), "selected" if one.done == NONE else "done")
    return _step(found, one, cycle, what, one.issue, over(one), _words(found, one))


def _words(found: _Found, one: Issued) -> str:
    """The times of an instruction in words: its issue, the unit that it occupies, and its result."""
    unit = found.document.program[one.pc].unit
    where = "the load/store unit" if unit in found.queued else "its pipe"
    notes = [f"issued at {one.issue}" if one.waits else f"issued at {one.issue} without having waited"]
    if one.begin != NONE:
        notes.append(f"occupies {where} from {one.begin} to {one.end}")
    if one.conflicts:
        noun, ending, why = CONFLICTS.get(unit, CONFLICTS["global"])
        notes.append(f"{plural(one.conflicts, noun, ending)} more than its width needs: {why}")
    if one.done != NONE:
        notes.append(f"done at {one.done}")
    if one.level:
        notes.append((CONSTANTS if unit == "constant" else LEVELS)[one.level])
    if one.late:
        stores = STORE.search(found.document.program[one.pc].text)
        notes.append(f"{plural(one.late, 'cycle')} {TAKEN if stores else LATE}")
    if phase := found.awaited.get(one.id):
        notes.append(f"waits at mbarrier {phase.barrier:#x}, whose {phase_words(phase)}")
    if copy := found.copies.get(one.id):
        size = f"{copy.bytes:,} bytes"
        notes.append(f"{size} are asked for from {copy.start} to {copy.end}, the last has come at {copy.landed}")
    return ", ".join(notes)


def _step(found: _Found, one: Issued, cycle: int, what: str, start: int, end: int, words: str) -> Step:
    line = found.document.program[one.pc]
    return Step(cycle, one.warp, one.pc, line.name, what, start, end, words, one.id, line.offset)
