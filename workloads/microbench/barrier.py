"""Words passed round a block from warp to warp, two barriers a round: cycles per round show the cost of a barrier."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.instruction import Instruction
from isa.kernel import WARP_SIZE, Kernel
from isa.operands.operand import Predicate, Register
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.check import counts, fits
from workloads.microbench.probe import Geometry, per_thread, probe, repeat, store_results, thread_index

LAST_WARP = Predicate(1)


def barrier(warps: int = 8, rounds: int = 64, *, alone: int = 0) -> Kernel:
    """Build a kernel in which each thread passes its word to the same lane of the previous warp, `rounds` times.

    A round stores, waits, loads and waits: a warp that misses a barrier gets a wrong word. With `alone` a round is only
    that many barriers. Raises UserError for numbers too small or large.
    """
    counts("barrier", 0, alone=alone)
    fits("barrier", alone, alone=alone)
    counts("barrier", 1, warps=warps, rounds=rounds)
    b, registers, geometry = Builder(), RegisterMap("barrier"), Geometry(warps)
    index = thread_index(b, registers)
    word, own, following = (registers.one(name) for name in ("word", "own", "following"))
    b.emit("MOV", word, index)
    _places(b, own, following, geometry)
    moved = 0 if alone else rounds
    body = (instruction("BAR.SYNC", 0),) * alone or _round(word, own, following)
    repeat(b, registers, rounds, body)
    store_results(b, index, geometry, [word])

    return probe(
        "barrier",
        b,
        geometry,
        {"warps": warps, "rounds": rounds, "alone": alone},
        per_thread(partial(_moved, WARP_SIZE * moved, geometry.threads), geometry),
        dtype="u4",
    )


def _places(b: Builder, own: Register, following: Register, geometry: Geometry) -> None:
    """Compute shared addresses of the thread's own word and of the same lane's in the next warp (cyclically)."""
    b.shared_bytes = 4 * geometry.threads_per_block
    b.emit("S2R", own, "TID.X")
    b.emit("SHL", own, own, 2)
    b.emit("IADD", following, own, 4 * WARP_SIZE)
    b.emit("ISETP.GE", LAST_WARP, following, b.shared_bytes)
    b.emit("IADD", following, following, -b.shared_bytes, guard=LAST_WARP)


def _round(word: Register, own: Register, following: Register) -> tuple[Instruction, ...]:
    wait = instruction("BAR.SYNC", 0)
    return instruction("STS", at(own), word), wait, instruction("LDS", word, at(following)), wait


def _moved(distance: int, number: int, threads: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the index of the thread at that distance, cyclically among `number` threads."""
    return ((threads + distance) % number).astype(np.float64)
