"""Branches that the lanes of a warp take apart: cycles show that a warp goes every way that one of them takes."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.kernel import WARP_SIZE, Kernel
from isa.operands.operand import Predicate
from workloads.builder import Builder, RegisterMap
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import Geometry, per_thread, probe, store_results, thread_index

NAME = "divergence"
WAYS = tuple(1 << power for power in range(WARP_SIZE.bit_length()))
ELSEWHERE = Predicate(0)


def divergence(ways: int = 2, *, length: int = 64, warps: int = 16) -> Kernel:
    """Build a kernel whose lane l takes branch l mod `ways`, `length` additions of its own long; 1: all take the same.

    Each thread does the same number of additions, whatever the ways. Raises UserError for ways that are no power of two
    up to 32, numbers too small or large, and programs that are too long.
    """
    one_of(NAME, "ways", ways, WAYS)
    counts(NAME, 1, length=length, warps=warps)
    fits(NAME, ways * length, ways=ways, length=length)
    b, registers, geometry = Builder(), RegisterMap(NAME), Geometry(warps)
    index = thread_index(b, registers)
    way, total = registers.one("way"), registers.one("total")
    b.emit("LOP.AND", way, index, ways - 1)
    b.emit("MOV", total, 0)
    for number in range(ways):
        b.emit("ISETP.NE", ELSEWHERE, way, number)
        b.emit("BRA", f"after_{number}", guard=ELSEWHERE)
        for _ in range(length):
            b.emit("IADD", total, total, number + 1)
        b.label(f"after_{number}")
    store_results(b, index, geometry, [total])
    fits(NAME, len(b.instructions), ways=ways, length=length)
    expected = per_thread(partial(_totals, ways, length), geometry)
    return probe(NAME, b, geometry, {"ways": ways, "length": length, "warps": warps}, expected, dtype="u4")


def _totals(ways: int, length: int, threads: NDArray[np.int64]) -> NDArray[np.float64]:
    return length * (threads % ways + 1).astype(np.float64)
