"""Find races: accesses of different warps to the same shared word that no barrier orders.

Each warp has a vector clock (Mattern, Parallel and Distributed Algorithms, 1989): entry v is the last epoch of warp v
that is certainly earlier. A barrier joins the clocks of the warps that it releases, and each starts a new epoch.

The copies that a warp has under way are an actor of their own, which knows what the warp knew when it issued the last
of them. Its clock counts groups: a wait for groups lets the warp know of them, and a barrier then others. So a stage
that is read before its copy is waited for is a race, and so is one that is copied to while others may still read it.

Only the latest read and the latest write are kept per word and warp: if the latest is ordered before an access, so are
those before it. So every word with a race is reported, but not each pair of instructions that conflict there within one
epoch. Two atomics are no race: the memory serves them one after the other. A load whose word a compare-and-swap then
expects counts as an atomic against stores: if another has come between, the swap fails. Compiled loops for float
atomics have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.dataflow.flow import writes
from isa.dataflow.reaching import onward, reached
from isa.dataflow.waits.counted_groups import awaits_all
from isa.executing.faults import LIMIT
from isa.executing.places import lanes_in
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Immediate, Register
from isa.operands.windows import SHARED_PLACE
from isa.program import WORD_BYTES, Program
from isa.row import WAITS, Row, Unit
from isa.support.once import once
from isa.text.printer import named, text_of
from isa.values.atomic import compare_and_swap

COPY = re.compile(r"\bLDGSTS\b")


@dataclass(frozen=True, slots=True)
class Access:
    """One side of a race; `line` is 0 if the program has no text, `place` has the instruction in words."""

    warp: int
    pc: int
    line: int
    writes: bool
    text: str
    place: str

    def __str__(self) -> str:
        """Return the access in one phrase."""
        return f"warp {self.warp} {'writes' if self.writes else 'reads'} it at {self.place}"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses of one block to the shared 32-bit word at byte `address`, at least one a write.

    With an asynchronous copy they may be the same warp's.
    """

    block: int
    address: int
    first: Access
    second: Access

    def __str__(self) -> str:
        """Return one line that names both instructions and the fix."""
        what = f"race in block {self.block} on the shared word at {self.address:#x}: {self.first}, {self.second}"
        if self.first.warp == self.second.warp:
            return f"{what}; wait for the copy between the two (cp.async.wait_group, DEPBAR.LE SB0)"
        copies = any(COPY.search(one.text) for one in (self.first, self.second) if one.writes)
        wait = "wait for the copy and then " if copies else ""
        return f"{what}; {wait}put a BAR.SYNC that both warps reach between the two"


@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """Epoch and pc of the latest access of a kind, [word, warp]; epoch 0: none."""

    epoch: NDArray[np.int32]
    pc: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Touch:
    """The words that an instruction accesses, or their parts, each with its warp."""

    pc: int
    words: NDArray[np.int64]
    warps: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _History:
    """The accesses so far in the running block; `fresh` marks words written since a barrier of the whole block.

    Words are told apart, or where an access takes less, parts of `size` bytes.
    """

    kernel: Kernel
    compared: frozenset[int]  # pcs of the loads whose word a compare-and-swap expects
    size: int
    block: int
    found: dict[tuple[int, int], Race]
    among_atomics: bool  # whether two atomics count as well
    clock: NDArray[np.int32]  # [warp, warp]; behind warps their copies
    fresh: NDArray[np.bool_]
    reads: _Past
    expected: _Past  # reads of words that a compare-and-swap expects
    writes: _Past
    atomics: _Past
    copies: bool  # whether the program has asynchronous copies: words may be written in any epoch
    closed: NDArray[np.int32]  # [warp] groups of copies


def races(kernel: Kernel, blocks: Iterable[int] | None = None, *, limit: int = LIMIT) -> list[Race]:
    """Return the races in `blocks` (None: all), one for each pair of instructions, in the order of discovery.

    Raises what `walk` raises, such as LimitError beyond `limit` warp instructions in one block.
    """
    found: dict[tuple[int, int], Race] = {}
    _search(kernel, blocks, limit, found, among_atomics=False, enough=lambda: False)
    return list(found.values())


