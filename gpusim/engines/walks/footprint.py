"""The memory footprint of a launch: how often each instruction executes, and the distinct sectors of every buffer.

If a block's index only moves its global addresses by whole sectors, the first block represents all blocks; otherwise
each block is executed without time. So it is where the copy engine copies: a copy touches the bytes of its box that lie
in the tensor. Blocks of a cluster are executed together, and each touches sectors of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.walk.marks import ASKED, BOXED
from isa.dataflow.block_step import block_steps
from isa.dataflow.moving import STILL, Step
from isa.executing.faults import LIMIT
from isa.executing.places import BASES, lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, bases, length
from isa.program import WORD_BYTES
from isa.row import GLOBAL_UNITS, Bulk, Row, Unit
from isa.support import frozen

PENDING = 1 << 20  # numbers that wait until duplicates are removed
ADDRESSES = 1 << 32  # bytes that addresses reach
MOVING = Bulk.LOAD, Bulk.STORE, Bulk.REDUCE, Bulk.NEARBY
SECTORED = GLOBAL_UNITS | {Unit.TEXTURE}
Touched = Mapping[tuple[str, bool], int]  # distinct sectors, by buffer and whether they are written


@frozen.comparable
@dataclass(frozen=True)
class Footprint:
    """The footprint of a launch; `counts` and `active` are sums over its blocks.

    `of_blocks` counts a sector once for each block that touches it, `of_launch` once in all.
    """

    counts: NDArray[np.int64]  # [pc] warp instructions
    active: NDArray[np.int64]  # [pc] thread instructions whose guard was true
    buffers: Mapping[int, frozenset[str]]  # by pc of an access to global memory
    words: Mapping[int, NDArray[np.int64]]  # by pc of an access to shared or local memory: its words, shared first
    copied: Mapping[
        int, int
    ]  # by pc of a command of the copy engine: bytes of shared memory, of each block that gets them
    spaces: Mapping[int, Mapping[Unit, int]]  # by pc of a generic access: threads in shared and local memory
    of_blocks: Touched
    of_launch: Touched


@dataclass(eq=False)
class _Distinct:
    """Numbers, from which duplicates are removed from time to time."""

    parts: list[NDArray[np.int64]] = field(default_factory=list)
    size: int = 0

    def add(self, numbers: NDArray[np.int64]) -> None:
        self.add_distinct(np.unique(numbers))

    def add_distinct(self, numbers: NDArray[np.int64]) -> None:
        self.parts.append(numbers)
        self.size += len(self.parts[-1])
        if self.size > PENDING:
            self.parts = [self.numbers()]
            self.size = 0

    def numbers(self) -> NDArray[np.int64]:
        if len(self.parts) == 1:  # as for most blocks, of which a large grid has many
            return self.parts[0]
        return np.unique(np.concatenate(self.parts)) if self.parts else np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Everything touched so far; `sectors` are those of the running blocks, by rank and pc, `marked` the launch's."""

    kernel: Kernel
    steps: Mapping[int, Step] | None
    starts: NDArray[np.int64]  # first sector of each buffer
    sectors: dict[tuple[int, int], _Distinct]
    copied: Counter[int]
    words: dict[int, _Distinct]
    spaces: dict[int, Counter[Unit]]
    buffers: dict[int, set[str]]
    of_blocks: Counter[tuple[str, bool]]
    marked: Mapping[bool, NDArray[np.bool_]]  # by whether they are written, [sector]


