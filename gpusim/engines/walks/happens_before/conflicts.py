"""Accesses to shared memory that conflict: what is kept of them, and what is told."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.happens_before import known as knowledge
from gpusim.engines.walks.happens_before.known import Kind, Known, Words
from isa.executing import clusters
from isa.kernel import Kernel
from isa.program import WORD_BYTES
from isa.row import Bulk, Groups, Row, Signal, Unit
from isa.text.printer import named, text_of

# What is under way by its text, and what waits for it. Others wait for nothing.
WAITS = (
    (re.compile(r"\bLDGSTS\b"), "the copy", "cp.async.wait_group, DEPBAR.LE SB0"),
    (re.compile(r"\b(UBLKCP\.S\.[GS]|UTMALDG)\b"), "the phase of its barrier", "mbarrier.try_wait, SYNCS.PHASECHK"),
    (re.compile(r"\b(UBLKCP|UTMASTG|UBLKRED|UTMAREDG)\b"), "its group", "cp.async.bulk.wait_group.read, DEPBAR.LE SB0"),
    (re.compile(r"\b[HIQB]GMMA\b"), "the product", "wgmma.wait_group, WARPGROUP.DEPBAR"),
)
ASYNC_LOADS = re.compile(r"\b(LDGSTS|UBLKCP\.S\.[GS]|UTMALDG)\b")


@dataclass(frozen=True, slots=True)
class Access:
    """One side of a race; `line` is 0 if the program has no text, `place` has the instruction in words."""

    warp: int
    pc: int
    line: int
    writes: bool
    text: str
    place: str
    block: int

    def __str__(self) -> str:
        """Return the access in one phrase."""
        return f"warp {self.warp} {'writes' if self.writes else 'reads'} it at {self.place}"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses to the shared 32-bit word of a block at byte `address`, at least one a write.

    With work that goes on by itself, such as an asynchronous copy, they may be the same warp's.
    """

    block: int
    address: int
    first: Access
    second: Access

    def __str__(self) -> str:
        """Return one line that names both instructions and the fix."""
        sides = [
            f"{'' if one.block == self.block else f'block {one.block} '}{one}" for one in (self.first, self.second)
        ]
        what = f"race in block {self.block} on the shared word at {self.address:#x}: {', '.join(sides)}"
        awaited = awaited_by(self.first.text)
        wait = f"wait for {awaited}" if awaited else ""
        if (self.first.block, self.first.warp) == (self.second.block, self.second.warp) and wait:
            return f"{what}; {wait} between the two"
        if ASYNC_LOADS.search(self.second.text) and not self.first.writes:
            first = f"{wait}, then " if wait else ""
            return f"{what}; {first}arrive at a barrier (BAR.SYNC, mbarrier) for which the copy's warp waits"
        if "SYNCS" in wait:
            return f"{what}; {wait} between the two"
        return f"{what}; {f'{wait} and then ' if wait else ''}put a BAR.SYNC that both warps reach between the two"


def awaited_by(text: str) -> str:
    """Return what must be waited for before others use what an instruction has under way, and how; none: nothing."""
    return next((f"{of} ({by})" for pattern, of, by in WAITS if pattern.search(text)), "")


@dataclass(slots=True)
class Conflict:
    """A race, or an access that misses a fence, and how often it occurred.

    `waited`: what the first of the two had under way has been waited for by somebody.
    """

    race: Race
    unfenced: bool
    waited: bool
    times: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """The words that an instruction accesses, or their parts, each with its warp."""

    pc: int
    words: Words
    warps: Words