def unordered(kernel: Kernel, blocks: Iterable[int], wanted: Set[int], limit: int) -> set[int]:
    """Return which wanted accesses to shared memory no barrier orders, two atomics on one word among them.

    Raises as `races` does.
    """
    found: dict[tuple[int, int], Race] = {}

    def known() -> set[int]:
        return {pc for pair in found for pc in pair if pc in wanted}

    with suppress(StopIteration):
        _search(kernel, blocks, limit, found, among_atomics=True, enough=lambda: len(known()) == len(wanted))
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


def _search(
    kernel: Kernel,
    blocks: Iterable[int] | None,
    limit: int,
    found: dict[tuple[int, int], Race],
    *,
    among_atomics: bool,
    enough: Callable[[], bool],
) -> None:
    """Add the races by their pcs, in the order of discovery; raises StopIteration once these are enough."""
    from gpusim.engines.walks.program_order import walk  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.sm.walk.access_log import CLOSED, PLACED  # noqa: PLC0415

    leaves = kernel.program.leaves_global
    history: list[_History] = []

    def started(block: int) -> None:
        history[:] = [_new_history(kernel, block, found, among_atomics)]

    def observe(pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        row = kernel.program.instructions[pc].row
        if row.generic and leaves:
            active = active & lanes_in(Unit.SHARED, addresses)
            addresses = addresses - np.uint32(SHARED_PLACE)
        known = len(found)
        if row.unit is Unit.SHARED or (row.generic and leaves and active.any()):
            _access(history[0], _touch(pc, row.accessed_bytes, history[0].size, warps, addresses, active), row)
        if len(found) > known and enough():
            raise StopIteration

    def released(warps: NDArray[np.int64]) -> None:
        _join(history[0], warps)

    def marked(
        mark: int, pc: int, warps: NDArray[np.int64], places: NDArray[np.uint32], active: NDArray[np.bool_]
    ) -> None:
        known, row = len(found), kernel.program.instructions[pc].row
        if mark == PLACED:
            _copy(history[0], _touch(pc, row.nbytes, history[0].size, warps, places, active))
        elif mark == CLOSED:
            history[0].closed[warps] += 1
        else:
            _await(history[0], pc, warps)
        if len(found) > known and enough():
            raise StopIteration

    copies = _copies(kernel)
    walk(
        kernel,
        blocks,
        observe,
        addresses=not copies,  # their places in shared memory too
        started=started,
        released=released,
        marked=marked if copies else None,
        limit=limit,
    )


def _copies(kernel: Kernel) -> bool:
    """Tell whether the program has asynchronous copies."""
    return any(i.row.copies for i in kernel.program.instructions)


def _new_history(kernel: Kernel, block: int, found: dict[tuple[int, int], Race], among_atomics: bool) -> _History:
    sizes = [i.row.nbytes for i in kernel.program.instructions if Unit.SHARED in kernel.program.memories(i.row)]
    size = min(WORD_BYTES, *sizes) if sizes else WORD_BYTES
    copies = _copies(kernel)
    words, warps = -(-kernel.program.shared_bytes // size), kernel.warps * (1 + copies)
    pasts = [_Past(np.zeros((words, warps), np.int32), np.zeros((words, warps), np.int32)) for _ in range(4)]
    clock, fresh = np.eye(warps, dtype=np.int32), np.zeros(words, np.bool_)
    closed = np.zeros(kernel.warps, np.int32)
    known = compared(kernel.program)
    past = dict(zip(("reads", "expected", "writes", "atomics"), pasts, strict=True))
    return _History(
        kernel, known, size, block, found, among_atomics, clock, fresh, **past, copies=copies, closed=closed
    )


def _touch(
    pc: int,
    nbytes: int,
    size: int,
    warps: NDArray[np.int64],
    addresses: NDArray[np.uint32],
    active: NDArray[np.bool_],
) -> _Touch:
    of, lanes = np.nonzero(active)
    words, parts = addresses[of, lanes].astype(np.int64) // size, nbytes // size
    if parts == 1:
        return _Touch(pc, words, warps[of])
    return _Touch(pc, (words[:, None] + np.arange(parts)).ravel(), np.repeat(warps[of], parts))


def _access(history: _History, touch: _Touch, row: Row) -> None:
    """Record an access first, so that warps that store together are compared, then compare it with earlier ones."""
    past = _past(history, touch.pc, row)
    past.epoch[touch.words, touch.warps] = history.clock[touch.warps, touch.warps]
    past.pc[touch.words, touch.warps] = touch.pc
    if row.is_store:
        history.fresh[touch.words] = True
    if row.is_store or history.fresh[touch.words].any():
        for earlier in _conflicting(history, past, writes=row.is_store):
            _compare(history, earlier, touch)


def _copy(history: _History, touch: _Touch) -> None:
    """Record what warps' copies will write, by their actors, which know what the warps know now."""
    count = history.kernel.warps
    for warp in np.unique(touch.warps).tolist():
        clock = history.clock
        clock[count + warp] = np.maximum(clock[count + warp], clock[warp])
        clock[count + warp, count + warp] = history.closed[warp] + 1
    written = _Touch(touch.pc, touch.words, touch.warps + count)
    past = history.writes
    past.epoch[written.words, written.warps] = history.clock[written.warps, written.warps]
    past.pc[written.words, written.warps] = touch.pc
    history.fresh[written.words] = True
    for earlier in _conflicting(history, past, writes=True):
        _compare(history, earlier, written)


def _await(history: _History, pc: int, warps: NDArray[np.int64]) -> None:
    """Let warps know of their copies in the groups for which they wait."""
    instruction, count = history.kernel.program.instructions[pc], history.kernel.warps
    numbers = [o.bits for o in instruction.operands if isinstance(o, Immediate)]
    waits = instruction.row.grouping & WAITS and not awaits_all(history.kernel.program, instruction)
    done = history.closed[warps] - (numbers[0] if waits else 0)
    history.clock[warps, count + warps] = np.maximum(history.clock[warps, count + warps], done)


def _past(history: _History, pc: int, row: Row) -> _Past:
    """Return the accesses of the kind that an instruction's is."""
    if row.update:
        return history.atomics
    if row.is_store:
        return history.writes
    return history.expected if pc in history.compared else history.reads


def _conflicting(history: _History, past: _Past, *, writes: bool) -> list[_Past]:
    """Return the kinds of accesses that an access of that kind races with: one of the two is a store."""
    as_atomic = past is history.atomics or past is history.expected
    atomics = history.among_atomics or not as_atomic
    loads = [history.reads, *([history.expected] if atomics else [])] if writes else []
    return [*loads, history.writes, *([history.atomics] if atomics else [])]


def _compare(history: _History, past: _Past, touch: _Touch) -> None:
    """Add the races with earlier accesses: those of epochs that the accessing warp's clock has not reached."""
    here, other = np.nonzero(past.epoch[touch.words] > history.clock[touch.warps])
    pcs, first = np.unique(past.pc[touch.words[here], other], return_index=True)
    for earlier, k in zip(pcs.tolist(), first.tolist(), strict=True):
        pair = (min(earlier, touch.pc), max(earlier, touch.pc))
        if pair not in history.found:
            before = _side(history.kernel, int(other[k]), earlier)
            now = _side(history.kernel, int(touch.warps[here[k]]), touch.pc)
            address = int(touch.words[here[k]]) * history.size // WORD_BYTES * WORD_BYTES
            history.found[pair] = Race(history.block, address, before, now)


def _side(kernel: Kernel, warp: int, pc: int) -> Access:
    program, (_, line) = kernel.program, kernel.program.source(pc)
    row = program.instructions[pc].row
    writes = row.is_store or row.copies
    return Access(warp % kernel.warps, pc, line, writes, text_of(program, pc), named(program, pc))


def _join(history: _History, warps: NDArray[np.int64]) -> None:
    """Order everything before the barrier before everything after it, for the warps that it releases."""
    history.clock[warps] = history.clock[warps].max(axis=0)
    history.clock[warps, warps] += 1
    if len(warps) == len(history.clock):  # not where copies may write later
        history.fresh[:] = False