def footprint(kernel: Kernel, *, limit: int = LIMIT) -> Footprint:
    """Return the footprint of the launch.

    Raises what program_order.walk raises, for the addresses and branches of its blocks; LimitError beyond `limit` warp
    instructions in one of them.
    """
    from gpusim.engines.walks.program_order import walk as in_order  # noqa: PLC0415  (--help waits for no compiler)

    walk = _new_walk(kernel)
    blocks = None if walk.steps is None else (0,)
    run = in_order(
        kernel,
        blocks,
        partial(_note, walk),
        addresses=True,
        started=lambda _: _close(walk),
        limit=limit,
        **_of_copies(walk),
    )
    _close(walk)
    times = 1 if walk.steps is None else kernel.blocks
    return Footprint(
        counts=run.counts * times,
        active=run.active * times,
        buffers={pc: frozenset(names) for pc, names in walk.buffers.items()},
        words={pc: found.numbers() for pc, found in walk.words.items()},
        copied=dict(walk.copied),
        spaces={pc: {unit: n * times for unit, n in found.items()} for pc, found in walk.spaces.items()},
        of_blocks={key: count * times for key, count in walk.of_blocks.items()},
        of_launch={(name, w): n for w in (False, True) for name, n in _by_buffer(walk, np.flatnonzero(walk.marked[w]))},
    )


def _of_copies(walk: _Walk) -> dict[str, Any]:
    """Return what a walk gets in addition if the copy engine has work, or blocks run together."""
    rows = [one.row for one in walk.kernel.program.instructions]
    wanted = np.array([BOXED * (row.bulk in MOVING) for row in rows] + [0], np.int64)
    if not wanted.any() and walk.kernel.cluster_blocks == 1:
        return {}
    return {"wanted": wanted, "marked": partial(_note_copy, walk), "released": lambda _: None}


