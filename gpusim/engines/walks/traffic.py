"""Count the 32-bit words that a launch reads and writes at each level of the memory hierarchy, by use.

Counts come from execution: no machine's rule is applied and no time is taken. Every lane's word counts, even if lanes
share one, and less than a word counts as a part of one; but a warp reads and writes a scalar register once. Behind the
caches of an SM the count is the least possible traffic: a sector from and to the L2 once for each block that touches
it, from and to DRAM once in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gpusim.engines.walks.footprint import Footprint, Touched, footprint
from isa.dataflow.forwarding import forwarded
from isa.dataflow.register_use import OTHER, Origins, RegisterUses, joined, register_uses
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.nvidia.rows.control import CLUSTER_ARRIVE
from isa.operands.operand import FIRST_SCALAR, PT
from isa.program import WORD_BYTES
from isa.row import Bulk, Unit
from isa.values.matrix.warpgroup import FROM_REGISTERS, columns_of


class Level(StrEnum):
    """A level at which words are read and written, from the lanes outwards."""

    REGISTERS = "registers"
    SCALARS = "scalar registers"
    SHARED = "shared memory"
    L1 = "L1"
    SCALAR_CACHE = "scalar cache"
    CONSTANT_CACHE = "constant cache"
    TEXTURE_CACHE = "texture cache"
    L2 = "L2"
    DRAM = "DRAM"


LOCAL = "local memory"  # the use of its words in the L1, whatever they are
INTO_SHARED = Bulk.LOAD, Bulk.NEARBY
WARPS, OF_ROWS, OF_COLUMN = 4, 512, 8  # of a warpgroup; words of its 64 rows, and of a column: 32 bytes each
LEVEL_OF = {
    Unit.SHARED: Level.SHARED,
    Unit.GLOBAL: Level.L1,
    Unit.LOCAL: Level.L1,
    Unit.SMEM: Level.SCALAR_CACHE,
    Unit.CONSTANT: Level.CONSTANT_CACHE,
    Unit.TEXTURE: Level.TEXTURE_CACHE,
}


@dataclass(frozen=True, slots=True)
class Words:
    """Words that the instruction at `pc` reads and writes at a level; for `use` see isa.dataflow.register_use.

    Those of local memory in the L1 have its name. Behind the caches words belong to no instruction: there `pc` is None,
    and `use` the buffer in which they lie.
    """

    pc: int | None
    level: Level
    use: str
    read: int
    written: int
    arithmetic: bool = False  # of a floating-point instruction


@dataclass(frozen=True)
class Traffic:
    """The traffic and arithmetic of a launch; `flops` are those that its kernel states.

    `barriers` counts how often warps are released from a barrier, over all blocks; `arithmetic` counts floating-point
    thread instructions by the bits of their operands.
    """

    words: tuple[Words, ...]
    barriers: int
    arithmetic: Mapping[int, int]
    flops: int

    def read(self, level: Level, use: str | None = None, *, arithmetic: bool = False) -> int:
        """Return the words read at a level, of one use or all; `arithmetic`: only by floating-point instructions."""
        return sum(w.read for w in self._chosen(level, use, arithmetic))

    def written(self, level: Level, use: str | None = None, *, arithmetic: bool = False) -> int:
        """Return the words written at a level, as `read` does."""
        return sum(w.written for w in self._chosen(level, use, arithmetic))

    def total(self, level: Level, use: str | None = None, *, arithmetic: bool = False) -> int:
        """Return the words read or written at a level, as `read` does."""
        return sum(w.read + w.written for w in self._chosen(level, use, arithmetic))

    def _chosen(self, level: Level, use: str | None, arithmetic: bool) -> Iterator[Words]:
        for words in self.words:
            if words.level is level and use in (None, words.use) and (words.arithmetic or not arithmetic):
                yield words


def traffic(kernel: Kernel, *, forwarding: bool = False, limit: int = LIMIT) -> Traffic:
    """Return the traffic of the launch.

    `forwarding`: results go straight to the next instruction (isa.dataflow.forwarding).
    Raises what program_order.walk raises, for the addresses and branches of its blocks; LimitError beyond `limit` warp
    instructions in one of them.
    """
    touched = footprint(kernel, limit=limit)
    whose = register_uses(kernel.program, _origins(kernel, touched))
    words = [*_registers(kernel, touched, whose, forwarding), *_memory(kernel, touched, whose)]
    words += [*_behind(Level.L2, touched.of_blocks), *_behind(Level.DRAM, touched.of_launch)]
    moved = tuple(w for w in words if w.read or w.written)
    return Traffic(moved, _barriers(kernel, touched), _arithmetic(kernel, touched), kernel.flops)


def _registers(kernel: Kernel, touched: Footprint, whose: RegisterUses, forwarding: bool) -> Iterator[Words]:
    """Yield the words that each instruction reads and writes in vector registers, by use, and in scalar ones."""
    reads, writes = forwarded(kernel.program) if forwarding else (frozenset(), frozenset())
    for pc, instruction in enumerate(kernel.program.instructions):
        state = whose.before[pc] or {}
        taken = [r for r in instruction.reads() if (pc, r) not in reads]
        given = [r for r in instruction.writes() if (pc, r) not in writes]
        for level, times in ((Level.REGISTERS, touched.active), (Level.SCALARS, touched.counts)):
            scalar = level is Level.SCALARS
            read = Counter(state.get(r, OTHER) for r in taken if (r >= FIRST_SCALAR) == scalar)
            written = Counter(whose.written[pc] for r in given if (r >= FIRST_SCALAR) == scalar)
            for use in sorted(read | written):
                each, computes = int(times[pc]), instruction.row.flops > 0
                yield Words(pc, level, use, read[use] * each, written[use] * each, computes)


def _memory(kernel: Kernel, touched: Footprint, whose: RegisterUses) -> Iterator[Words]:
    """Yield the words that each access reads and writes in shared memory or a cache of the SM.

    What products of a warpgroup read may be of any buffer that the program brings to shared memory.
    """
    operands = joined(_brought(kernel, touched, whose))
    for pc, instruction in enumerate(kernel.program.instructions):
        row = instruction.row
        if row.unit in LEVEL_OF:
            times = int((touched.counts if row.unit is Unit.SMEM else touched.active)[pc])
            shared = touched.spaces.get(pc, {}).get(Unit.SHARED, 0)
            use = joined(touched.buffers[pc]) if pc in touched.buffers else whose.stored.get(pc, whose.written[pc])
            use = LOCAL if row.unit is Unit.LOCAL else use
            for level, threads in ((LEVEL_OF[row.unit], times - shared), (Level.SHARED, shared)):
                count = -(-row.nbytes * threads // WORD_BYTES)
                yield Words(pc, level, use, count * row.is_load, count * row.is_store)
            if row.copies:
                yield Words(pc, Level.SHARED, use, 0, -(-row.nbytes * times // WORD_BYTES))
        elif row.bulk and pc in touched.copied:
            moved, reads, writes = touched.copied[pc] // WORD_BYTES, row.bulk is not Bulk.LOAD, row.bulk in INTO_SHARED
            yield Words(pc, Level.SHARED, joined(touched.buffers.get(pc, ())), moved * reads, moved * writes)
        elif row.unit is Unit.WARPGROUP:
            each = OF_COLUMN * columns_of(row.code) + (0 if row.code & FROM_REGISTERS else OF_ROWS)
            yield Words(pc, Level.SHARED, operands, each * int(touched.counts[pc]) // WARPS, 0)


def _brought(kernel: Kernel, touched: Footprint, whose: RegisterUses) -> Iterator[str]:
    """Yield whose words are stored in, or copied to, shared memory."""
    for pc, instruction in enumerate(kernel.program.instructions):
        if instruction.row.unit is Unit.SHARED and instruction.row.is_store:
            yield whose.stored.get(pc, OTHER)
        if instruction.row.copies or instruction.row.bulk is Bulk.LOAD:
            yield from touched.buffers.get(pc, ())


def _behind(level: Level, sectors: Touched) -> Iterator[Words]:
    """Yield the traffic behind the caches of the SMs."""
    for (buffer, written), count in sectors.items():
        words = count * SECTOR_BYTES // WORD_BYTES
        yield Words(None, level, buffer, words * (not written), words * written)


def _origins(kernel: Kernel, touched: Footprint) -> Origins:
    """Return the sources of loads: the buffers, and the stores to the same words of shared or local memory."""
    instructions = kernel.program.instructions
    stores = {
        pc: found for pc, found in touched.words.items() if instructions[pc].row.is_store or instructions[pc].row.bulk
    }
    room = max((int(found.max(initial=-1)) + 1 for found in touched.words.values()), default=0)
    stored = np.zeros((len(stores), room), np.bool_)
    for row, found in zip(stored, stores.values(), strict=True):
        row[found] = True
    handed = {
        pc: frozenset(store for k, store in enumerate(stores) if stored[k, found].any())
        for pc, found in touched.words.items()
        if instructions[pc].row.is_load
    }
    copies = {pc: touched.buffers.get(pc, frozenset()) for pc in stores if instructions[pc].row.bulk}
    return Origins(touched.buffers, handed, copies)


def _barriers(kernel: Kernel, touched: Footprint) -> int:
    """Return how often warps are released: their arrivals divided by the warps for which a barrier waits.

    A guard is assumed to hold for whole warps: the arriving warps are as many as its active threads would fill.
    """
    released = 0
    for pc, instruction in enumerate(kernel.program.instructions):
        row = instruction.row
        if row.unit is Unit.BARRIER and row.code != CLUSTER_ARRIVE:
            _, threads = instruction.barrier()
            needed = kernel.warps if threads is None else -(-threads // kernel.warp_size)
            guarded = -(-int(touched.active[pc]) // kernel.warp_size)
            released += (int(touched.counts[pc]) if instruction.guard == PT else guarded) // needed
    return released


def _arithmetic(kernel: Kernel, touched: Footprint) -> Mapping[int, int]:
    counted: Counter[int] = Counter()
    for pc, instruction in enumerate(kernel.program.instructions):
        if instruction.row.flops:
            counted[instruction.row.width] += int(touched.active[pc])
    return counted
