"""The inner loop of maxas' SGEMM on simple data without matrices: 64 FFMAs a step on 8 by 8 results per thread.

After Scott Gray's description (github.com/NervanaSystems/maxas, wiki page SGEMM): 256 threads, eight steps a round,
each with its operands loaded by four LDS.128 during the previous step. Only 512 FFMAs, 4 IADD, 3 LOP.XOR and 1 ISETP
need their own issue slots; memory instructions, barrier and branch issue beside an FFMA. A result's register is in
neither bank of its two factors. If the factors share a bank, 16 times in 64, the reuse cache has one of them, because
rows of results are processed in alternating directions.

Tile t holds A = t + 1 and B = 1 everywhere, so that each result is 8 (1 + ... + tiles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.instruction import Instruction
from isa.kernel import Buffer, Kernel
from isa.operands.operand import Register
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.check import counts, one_of
from workloads.microbench.probe import LOOP, Geometry, everywhere, per_thread, probe, store_results, thread_index

NAME = "maxas-loop"
DATA = "data"
SIDE = 8  # results of a thread, and steps of a round
WARPS = 8
BANKS = 4
TILE_BYTES = 8192  # 128 by 8 words of A and of B
STEP_BYTES = 512  # 128 words of one of them
PART_BYTES = TILE_BYTES // 4  # bytes that the block loads at once, 8 per thread
COLUMNS = (1, 0, 2, 3, 4, 5, 6, 7)  # so that a step does not start with both factors in one bank


@dataclass(frozen=True, slots=True)
class TileFill:
    """Words of the tiles in order: A, then B."""

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return float32 at the indices."""
        tile, word = np.divmod(index, TILE_BYTES // 4)
        return np.where(word < TILE_BYTES // 8, tile + 1, 1).astype(np.float32)


@dataclass(frozen=True)
class Names:
    """Registers of a thread: two sets of factors by step, results by row and column, loaded values, and addresses."""

    a: tuple[tuple[Register, ...], ...]
    b: tuple[tuple[Register, ...], ...]
    c: Mapping[tuple[int, int], Register]
    loaded: tuple[Register, ...]  # pairs
    pointers: tuple[Register, ...]
    end: Register
    store: Register
    read_a: Register
    read_b: Register


def maxas_loop(reuse: str = "on", *, iterations: int = 4, blocks: int = 32) -> Kernel:
    """Build a kernel of `iterations` rounds of the loop; `reuse` says whether factors are flagged for the reuse cache.

    Raises UserError for a word other than on or off, and numbers below 1.
    """
    one_of(NAME, "reuse", reuse, ("on", "off"))
    counts(NAME, 1, iterations=iterations, blocks=blocks)
    b, registers, geometry = Builder(), RegisterMap(NAME), Geometry(WARPS, blocks)
    index = thread_index(b, registers)
    names = _registers(registers)
    b.shared_bytes = 2 * TILE_BYTES
    _begin(b, registers, names, iterations)
    b.label("loop")
    b.extend(_round(names, flagged=reuse == "on"))
    b.emit("BRA", "loop", guard=LOOP)
    results = list(names.c.values())
    for result in results[1:]:
        b.emit("FADD", results[0], results[0], result)
    store_results(b, index, geometry, results[:1])
    total = float(len(results) * SIDE * sum(range(1, iterations + 1)))
    expected = per_thread(partial(everywhere, total), geometry)
    data = (Buffer(DATA, "f4", (iterations + 1) * TILE_BYTES // 4, TileFill()),)
    arguments = {"reuse": reuse, "iterations": iterations, "blocks": blocks}
    flops = 2 * SIDE * len(results) * iterations
    return probe(NAME, b, geometry, arguments, expected, data=data, flops=flops)


def _registers(registers: RegisterMap) -> Names:
    sets = [[registers.block(f"{x}{i}", SIDE, BANKS) for i in range(2)] for x in "ab"]
    block = registers.block("results", SIDE * SIDE, BANKS)
    free = {bank: iter(block[bank::BANKS]) for bank in range(BANKS)}
    return Names(
        a=tuple(sets[0]),
        b=tuple(sets[1]),
        c={(i, j): next(free[_result_bank(i, j)]) for i in range(SIDE) for j in range(SIDE)},
        loaded=tuple(registers.block(f"loaded{i}", 2, 2)[0] for i in range(4)),
        pointers=tuple(registers.one(f"pointer{i}") for i in range(4)),
        end=registers.one("end"),
        store=registers.one("store"),
        read_a=registers.one("read_a"),
        read_b=registers.one("read_b"),
    )


def _result_bank(i: int, j: int) -> int:
    """Return a bank that is neither row i's nor column j's; each bank has 16 results."""
    return (i ^ (2 if (i ^ j) % BANKS == 1 else 1)) % BANKS


def _begin(b: Builder, registers: RegisterMap, names: Names, iterations: int) -> None:
    """Set up addresses, the first tile in shared memory and its first factors in registers."""
    thread, part = registers.one("thread"), registers.one("part")
    b.emit("S2R", thread, "TID.X")
    b.emit("SHL", names.store, thread, 3)
    for i, pointer in enumerate(names.pointers):
        b.emit("IADD", pointer, names.store, i * PART_BYTES)
        b.emit("IADD", pointer, pointer, DATA)
    b.emit("IADD", names.end, names.pointers[0], iterations * TILE_BYTES)
    b.emit("SHR", part, thread, 1)  # the thread map of maxas: no bank conflicts
    b.emit("LOP.AND", part, part, 7)
    b.emit("SHL", names.read_a, part, 4)
    b.emit("LOP.AND", part, thread, 0x30)
    b.emit("SHR", part, part, 3)
    b.emit("LOP.AND", thread, thread, 1)
    b.emit("IADD", part, part, thread)
    b.emit("SHL", part, part, 4)
    b.emit("IADD", names.read_b, part, TILE_BYTES // 2)
    for result in names.c.values():
        b.emit("MOV", result, 0)
    for moves in (_fetches(names), _advances(names), _stores(names)):
        b.extend(moves)
    b.emit("BAR.SYNC", 0)
    b.extend(_loads(names, 0))
    b.emit("LOP.XOR", names.store, names.store, TILE_BYTES)


def _fetches(names: Names) -> list[Instruction]:
    return [instruction("LDG.64", x, at(p)) for x, p in zip(names.loaded, names.pointers, strict=True)]


def _advances(names: Names) -> list[Instruction]:
    return [instruction("IADD", p, p, TILE_BYTES) for p in names.pointers]


def _stores(names: Names) -> list[Instruction]:
    return [instruction("STS.64", at(names.store, i * PART_BYTES), x) for i, x in enumerate(names.loaded)]


def _loads(names: Names, step: int) -> list[Instruction]:
    """Return the loads of a step's factors, to the registers that the previous step does not read."""
    reads = ((names.a, names.read_a), (names.b, names.read_b))
    return [
        instruction("LDS.128", sets[step % 2][4 * half], at(place, step * STEP_BYTES + half * STEP_BYTES // 2))
        for sets, place in reads
        for half in range(2)
    ]


def _round(names: Names, *, flagged: bool) -> Iterator[Instruction]:
    """Yield eight steps, with the round's other instructions after certain FFMAs."""
    others = _others(names)
    for step in range(SIDE):
        for number, ffma in enumerate(_step(names, step, flagged=flagged)):
            yield ffma
            yield from others.get((step, number), ())


def _others(names: Names) -> dict[tuple[int, int], list[Instruction]]:
    """Return other instructions by step and FFMA: loads in every second slot, as maxas advises, the rest when ready."""
    swaps = [instruction("LOP.XOR", x, x, TILE_BYTES) for x in (names.read_a, names.read_b, names.store)]
    plan = {(step, 2 * i): x for step in range(SIDE - 1) for i, x in enumerate(_loads(names, step + 1))}
    plan |= {(7, 10 + 2 * i): x for i, x in enumerate(_loads(names, 0))}
    plan |= {(0, 11 + 2 * i): x for i, x in enumerate(_fetches(names))}
    plan |= {(1, 11 + 2 * i): x for i, x in enumerate(_advances(names))}
    plan |= {(6, 11 + 2 * i): x for i, x in enumerate(_stores(names))}
    plan |= {(6, 40): swaps[0], (6, 42): swaps[1], (7, 40): swaps[2]}
    plan |= {(7, 0): instruction("BAR.SYNC", 0), (7, 30): instruction("ISETP.LE", LOOP, names.pointers[0], names.end)}
    return {place: [what] for place, what in plan.items()}


def _step(names: Names, step: int, *, flagged: bool) -> Iterator[Instruction]:
    """Yield 64 FFMAs, rows in alternating directions: a row's factor stays along it, the last column's to the next."""
    a, b = names.a[step % 2], names.b[step % 2]
    for i in range(SIDE):
        for n, j in enumerate(COLUMNS if i % 2 == 0 else COLUMNS[::-1]):
            last = n == SIDE - 1
            row = replace(a[i], reuse=flagged and not last)
            column = replace(b[j], reuse=flagged and last and i < SIDE - 1)
            c = names.c[i, j]
            yield instruction("FFMA", c, row, column, c)
