"""Which sectors of global memory blocks touch, each counted once: loaded, read before they are written, or stored.

Blocks are run in program order, for addresses alone. Where these are too many accesses, blocks inside the grid are
taken to touch what the middle one does, as far further on as data flow says; where it does not say so, some are run.
So counts are exact, or below what the launch touches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Rows, Walker, lanes_of, run_block, walker
from gpusim.launch.feed import recordable
from gpusim.sm.walk.access_log import FIRST, PC, RELEASE, WARP
from gpusim.sm.walk.marks import BOXED, MARK
from isa.dataflow.memory.address_steps import linear_steps
from isa.dataflow.moving import STILL, Step
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.row import Bulk, Unit
from isa.support.once import once

ROWS = 400_000  # accesses of all blocks up to which each block is run: about a second
SECTORS = 1 << 25  # of all blocks that are moved
Numbers = NDArray[np.int64]
PCS = 20  # bits of an instruction's number, below a sector's
MASK = (1 << PCS) - 1
ADDRESSES = 1 << 32  # bytes that addresses reach
MARKED = Bulk.LOAD, Bulk.STORE, Bulk.REDUCE  # commands of the copy engine whose boxes are seen
# What an instruction does to sectors: load them through the L1 or past it, others perhaps bringing them; store, update.
NOTHING, NEAR, FAR, NEAR_OF_OTHERS, FAR_OF_OTHERS, STORED, UPDATED = range(7)
Kinds = tuple[int, ...]  # by pc
Blocks = tuple[int, ...]
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Touched:
    """Distinct sectors in ascending order: their numbers, or these above PCS bits for the first instruction.

    `read`: each warp that touches the sector loads it before it stores; `others`: a store may come first.
    """

    near: Numbers = field(default_factory=lambda: _NONE)  # by instruction: loaded through the L1
    read: Numbers = field(default_factory=lambda: _NONE)  # by instruction
    stored: Numbers = field(default_factory=lambda: _NONE)  # by instruction
    others: Numbers = field(default_factory=lambda: _NONE)
    updated: Numbers = field(default_factory=lambda: _NONE)  # by atomics
    elsewhere: Numbers = field(default_factory=lambda: _NONE)  # instructions that may store elsewhere in other blocks
    own: Numbers = field(default_factory=lambda: _NONE)  # by instruction: one of each load new to its warp and its own
    again: Numbers = field(default_factory=lambda: _NONE)  # instructions that load others, too
    pieces: Numbers = field(default_factory=lambda: _NONE)  # what caches bring together
    common: Numbers = field(default_factory=lambda: _NONE)  # pieces that several blocks touch


@dataclass(frozen=True, eq=False)
class _Asked:
    """The kernel whose blocks are looked at, what its instructions do, and by how much they move from block to block.

    Without `steps` each block is run.
    """

    kernel: Kernel
    kinds: NDArray[np.int64]
    piece: int  # sectors that caches bring together, at most
    steps: Mapping[int, Step]


class _Events(NamedTuple):
    """What warps do to sectors, in their order."""

    sector: Numbers
    warp: Numbers
    pc: Numbers
    access: Numbers  # a number for each


@once
def touched(kernel: Kernel, groups: tuple[Blocks, ...], kinds: Kinds, piece: int, limit: int) -> tuple[Touched, ...]:
    """Return what each group of blocks touches at least, by what instructions do.

    Caches bring so many sectors together as a `piece` has, at most.

    Raises as a walk in program order does, for the blocks that are run; LimitError beyond `limit` warp instructions in
    one of them.
    """
    one, asked = walker(kernel, addresses=True), _Asked(kernel, np.array(kinds), piece, {})
    return tuple(_of_some(one, asked, blocks, limit) if blocks else Touched() for blocks in groups)


def _of_some(one: Walker, asked: _Asked, blocks: Sequence[int], limit: int) -> Touched:
    kernel, middle = asked.kernel, blocks[len(blocks) // 2]
    events, rows = _of_block(one, asked, middle, limit)
    steps, most = linear_steps(kernel), max(1, ROWS // max(1, rows))
    if most < len(blocks) and recordable(kernel) and all(pc in steps for pc in np.unique(events.pc).tolist()):
        return _moved(replace(asked, steps=steps), events, middle, blocks)
    some = blocks[:: -(-len(blocks) // most)]
    others = (_sets(asked, _of_block(one, asked, block, limit)[0]) for block in some if block != middle)
    found, writes = joined([_sets(asked, events), *others]), np.flatnonzero(asked.kinds >= STORED)
    return found if len(some) == len(blocks) else replace(found, elsewhere=writes, again=np.arange(len(asked.kinds)))


def joined(parts: Sequence[Touched]) -> Touched:
    """Return what some blocks touch together."""
    every = {each.name: [getattr(one, each.name) for one in parts] for each in fields(Touched)}
    found = {name: distinct(np.concatenate(some)) for name, some in every.items()}
    found |= {name: firsts(found[name]) for name in ("near", "read", "stored")}
    found["read"] = found["read"][~np.isin(found["read"] >> PCS, found["others"])]
    pieces, times = np.unique(np.concatenate(every["pieces"]), return_counts=True)
    found["common"] = distinct(np.append(found["common"], pieces[times > 1]))
    return Touched(**found)


def distinct(numbers: Numbers) -> Numbers:
    """Return distinct numbers in ascending order, as np.unique does, which is slow where hashes of many collide."""
    found = np.sort(numbers, kind="stable")
    begins = np.ones(len(found), np.bool_)
    begins[1:] = found[1:] != found[:-1]
    return found[begins]


def firsts(keys: Numbers, nbytes: int = SECTOR_BYTES) -> Numbers:
    """Return of sorted sectors with instructions the first of each piece of so many bytes."""
    begins: NDArray[np.bool_] = np.diff((keys >> PCS) // (nbytes // SECTOR_BYTES), prepend=-1) != 0
    return keys[begins]


def by_pc(keys: Numbers, length: int) -> Numbers:
    """Return how many sectors each of so many instructions touches first."""
    found: Numbers = np.bincount(keys & MASK, minlength=length)
    return found


def of_lines(keys: Numbers, each: Numbers, least: Numbers, line: int, length: int) -> Numbers:
    """Return by pc what sectors with instructions take: each its own, and all of a line that so many have the least."""
    begins = np.flatnonzero(np.diff((keys >> PCS) // line, prepend=-1))
    more = np.maximum(0, least[begins] - np.add.reduceat(each, begins)) if len(begins) else begins
    pcs = keys & MASK
    found = np.bincount(pcs, each, length) + np.bincount(pcs[begins], more, length)
    return np.asarray(found, np.int64)


def _of_block(one: Walker, asked: _Asked, block: int, limit: int) -> tuple[_Events, int]:
    """Run a block; return what it does, and how many accesses these were."""
    if one.kernel.buffers and not recordable(one.kernel):
        one.again()
    found, rows = list[_Events](), [0]
    code = asked.kernel.program.instructions
    wanted = np.array([BOXED * (i.row.bulk in MARKED) for i in code] + [0], np.int64)

    def tell(some: Rows) -> None:
        found.extend(_events(asked, some, rows[0]))
        rows[0] += len(some)

    run_block(one, block, limit, tell, wanted if wanted.any() else None)
    return _Events(*map(np.concatenate, zip(*found, strict=True))) if found else _Events(*4 * [_NONE]), rows[0]


def _events(asked: _Asked, rows: Rows, before: int) -> Iterator[_Events]:
    """Yield the sectors that accesses touch, once for lanes side by side, and those of the copy engine's boxes.

    Accesses are numbered behind so many before them.
    """
    rows = rows[rows[:, PC] != RELEASE]
    marked = rows[:, PC] >> MARK == BOXED
    if marked.any():
        yield _boxes(rows[marked])
    rows = rows[rows[:, PC] >> MARK == 0]
    rows = rows[asked.kinds[rows[:, PC]] != NOTHING]
    places, active, code = rows[:, FIRST:], lanes_of(rows), asked.kernel.program.instructions
    generic = np.array([i.row.generic for i in code], np.bool_)
    if generic.any():
        active &= ~generic[rows[:, PC], None] | lanes_in(Unit.GLOBAL, places)
    sectors = places >> np.uint32(SECTOR_BYTES.bit_length() - 1)
    active[:, 1:] &= ~(active[:, :-1] & (sectors[:, 1:] == sectors[:, :-1]))
    at, lane = np.nonzero(active)
    numbers = (sectors[at, lane], rows[at, WARP], rows[at, PC], before + at)
    yield _Events(*(each.astype(np.int64) for each in numbers))


def _boxes(rows: Rows) -> _Events:
    """Return the sectors of boxes: some runs of rows each, of a first byte, a size, bytes to the next, and how many."""
    found = list[_Events]()
    for row in rows.astype(np.int64):
        for first, size, step, count in row[FIRST:][: len(row[FIRST:]) // 4 * 4].reshape(-1, 4).tolist():
            begins = first + (step - (step >> 31 << 32)) * np.arange(count)
            each = begins[:, None] // SECTOR_BYTES + np.arange(size // SECTOR_BYTES + 2)
            sectors = distinct(each[each <= (begins[:, None] + size - 1) // SECTOR_BYTES])
            pcs, nobody = np.full(len(sectors), row[PC] & (1 << MARK) - 1), np.full(len(sectors), -1)
            found.append(_Events(sectors, nobody, pcs, nobody))
    return _Events(*map(np.concatenate, zip(*found, strict=True)))


def _sets(asked: _Asked, events: _Events) -> Touched:
    """Return the sectors of a block's events."""
    kind, keys = asked.kinds[events.pc], events.sector << PCS | events.pc
    reads, writes = (kind == NEAR) | (kind == FAR), (kind == STORED) | (kind == UPDATED)
    first, of_others = _read_first(events, reads, writes), (kind == NEAR_OF_OTHERS) | (kind == FAR_OF_OTHERS)
    return Touched(
        near=firsts(distinct(keys[(kind == NEAR) | (kind == NEAR_OF_OTHERS)])),
        read=firsts(distinct(keys[reads & first])),
        stored=firsts(distinct(keys[kind == STORED])),
        others=distinct(events.sector[((reads | writes) & ~first) | of_others]),
        updated=distinct(events.sector[kind == UPDATED]),
        **_new_to_warps(events, events.sector // asked.piece, (kind == NEAR) | (kind == FAR)),
    )


def _new_to_warps(events: _Events, piece: Numbers, loads: NDArray[np.bool_]) -> dict[str, Numbers]:
    """Return the fields that tell which loads are the first to touch a piece that their warp alone touches."""
    order = np.argsort(piece, kind="stable")
    begins = np.flatnonzero(np.diff(piece[order], prepend=-1))
    warp = events.warp[order]
    alone = np.minimum.reduceat(warp, begins) == np.maximum.reduceat(warp, begins) if len(begins) else begins > 0
    new = np.sort(order[begins[alone]])
    new = new[loads[new]]
    new = new[np.flatnonzero(np.diff(events.access[new], prepend=-2))]  # the first one of each access
    others = distinct(events.pc[loads & ~np.isin(events.access, events.access[new])])
    own = distinct(events.sector[new] << PCS | events.pc[new])
    return {"own": own, "again": others, "pieces": distinct(piece)}


def _read_first(events: _Events, reads: NDArray[np.bool_], writes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of each event whether every warp loads its sector before it writes there; the copy engine may come late."""
    both = np.isin(events.sector, events.sector[writes])
    found = ~both
    some = np.flatnonzero(both & np.isin(events.sector, events.sector[reads]))
    some = some[np.lexsort((some, events.warp[some], events.sector[some]))]
    sector, warp = events.sector[some], events.warp[some]
    begins = (np.diff(sector, prepend=-1) != 0) | (np.diff(warp, prepend=-2) != 0)
    late = distinct(sector[(begins & ~reads[some]) | (warp < 0)])
    found[some] = ~np.isin(sector, late)
    return found


def _moved(asked: _Asked, events: _Events, middle: int, blocks: Sequence[int]) -> Touched:
    """Return what blocks inside the grid touch if each does what the middle one does, further on."""
    places = _places(asked.kernel, blocks)
    from_middle, alike = places - places[:, np.array(blocks) == middle], inside(asked.kernel, blocks)
    parts, steps = list[Touched](), [asked.steps.get(pc) for pc in range(len(asked.kinds))]
    for step in set(steps):
        own = np.array([each == step for each in steps], np.bool_)[events.pc]
        group = _sets(asked, _Events(*(each[own] for each in events)))
        by = np.array(step or STILL, np.int64) @ from_middle[:, alike]
        parts.append(_further(group, _whole(by, len(events.sector))))
    unknown = [pc for pc, step in enumerate(steps) if step is None and asked.kinds[pc] in (STORED, UPDATED)]
    every = np.arange(len(asked.kinds))
    return replace(joined(parts), elsewhere=np.array(unknown, np.int64), again=every)


def _places(kernel: Kernel, blocks: Sequence[int]) -> Numbers:
    """Return [axis, block]: where blocks lie in the grid."""
    ids, (x, y, _) = np.array(blocks, np.int64), kernel.grid
    return np.stack([ids % x, ids // x % y, ids // (x * y)])


def inside(kernel: Kernel, blocks: Sequence[int]) -> NDArray[np.bool_]:
    """Tell of blocks whether they lie inside the grid: not at its end, along any axis that has one."""
    places = _places(kernel, blocks)
    found: NDArray[np.bool_] = np.all(
        [(at < n - 1) | (n == 1) for at, n in zip(places, kernel.grid, strict=True)], axis=0
    )
    return found


def _whole(by: Numbers, size: int) -> Numbers:
    """Return the distinct whole sectors by which blocks lie further on, as many as there is room for."""
    signed = (by + ADDRESSES // 2) % ADDRESSES - ADDRESSES // 2
    found = np.append(0, signed[signed % SECTOR_BYTES == 0] // SECTOR_BYTES)
    return distinct(found)[: max(1, SECTORS // max(1, size))]


def _further(group: Touched, sectors: Numbers) -> Touched:
    """Return what a group of instructions touches that far further on, all together."""
    keys = {name: (getattr(group, name)[:, None] + (sectors << PCS)).ravel() for name in ("near", "read", "stored")}
    numbers = {name: (getattr(group, name)[:, None] + sectors).ravel() for name in ("others", "updated")}
    return Touched(**keys, **numbers)
