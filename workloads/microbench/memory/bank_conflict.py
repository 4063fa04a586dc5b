"""Shared-memory loads with a stride between lanes: cycles per load show the passes that bank conflicts cost."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.kernel import WARP_SIZE, Kernel
from isa.operands.operand import Register
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import (
    FIRST_WARP,
    SUFFIX,
    Geometry,
    per_thread,
    probe,
    repeat,
    store_results,
    thread_index,
)

STREAMS = 4  # destinations in turn, so that loads overlap


def bank_conflict(
    stride: int = 1, *, width: int = 32, warps: int = 1, length: int = 256, iterations: int = 1
) -> Kernel:
    """Build a kernel of `length` loads of `width` bits, lane l at word l * stride, `iterations` times.

    Stride 0 is a broadcast. Every word holds its own index. Raises UserError for an unknown width, numbers too small or
    large, and a stride that misaligns the width.
    """
    one_of("bank-conflict", "width", width, (32, 64, 128))
    counts("bank-conflict", 0, stride=stride)
    counts("bank-conflict", 1, warps=warps, iterations=iterations)
    counts("bank-conflict", STREAMS, length=length)
    fits("bank-conflict", length, length=length)
    words = width // 32
    if stride % words:
        raise UserError(f"bank-conflict: stride={stride} misaligns loads of {width} bits; give a multiple of {words}")
    b, registers, geometry = Builder(), RegisterMap("bank-conflict"), Geometry(warps)
    index = thread_index(b, registers)
    xs = [registers.block(f"x{s}", words, words) for s in range(STREAMS)]
    place = _fill_shared(b, registers, stride, words)
    load = "LDS" + SUFFIX[words]
    repeat(b, registers, iterations, [instruction(load, xs[i % STREAMS][0], at(place)) for i in range(length)])
    store_results(b, index, geometry, [x[-1] for x in xs])
    fits("bank-conflict", len(b.instructions), length=length)
    arguments = {"stride": stride, "width": width, "warps": warps, "length": length, "iterations": iterations}
    expected = per_thread(partial(_last_words, stride, words), geometry)
    return probe("bank-conflict", b, geometry, arguments, expected, dtype="u4", results=STREAMS)


def _fill_shared(b: Builder, registers: RegisterMap, stride: int, words: int) -> Register:
    """Return the address of the lane's words; the first warp sets them to their word indices."""
    thread, place = registers.one("thread"), registers.one("place")
    values = registers.block("values", words, words)
    b.emit("S2R", thread, "TID.X")
    b.emit("ISETP.LT", FIRST_WARP, thread, WARP_SIZE)
    b.emit("LOP.AND", place, thread, WARP_SIZE - 1)
    b.emit("IMUL", place, place, stride)
    for word, value in enumerate(values):
        b.emit("IADD", value, place, word)
    b.emit("SHL", place, place, 2)
    b.emit("STS" + SUFFIX[words], at(place), values[0], guard=FIRST_WARP)
    b.emit("BAR.SYNC", 0)
    b.shared_bytes = 4 * ((WARP_SIZE - 1) * stride + words)
    return place


def _last_words(stride: int, words: int, threads: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the last value that each load finds in its place, in every stream."""
    return np.tile(threads % WARP_SIZE * stride + words - 1.0, (STREAMS, 1))
