"""Find memory accesses of a program that never conflict, by executing a kernel without time.

Two accesses of a region (isa.schedule.reorder) conflict if, in one pass of a warp through it, they touch a common word
of memory and one of them stores. Other warps don't matter: between barriers nothing orders them anyway. The result is
no proof, because other blocks or sizes may behave differently, so its users must check the values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from isa.dataflow.memory.address_slice import address_slice
from isa.errors import UserError
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.program import Program
from isa.row import LOAD_UNITS, memory_of
from isa.schedule.reorder import spans

Pairs = frozenset[tuple[int, int]]
Words = frozenset[int]
_NOTHING: Words = frozenset()


def disjoint(kernel: Kernel, blocks: Iterable[int], *, limit: int = LIMIT) -> Pairs:
    """Return the pairs of pcs, the smaller first, of accesses that did not conflict in these blocks.

    Empty if the blocks can't be executed without time, because their addresses or branches depend on memory, or because
    they are longer than `limit` warp instructions.
    """
    watched = _Watch(kernel.program, *_pairs(kernel.program))
    if not watched.left:
        return frozenset()
    needed = address_slice(kernel.program)
    if any(i.reads_memory() and needed[pc] for pc, i in enumerate(kernel.program.instructions)):
        return frozenset()
    try:
        walk(kernel, blocks, watched.observe, addresses=True, released=lambda _: None, limit=limit)
    except UserError:
        return frozenset()
    return frozenset((one, other) for other, earlier in watched.left.items() for one in earlier)


@dataclass(slots=True)
class _Watch:
    """For each access, the earlier accesses of its region without a conflict, by pc, and the words of each warp's pass.

    Accesses with the addresses of the last time have the same words, and no comparison is repeated.
    """

    program: Program
    left: dict[int, set[int]]
    begins: frozenset[int]  # pcs of the first accesses of regions
    touched: defaultdict[int, dict[int, Words]] = field(default_factory=lambda: defaultdict(dict))
    known: dict[tuple[int, bytes], tuple[bytes, dict[int, Words]]] = field(default_factory=dict)
    compared: dict[tuple[int, int, int], tuple[Words, Words]] = field(default_factory=dict)

    def observe(
        self, pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]
    ) -> None:
        """Compare an access with those of the same pass, warp by warp."""
        place, given = (pc, warps.tobytes()), addresses.tobytes() + active.tobytes()
        known = self.known.get(place)
        if known is None or known[0] != given:
            nbytes, lanes = self.program.instructions[pc].row.accessed_bytes, zip(addresses, active, strict=True)
            words = {w: _words(at[on], nbytes) for w, (at, on) in zip(warps.tolist(), lanes, strict=True)}
            known = self.known[place] = given, words
        for warp, touched in known[1].items():
            if pc in self.begins:
                self.touched[warp].clear()
            self.touched[warp][pc] = touched
            met = [one for one in self.left.get(pc, ()) if self._meet(warp, one, pc)]
            self.left.get(pc, set()).difference_update(met)

    def _meet(self, warp: int, one: int, other: int) -> bool:
        words = self.touched[warp].get(one, _NOTHING), self.touched[warp][other]
        before = self.compared.get((warp, one, other))
        if before is not None and before[0] is words[0] and before[1] is words[1]:
            return False
        self.compared[warp, one, other] = words
        return not words[0].isdisjoint(words[1])


def _words(addresses: NDArray[np.uint32], nbytes: int) -> Words:
    """Return the words that accesses of so many bytes touch."""
    first, words = addresses >> 2, -(-nbytes // 4)
    return frozenset(word + i for word in first.tolist() for i in range(words))


def _pairs(program: Program) -> tuple[dict[int, set[int]], frozenset[int]]:
    """Return the pairs that may conflict, by the later pc, and the first access of each region."""
    left, begins = defaultdict[int, set[int]](set), set[int]()
    for accesses in _accesses(program):
        begins.add(accesses[0])
        for one, other in combinations(accesses, 2):
            rows = [program.instructions[pc].row for pc in (one, other)]
            alike = not program.leaves_global or rows[0].generic == rows[1].generic  # else words have other numbers
            same = alike and memory_of(rows[0].unit) is memory_of(rows[1].unit)
            if same and any(row.is_store or row.copies for row in rows):
                left[other].add(one)
    return dict(left), frozenset(begins)


def _accesses(program: Program) -> Iterator[Sequence[int]]:
    code = program.instructions
    for first, end in spans(program):
        if pcs := [pc for pc in range(first, end) if code[pc].row.unit in LOAD_UNITS]:
            yield pcs
