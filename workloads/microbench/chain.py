"""A dependent chain of one instruction: cycles divided by length give its latency."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.kernel import WARP_SIZE, WARP_SIZES, Buffer, Kernel
from isa.memory import bases
from isa.operands.operand import Register
from isa.row import GLOBAL_UNITS, Unit
from isa.table import TABLE
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.check import counts, fits, one_of
from workloads.microbench.operation import OPERATIONS, Operation, load_sources, load_value, step
from workloads.microbench.probe import (
    Geometry,
    RingFill,
    everywhere,
    fill_ring,
    per_thread,
    probe,
    repeat,
    store_results,
    thread_index,
    waits,
)

LOADS = ("LDS", "LDS.64", "LDS.128", "LDG", "LDG.64", "LDG.128", "LDC", "TEX")
OPS = (*OPERATIONS, *LOADS)
PATTERNS = ("broadcast", "unit")
RING = "ring"


def chain(
    op: str = "FFMA",
    *,
    length: int = 256,
    warps: int = 1,
    iterations: int = 1,
    pattern: str = "broadcast",
    lanes: int = WARP_SIZE,
) -> Kernel:
    """Build a kernel of `length` instructions, each of which depends on the previous one, `iterations` times.

    Loads chase a ring with one pointer for each lane; by `pattern` all lanes start at the same one, or each at its own.
    If warps have 64 lanes, the program waits for each load, as on GCN. Raises UserError for an unknown op or pattern
    and for numbers too small or large.
    """
    one_of("chain", "op", op, OPS)
    one_of("chain", "pattern", pattern, PATTERNS)
    one_of("chain", "lanes", lanes, WARP_SIZES)
    counts("chain", 1, length=length, warps=warps, iterations=iterations)
    fits("chain", length, length=length)
    arguments = {"op": op, "length": length, "warps": warps, "iterations": iterations}
    arguments |= {"pattern": pattern, "lanes": lanes}
    geometry = Geometry(warps, lanes=lanes)
    if op in LOADS:
        spread = pattern == "unit"
        kernel = _pointer_chase(op, length, iterations, spread=spread, geometry=geometry, arguments=arguments)
    else:
        kernel = _arithmetic(OPERATIONS[op], length, iterations, geometry, arguments)
    fits("chain", len(kernel.program), length=length)
    return kernel


def _arithmetic(
    operation: Operation, length: int, iterations: int, geometry: Geometry, arguments: dict[str, object]
) -> Kernel:
    b, registers = Builder(), RegisterMap("chain")
    index = thread_index(b, registers)
    x = load_value(b, registers, "x", operation, operation.start)
    sources = load_sources(b, registers, operation)
    repeat(b, registers, iterations, [step(operation, x, sources)] * length)
    store_results(b, index, geometry, [x], operation.words)
    value = float(operation.result(length * iterations))
    expected = per_thread(partial(everywhere, value), geometry)
    flops = TABLE[operation.mnemonic].flops * length * iterations
    return probe("chain", b, geometry, arguments, expected, dtype=operation.dtype, flops=flops)


def _pointer_chase(
    op: str, length: int, iterations: int, *, spread: bool, geometry: Geometry, arguments: dict[str, object]
) -> Kernel:
    b, registers = Builder(), RegisterMap("chain")
    words, unit = TABLE[op].words, TABLE[op].unit
    ring = _ring(unit, words, geometry.lanes)
    index = thread_index(b, registers)
    x = registers.block("x", words, words)[0]
    if unit is Unit.SHARED:
        fill_ring(b, registers, words, geometry)
    _start(b, x, registers.one("lane"), ring.stride if spread else 0, unit)
    follow = instruction(op, x, RING, x) if unit is Unit.TEXTURE else instruction(op, x, at(x))
    repeat(b, registers, iterations, [follow, *waits(geometry)] * length)
    store_results(b, index, geometry, [x])

    def place(threads: NDArray[np.int64]) -> NDArray[np.float64]:
        lanes = threads % geometry.lanes if spread else np.zeros_like(threads)
        return (ring.base + ring.stride * ((lanes + length * iterations) % geometry.lanes)).astype(np.float64)

    data = () if unit is Unit.SHARED else (Buffer(RING, "u4", geometry.lanes * words, ring),)
    return probe("chain", b, geometry, arguments, per_thread(place, geometry), dtype="u4", data=data)


def _ring(unit: Unit, words: int, size: int) -> RingFill:
    if unit is Unit.TEXTURE:
        return RingFill(base=0, stride=1, words=1, size=size)
    # The ring is the kernel's first buffer, so its address does not depend on the buffers that follow.
    base = 0 if unit is Unit.SHARED else bases((Buffer(RING, "u4", size * words),))[RING]
    return RingFill(base=base, stride=4 * words, words=words, size=size)


def _start(b: Builder, x: Register, lane: Register, stride: int, unit: Unit) -> None:
    b.emit("S2R", lane, "LANEID")
    b.emit("IMUL", x, lane, stride)
    if unit in GLOBAL_UNITS:
        b.emit("IADD", x, x, RING)