def _note_copy(
    walk: _Walk, mark: int, pc: int, warps: NDArray[np.int64], words: NDArray[np.uint32], _active: object
) -> None:
    """Add the shared memory that copies write or read, or the sectors that they touch."""
    for warp, row in zip(warps.tolist(), words.astype(np.int64), strict=True):
        if mark == ASKED:
            walk.copied[pc] += int(row[5]) * max(1, int(row[4]).bit_count())
            if walk.kernel.program.instructions[pc].row.bulk is Bulk.LOAD:
                first = int(row[1]) % max(1, walk.kernel.program.shared_bytes)
                walk.words[pc].add(np.arange(first // WORD_BYTES, -(-(first + int(row[2])) // WORD_BYTES)))
        elif mark == BOXED:
            for run in row.reshape(-1, 4).tolist():
                walk.sectors[warp // walk.kernel.warps, pc].add(_of_run(*run))


def _of_run(first: int, size: int, step: int, count: int) -> NDArray[np.int64]:
    """Return the sectors of so many rows of a box, of `size` bytes each, `step` bytes apart as a word has it."""
    begins = first + (step - (step >> 31 << 32)) * np.arange(count)
    found = begins[:, None] // SECTOR_BYTES + np.arange(size // SECTOR_BYTES + 2)
    return np.asarray(found[found <= (begins[:, None] + size - 1) // SECTOR_BYTES], np.int64)


def _note(
    walk: _Walk, pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]
) -> None:
    """Add the words and sectors that one memory instruction touches, apart for each block of a cluster."""
    if walk.kernel.cluster_blocks == 1:
        _note_of(walk, 0, pc, addresses, active)
        return
    ranks = warps // walk.kernel.warps
    for rank in np.unique(ranks).tolist():
        _note_of(walk, rank, pc, addresses[ranks == rank], active[ranks == rank])


def _note_of(walk: _Walk, rank: int, pc: int, addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
    row, program = walk.kernel.program.instructions[pc].row, walk.kernel.program
    found = addresses[:, 0] if row.unit is Unit.SMEM else addresses[active]
    if row.generic and program.leaves_global:
        found = _note_near(walk, pc, found)
    if row.unit in SECTORED:
        walk.sectors[rank, pc].add(_units(row, found, SECTOR_BYTES))
    else:
        walk.words[pc].add(_words(walk.kernel, row, row.unit, found))


def _note_near(walk: _Walk, pc: int, found: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Add the words of a generic access's lanes in shared and local memory; return the others' addresses."""
    row = walk.kernel.program.instructions[pc].row
    for unit in (Unit.SHARED, Unit.LOCAL):
        near = found[lanes_in(unit, found)] - np.uint32(BASES[unit])
        if len(near):
            walk.words[pc].add(_words(walk.kernel, row, unit, near))
            walk.spaces[pc][unit] += len(near)
    return found[lanes_in(Unit.GLOBAL, found)]


def _words(kernel: Kernel, row: Row, unit: Unit, found: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the words of accesses to shared or local memory; those of local memory follow those of shared memory."""
    before = kernel.program.shared_bytes // WORD_BYTES if unit is Unit.LOCAL else 0
    return _units(row, found, WORD_BYTES) + before


def _new_walk(kernel: Kernel) -> _Walk:
    starts = np.array([base // SECTOR_BYTES for base in bases(kernel.buffers).values()], np.int64)
    sectors = -(-WORD_BYTES * length(kernel) // SECTOR_BYTES)
    marked = {written: np.zeros(sectors, np.bool_) for written in (False, True)}
    seen, words = defaultdict[tuple[int, int], _Distinct](_Distinct), defaultdict[int, _Distinct](_Distinct)
    spaces = defaultdict[int, Counter[Unit]](Counter)
    return _Walk(
        kernel, _sector_steps(kernel), starts, seen, Counter(), words, spaces, defaultdict(set), Counter(), marked
    )


def _sector_steps(kernel: Kernel) -> Mapping[int, Step] | None:
    """Return by pc how far a block's index moves global accesses, if only by whole sectors; else None."""
    rows = [i.row for i in kernel.program.instructions]
    each = kernel.cluster_blocks > 1 or any(row.unit is Unit.TEXTURE or row.bulk for row in rows)
    steps = None if each else block_steps(kernel)
    moved = {pc: step for pc, step in (steps or {}).items() if rows[pc].unit in GLOBAL_UNITS}
    whole = not any(part % SECTOR_BYTES for step in moved.values() for part in step)
    return moved if steps is not None and whole else None


def _units(row: Row, addresses: NDArray[np.uint32], nbytes: int) -> NDArray[np.int64]:
    """Return the numbers of the `nbytes`-sized units that accesses at these addresses touch."""
    offsets = np.arange(0, row.accessed_bytes, WORD_BYTES)
    return np.asarray((addresses.astype(np.int64)[:, None] + offsets).ravel() // nbytes, np.int64)


def _close(walk: _Walk) -> None:
    """Add the running block's sectors to those of all blocks, and to those of the launch."""
    rows = [one.row for one in walk.kernel.program.instructions]
    for written in (False, True):
        moving: dict[Step, _Distinct] = defaultdict(_Distinct)
        of_rank: dict[int, _Distinct] = defaultdict(_Distinct)
        for (rank, pc), found in walk.sectors.items():
            if (rows[pc].is_store or rows[pc].bulk in (Bulk.STORE, Bulk.REDUCE)) == written:
                sectors = found.numbers()
                walk.buffers[pc].update(name for name, _ in _by_buffer(walk, sectors))
                moving[(walk.steps or {}).get(pc, STILL)].add_distinct(sectors)
                of_rank[rank].add_distinct(sectors)
        for touched in of_rank.values():
            for name, count in _by_buffer(walk, touched.numbers()):
                walk.of_blocks[name, written] += count
        for step, group in moving.items():
            for shift in _shifts(walk.kernel, step):
                walk.marked[written][(group.numbers() + shift) % (ADDRESSES // SECTOR_BYTES)] = True
    walk.sectors.clear()


def _by_buffer(walk: _Walk, sectors: NDArray[np.int64]) -> Iterator[tuple[str, int]]:
    """Yield how many of the sectors each buffer has, if any."""
    counts = np.bincount(np.searchsorted(walk.starts, sectors, side="right"), minlength=len(walk.starts) + 1)
    yield from ((b.name, n) for b, n in zip(walk.kernel.buffers, counts[1:].tolist(), strict=True) if n)


def _shifts(kernel: Kernel, step: Step) -> set[int]:
    """Return by how many sectors the grid's blocks move the first block's sectors, modulo the address space."""
    indices = product(*(range(size if part else 1) for size, part in zip(kernel.grid, step, strict=True)))
    return {sum(i * part for i, part in zip(at, step, strict=True)) % ADDRESSES // SECTOR_BYTES for at in indices}