@dataclass(eq=False)
class Watch:
    """The accesses so far in the running block or cluster; `fresh` marks words written since a barrier of all warps.

    Words are told apart, or where an access takes less, parts of `size` bytes. A block has `span` bytes.
    """

    kernel: Kernel
    compared: frozenset[int]  # pcs of the loads whose word a compare-and-swap expects
    size: int
    span: int
    block: int
    found: dict[tuple[int, int, bool], Conflict]
    among_atomics: bool  # whether two atomics count as well
    known: Known
    fresh: NDArray[np.bool_]
    later: bool = False  # words may be written, or read, in any epoch, by what goes on by itself
    closed: dict[tuple[Groups, int], list[int]] = field(default_factory=dict)  # epochs of a warp's groups
    ended: dict[int, NDArray[np.int32]] = field(default_factory=dict)  # clocks of the last phase of a barrier
    waiting: dict[int, list[int]] = field(default_factory=dict)  # warps, by the barrier whose phase they wait for
    met: list[NDArray[np.int32]] = field(default_factory=list)  # clocks of those who have come to the cluster's barrier
    times: dict[int, int] = field(default_factory=dict)  # how often each warp has
    passing: set[int] = field(default_factory=set)  # warps that wait there, or have passed and done nothing since
    read: dict[tuple[int, ...], Words] = field(default_factory=dict)  # bytes that products read, by their descriptors

    def touch(self, pc: int, places: Words, nbytes: int, warps: Words) -> Touch:
        """Return the words of accesses of so many bytes at places, each by a warp."""
        words, parts = places // self.size, nbytes // self.size
        if parts == 1:
            return Touch(pc, words, warps)
        return Touch(pc, (words[:, None] + np.arange(parts)).ravel(), np.repeat(warps, parts))

    def range(self, place: int, nbytes: int) -> Words:
        """Return the words of so many bytes."""
        return np.arange(place // self.size, -(-(place + nbytes) // self.size))


def watch_of(
    kernel: Kernel,
    compared: frozenset[int],
    block: int,
    found: dict[tuple[int, int, bool], Conflict],
    *,
    among_atomics: bool,
) -> Watch:
    """Return a watch of a block, or of the cluster whose first one it is, that has seen nothing."""
    program = kernel.program
    sizes = [i.row.nbytes for i in program.instructions if Unit.SHARED in program.memories(i.row) and i.row.nbytes]
    size = min(WORD_BYTES, *sizes) if sizes else WORD_BYTES
    span = program.shared_bytes // WORD_BYTES * WORD_BYTES
    words = kernel.cluster_blocks * span // size
    clocks = knowledge.nothing(kernel.warps * kernel.cluster_blocks, words)
    fresh = np.zeros(words, np.bool_)
    return Watch(kernel, compared, size, span, block, found, among_atomics, clocks, fresh)


def access(watch: Watch, touch: Touch, row: Row) -> None:
    """Record an access first, so that warps that store together are compared, then compare it with earlier ones."""
    kind = _kind(watch, touch.pc, row)
    knowledge.record(watch.known, kind, touch.words, touch.warps, touch.pc)
    if row.is_store:
        watch.fresh[touch.words] = True
    if row.is_store or watch.later or watch.fresh[touch.words].any():
        for earlier in conflicting(watch, kind, writes=row.is_store):
            compare(watch, earlier, touch, watch.known.order[touch.warps])


def join(watch: Watch, warps: NDArray[np.int64]) -> None:
    """Let a barrier release warps."""
    knowledge.meet(watch.known, warps)
    if len(warps) == watch.known.warps:
        watch.fresh[:] = False


def _kind(watch: Watch, pc: int, row: Row) -> Kind:
    """Return which kind of access an instruction's is."""
    if row.update:
        return "atomics"
    if row.is_store:
        return "writes"
    return "expected" if pc in watch.compared else "reads"


def conflicting(watch: Watch, kind: Kind, *, writes: bool) -> list[Kind]:
    """Return the kinds of accesses that an access of that kind races with: one of the two is a store."""
    atomics = watch.among_atomics or kind not in ("atomics", "expected")
    kinds: tuple[tuple[Kind, bool], ...] = (
        ("reads", writes),
        ("expected", writes and atomics),
        ("writes", True),
        ("atomics", atomics),
    )
    return [kind for kind, compared in kinds if compared]


def compare(watch: Watch, kind: Kind, touch: Touch, clocks: NDArray[np.int32]) -> None:
    """Add the conflicts with earlier accesses: those of epochs that the accessing actor's clock has not reached."""
    past = watch.known.past[kind]
    _add(watch, kind, touch, past.epoch[touch.words] > clocks, unfenced=False)


def look_for_fences(watch: Watch, kind: Kind, touch: Touch, warp: int) -> None:
    """Add earlier accesses by warps that are over, but that copies and matrix instructions of the warp do not see."""
    known = watch.known
    epochs = known.past[kind].epoch[touch.words, : known.warps]
    order, seen = known.order[warp, : known.warps], known.seen[warp, : known.warps]
    _add(watch, kind, touch, (epochs <= order) & (epochs > seen), unfenced=True)


def _add(watch: Watch, kind: Kind, touch: Touch, bad: NDArray[np.bool_], *, unfenced: bool) -> None:
    here, other = np.nonzero(bad)
    if not len(here):
        return
    past = watch.known.past[kind]
    pcs, first = np.unique(past.pc[touch.words[here], other], return_index=True)
    for earlier, k in zip(pcs.tolist(), first.tolist(), strict=True):
        pair = (min(earlier, touch.pc), max(earlier, touch.pc), unfenced)
        if pair in watch.found:
            watch.found[pair].times += 1
        else:
            word, actor = int(touch.words[here[k]]), int(other[k])
            watch.found[pair] = _conflict(watch, past, word, (earlier, actor), touch, int(here[k]), unfenced)


def _conflict(
    watch: Watch, past: knowledge.Past, word: int, earlier: tuple[int, int], touch: Touch, at: int, unfenced: bool
) -> Conflict:
    """Return a conflict on a word, between an access by its pc and actor and the one that is made now."""
    known, (pc, actor) = watch.known, earlier
    before, now = _side(watch, known.owner[actor], pc, word), _side(watch, int(touch.warps[at]), touch.pc, word)
    rank, byte = divmod(word * watch.size, max(watch.span, 1))
    race = Race(_block(watch, rank), byte // WORD_BYTES * WORD_BYTES, before, now)
    waited = actor < known.warps or bool((known.order[: known.warps, actor] >= past.epoch[word, actor]).any())
    return Conflict(race, unfenced, waited)


def _block(watch: Watch, rank: int) -> int:
    """Return the number in the grid of a block of the cluster."""
    if watch.kernel.cluster_blocks == 1:
        return watch.block
    return clusters.block_of(watch.kernel, clusters.of_block(watch.kernel, watch.block)[0], rank)


def _side(watch: Watch, warp: int, pc: int, word: int) -> Access:
    program, (_, line) = watch.kernel.program, watch.kernel.program.source(pc)
    row, (rank, index) = program.instructions[pc].row, divmod(warp, watch.kernel.warps)
    places = row.copies or row.bulk is Bulk.LOAD or (row.bulk is Bulk.NEARBY and _is_target(watch, word))
    writes = row.is_store or places or row.signal is Signal.BEGIN
    return Access(index, pc, line, writes, text_of(program, pc), named(program, pc), _block(watch, rank))


def _is_target(watch: Watch, word: int) -> bool:
    """Tell whether a copy within shared memory has written a word, not read it."""
    return bool(watch.known.past["writes"].epoch[word, watch.known.warps :].any())
