"""Streams through global memory: many warps read or copy elements, in order or with a stride."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.kernel import WARP_SIZE, WARP_SIZES, Buffer, Kernel
from isa.operands.operand import Register
from workloads.builder import Builder, RegisterMap, at
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import Geometry, IndexFill, per_thread, probe, store_results, thread_index, waits

DATA, COPY = "data", "copy"
OPS = ("read", "copy")
TOGETHER = 4  # loads in flight before the first is needed


def stream(op: str = "read", *, length: int = 32, warps: int = 16, blocks: int = 16, lanes: int = WARP_SIZE) -> Kernel:
    """Build a kernel whose threads each load, or copy, `length` elements of 16 bytes, adjacent to each other's.

    Raises UserError for an unknown op and for numbers too small or large.
    """
    one_of("stream", "op", op, OPS)
    one_of("stream", "lanes", lanes, WARP_SIZES)
    counts("stream", 1, length=length, warps=warps, blocks=blocks)
    geometry = Geometry(warps, blocks, lanes)
    b, registers = Builder(), RegisterMap("stream")
    index, place = thread_index(b, registers), registers.one("place")
    b.emit("SHL", place, index, 4)
    values = [registers.block(f"value {i}", 4, 4)[0] for i in range(TOGETHER)]
    total, step = registers.one("total"), 16 * geometry.threads
    destination = registers.one("destination")
    b.emit("IADD", destination, place, COPY if op == "copy" else DATA)
    b.emit("IADD", place, place, DATA)
    for first in range(0, length, TOGETHER):
        offsets = [step * i for i in range(first, min(first + TOGETHER, length))]
        _load_and_add(b, place, values, total, offsets, geometry, ".128")
        if op == "copy":
            for value, offset in zip(values, offsets, strict=False):
                b.emit("STG.128", at(destination, offset), value)
    store_results(b, index, geometry, [total])
    fits("stream", len(b.instructions), length=length)
    arguments = {"op": op, "length": length, "warps": warps, "blocks": blocks, "lanes": lanes}
    data = [Buffer(DATA, "u4", 4 * length * geometry.threads, IndexFill(4))]
    data += [Buffer(COPY, "u4", 4 * length * geometry.threads)] if op == "copy" else []
    expected = per_thread(partial(_sums, length, 1, geometry.threads), geometry)
    return probe("stream", b, geometry, arguments, expected, dtype="u4", data=tuple(data))


def coalescing(stride: int = 1, *, length: int = 32, warps: int = 16, blocks: int = 16) -> Kernel:
    """Build a kernel whose lanes load with a stride in words, `length` times from new places; 0: all lanes from one.

    Raises UserError for numbers too small or large.
    """
    counts("coalescing", 0, stride=stride)
    counts("coalescing", 1, length=length, warps=warps, blocks=blocks)
    geometry, step = Geometry(warps, blocks), max(stride, 1)
    b, registers = Builder(), RegisterMap("coalescing")
    index, place = thread_index(b, registers), registers.one("place")
    b.emit("IMUL", place, index, 4 * stride)
    b.emit("IADD", place, place, DATA)
    values, total = [registers.one(f"value {i}") for i in range(TOGETHER)], registers.one("total")
    for first in range(0, length, TOGETHER):
        offsets = [4 * step * geometry.threads * i for i in range(first, min(first + TOGETHER, length))]
        _load_and_add(b, place, values, total, offsets, geometry, "")
    store_results(b, index, geometry, [total])
    fits("coalescing", len(b.instructions), length=length)
    arguments = {"stride": stride, "length": length, "warps": warps, "blocks": blocks}
    data = Buffer(DATA, "u4", step * length * geometry.threads, IndexFill(1))
    expected = per_thread(partial(_sums, length, stride, step * geometry.threads), geometry)
    return probe("coalescing", b, geometry, arguments, expected, dtype="u4", data=(data,))


def _load_and_add(
    b: Builder,
    place: Register,
    values: Sequence[Register],
    total: Register,
    offsets: Sequence[int],
    geometry: Geometry,
    width: str,
) -> None:
    """Load from these places in order, and add the first word of each to the total."""
    for value, offset in zip(values, offsets, strict=False):
        b.emit("LDG" + width, value, at(place, offset))
    b.extend(waits(geometry))
    for value, _ in zip(values, offsets, strict=False):
        b.emit("IADD", total, total, value)


def _sums(length: int, stride: int, step: int, threads: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the threads' totals, modulo 2**32, of `length` words with a distance of `apart`."""
    total = length * stride * threads + step * (length * (length - 1) // 2)
    return (total % (1 << 32)).astype(np.float64)
