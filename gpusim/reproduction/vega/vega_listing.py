"""What the readme of the SGEMM for Vega lists and says of its instructions, and of double precision (VG39 on).

Its table counts "in FP64", and its title has DGEMM; its sources have single precision alone. The kernel in double
precision is the one in single, with 4 rows of A in 64 scalar registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from gpusim.engines.walks.traffic import Level
from gpusim.machine import machine as model
from gpusim.reproduction.bench import Bench, Job, Pairs
from gpusim.reproduction.finding import Finder, Finding, counted, registrar
from gpusim.reproduction.main_loop import main_loop
from gpusim.reproduction.vega.vega_access import DGEMM, PRINTED, USUAL, operands, pair, per_k, read, written
from gpusim.reproduction.vega.vega_speed import VLP
from gpusim.simulation.simulation import simulate
from isa.dataflow.register_use import RESULTS
from isa.instruction import Instruction
from isa.operands.operand import FIRST_SCALAR, Register
from workloads.catalog import make
from workloads.papers.vega.vega_vlp import COLUMN_HIGH, COLUMN_LOW

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

CARDS = ("mi25", "mi50", "mi60")
STEPS = 2  # of 8 k in a round of the loop
DOUBLE = 2  # words of an element
SMALL = {"m": "64", "n": "256", "k": "16"}
LINE, WORD = 64, 4  # bytes


@claim("VG39")
def operand(_: Bench) -> Finding:
    """The share of a double multiply-add's vector registers that a scalar source replaces."""
    words = 4 * DOUBLE
    return counted(100 * (1 - operands(DGEMM, 64) / words), note="of three read and one written, of two words each")


@claim("VG40")
def in_doubles(_: Bench) -> Finding:
    """The column of the kernel without LDS, in double precision and units of 64 bits."""
    entries = [(name,) for name in ("A L2", "B L2", "B written", "B read", "C")] + [PRINTED["VG15"]]
    return counted(
        *(pair(each, DGEMM)[1] / DOUBLE for each in entries), note="A of one wave of four, as in single precision"
    )


@claim("VG41")
def additions(bench: Bench) -> Finding:
    """Scalar additions to B's address for each step of 8 k."""
    loop = main_loop(bench.kernel(VLP).program)
    written = [i.operands[0] for i in loop if i.row.mnemonic == "S_ADD_U32"]
    count = sum(register in (COLUMN_LOW, COLUMN_HIGH) for register in written)
    return counted(count / STEPS, note="two for each load; every second adds 0, where GCN adds a carry")


@claim("VG42")
def cards(bench: Bench) -> Finding:
    """The cards on which both kernels compute right values."""
    jobs = {card: [Job(right, (kernel, card, bench.pairs(card))) for kernel in (VLP, DGEMM)] for card in CARDS}
    bench.results(*(job for each in jobs.values() for job in each))
    count = sum(all(bench.results(*each)) for each in jobs.values())
    return counted(count, note="in single and double precision; that values are right, no times")


@claim("VG44")
def same_lines(bench: Bench) -> Finding:
    """Lines that the second load of a step touches, and the first one doesn't."""
    found = [frozenset((lanes // LINE).ravel().tolist()) for lanes in _accesses(bench, "GLOBAL_LOAD_DWORDX4")]
    return counted(sum(len(later - earlier) for earlier, later in zip(found[::2], found[1::2], strict=True)))


@claim("VG45")
def chain(bench: Bench) -> Finding:
    """The first multiply-adds of the main loop on one sum: how many, the sum, and their sources."""
    adds = [i for i in main_loop(bench.kernel(VLP).program) if i.row.mnemonic == "V_FMA_F32"]
    first = list(takewhile(lambda i: i.operands[0] == adds[0].operands[0], adds))
    b, a = ([_number(i, place) for i in (first[0], first[-1])] for place in (1, 2))
    return counted(len(first), _number(first[0], 0), *b, *a, note="v4, v68 to v75, s32 to s39")


@claim("VG46")
def adjacent(bench: Bench) -> Finding:
    """Neighbouring words that 64 threads store for a row of C."""
    gaps = (np.diff(lanes) for lanes in _accesses(bench, "GLOBAL_STORE_DWORD"))
    return counted(min(1 + int((each == WORD).sum(axis=-1).min()) for each in gaps))


@claim("VG47")
def usual_registers(_: Bench) -> Finding:
    """Words that the multiply-adds of one usual workgroup take from vector registers, and write, for each k."""
    reads = [read(Level.REGISTERS, use, arithmetic=True) for use in ("A", "B", RESULTS)]
    writes = written(Level.REGISTERS, RESULTS, arithmetic=True)
    return counted(*(per_k(USUAL, count) for count in (*reads, writes)))


def right(kernel: str, card: str, settings: Pairs) -> bool:
    """Tell whether a small product on a card leaves the values that it must, all of them checked."""
    found = simulate(make(kernel, SMALL), model.load(card, dict(settings))).verification
    return found.verified and not found.wrong


def _accesses(bench: Bench, mnemonic: str) -> Iterator[NDArray[np.int64]]:
    """Yield the byte addresses, [wave, lane], of each execution of an instruction in the first workgroup."""
    kernel = bench.kernel(VLP, m=64, n=256, k=16)
    seen: list[NDArray[np.int64]] = []
    names = [i.row.mnemonic for i in kernel.program.instructions]

    def observe(pc: int, _: object, addresses: NDArray[np.uint32], __: object) -> None:
        if names[pc] == mnemonic:
            seen.append(addresses.astype(np.int64))

    walk(kernel, [0], observe, released=lambda _: None)
    return iter(seen)


def _number(instruction: Instruction, place: int) -> int:
    """Return the number of the register at that place, scalar or vector."""
    register = instruction.operands[place]
    if not isinstance(register, Register):
        raise TypeError(f"{instruction.row.mnemonic}: no register at place {place}")
    return register.index % FIRST_SCALAR
