"""Which loads read words that other warps write, with nothing that orders the two.

Of shared memory these are the loads that race (gpusim.engines.walks.races), and atomics on words of which other warps
change something. Of global memory every word that two warps access, one of them to write it, counts, whatever barriers
lie between: other blocks pass none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from gpusim.engines.walks.races import unordered
from isa.errors import UserError
from isa.kernel import Kernel
from isa.memory import length
from isa.program import WORD_BYTES
from isa.row import MEMORY_UNITS, Unit

MANY = -1  # warps that write a word
MOST_WORDS = 1 << 27  # of global memory that are looked at


@dataclass(frozen=True, eq=False)
class _Seen:
    """Who writes each word of global memory (0: nobody), and the words, with their readers, that loads read."""

    kernel: Kernel
    writer: NDArray[np.int32]
    reads: dict[int, list[NDArray[np.int64]]] = field(default_factory=lambda: defaultdict(list))
    changed: set[int] = field(default_factory=set)
    block: list[int] = field(default_factory=list)


def contended(kernel: Kernel, blocks: Sequence[int], loads: frozenset[int], limit: int) -> frozenset[int]:
    """Return those of the loads, by pc, that may read another value if warps run in another order.

    All of them where that can't be told: if a block has more than `limit` warp instructions, if one can't be run, or of
    generic addresses.
    """
    shared, far = ({pc for pc in loads if _only(kernel, pc, unit)} for unit in (Unit.SHARED, Unit.GLOBAL))
    if kernel.warps * len(blocks) == 1:
        return loads - shared - far  # there is no other warp
    try:
        near = unordered(kernel, blocks, shared, limit) if shared else set()
        return loads - shared - far | near | (_far(kernel, blocks, far, limit) if far else set())
    except UserError:
        return loads


def _only(kernel: Kernel, pc: int, memory: Unit) -> bool:
    """Tell whether an instruction accesses that memory alone, each lane at its own address; a copy: reads it."""
    row = kernel.program.instructions[pc].row
    return row.unit in MEMORY_UNITS and kernel.program.read(row) == {memory}


def _far(kernel: Kernel, blocks: Sequence[int], loads: set[int], limit: int) -> set[int]:
    """Return the loads of global memory whose words other warps write."""
    if length(kernel) > MOST_WORDS or kernel.program.leaves_global:
        return loads
    seen = _Seen(kernel, np.zeros(length(kernel), np.int32))
    place = {block: at for at, block in enumerate(blocks)}
    stores = {pc for pc, i in enumerate(kernel.program.instructions) if i.row.is_store}
    noted = {pc for pc in stores if _only(kernel, pc, Unit.GLOBAL)} | loads

    def started(block: int) -> None:
        seen.block[:] = [place[block]]

    def observe(pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        if pc in noted:
            _note(seen, pc, pc in loads, warps, addresses, active)
        if seen.changed >= loads:
            raise StopIteration

    with suppress(StopIteration):
        walk(kernel, blocks, observe, addresses=True, started=started, limit=limit)
    later = {pc for pc, groups in seen.reads.items() if any(_changed(seen, group) for group in groups)}
    return seen.changed | later


def _note(
    seen: _Seen,
    pc: int,
    reads: bool,
    warps: NDArray[np.int64],
    addresses: NDArray[np.uint32],
    active: NDArray[np.bool_],
) -> None:
    """Note the words of an access by warps of the running block."""
    row = seen.kernel.program.instructions[pc].row
    every = addresses[active].astype(np.int64)[:, None] + np.arange(0, max(row.accessed_bytes, 1), WORD_BYTES)
    who = np.repeat(seen.block[0] * seen.kernel.warps + warps + 1, every.shape[1] * np.count_nonzero(active, axis=1))
    held = every.ravel() // WORD_BYTES < len(seen.writer)  # behind them lies nothing that is written
    words, who = every.ravel()[held] // WORD_BYTES, who[held]
    if row.is_store:
        _write(seen.writer, words, who)
    if reads and pc not in seen.changed:
        seen.reads[pc].append(np.unique(np.stack([words, who]), axis=1))
        if _changed(seen, seen.reads[pc][-1]):
            seen.changed.add(pc)


def _write(writer: NDArray[np.int32], words: NDArray[np.int64], who: NDArray[np.int64]) -> None:
    before = writer[words]
    writer[words] = who
    others = ((before != 0) & (before != who)) | (writer[words] != who)
    writer[words[others]] = MANY


def _changed(seen: _Seen, read: NDArray[np.int64]) -> bool:
    """Tell whether another warp writes one of the words that were read."""
    writer = seen.writer[read[0]]
    return bool(((writer != 0) & (writer != read[1])).any())
