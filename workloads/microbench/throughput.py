"""Independent streams of one instruction from many warps: instructions divided by cycles give its throughput."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.instruction import Instruction
from isa.kernel import WARP_SIZE, WARP_SIZES, Buffer, Kernel
from isa.operands.operand import Register
from isa.operands.register_bank import BANK_PERIOD, KEPLER
from isa.row import Unit
from isa.table import TABLE
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.check import counts, fits, one_of
from workloads.microbench.operation import OPERATIONS, Operation, load_sources, load_value, step
from workloads.microbench.probe import (
    Geometry,
    IndexFill,
    everywhere,
    own_shared_words,
    per_thread,
    probe,
    repeat,
    store_results,
    thread_index,
    waits,
)

LOADS = ("LDS", "LDS.64", "LDS.128", "LDG", "LDG.64", "LDG.128")
OPS = (*OPERATIONS, *LOADS)
DATA = "data"
BANKS = ("any", KEPLER)
CHAINS = range(BANK_PERIOD // 2, BANK_PERIOD)  # Kepler: numbers modulo the period, in two banks
SOURCES = range(1)  # the other two banks from their first register on


def throughput(
    op: str = "FFMA",
    *,
    warps: int = 16,
    streams: int = 8,
    length: int = 256,
    iterations: int = 16,
    blocks: int = 1,
    reuse: str = "off",
    banks: str = "any",
    lanes: int = WARP_SIZE,
) -> Kernel:
    """Build a kernel of `length` instructions in turn from `streams` independent chains, `iterations` times.

    A load stream always has the same address, adjacent among threads: no bank conflicts, coalesced. With `reuse` on,
    the sources that all instructions share are flagged for the reuse cache, as compilers do. With `banks` kepler the
    sources are in two of a Kepler's four register banks, the chains in turn in the others. If warps have 64 lanes, the
    program waits for the loads at the end, as on GCN. Raises UserError for an unknown op, numbers too small or large,
    and more streams than instructions or registers.
    """
    one_of("throughput", "op", op, OPS)
    one_of("throughput", "reuse", reuse, ("off", "on"))
    one_of("throughput", "banks", banks, BANKS)
    counts("throughput", 1, warps=warps, streams=streams, iterations=iterations, blocks=blocks)
    counts("throughput", streams, length=length)
    fits("throughput", length, length=length)
    one_of("throughput", "lanes", lanes, WARP_SIZES)
    geometry = Geometry(warps, blocks, lanes)
    if op in LOADS:
        kernel = _loads(op, streams, length, iterations, geometry)
    else:
        shape = streams, length, iterations
        kernel = _arithmetic(OPERATIONS[op], shape, geometry, reuse=reuse == "on", separate=banks == KEPLER)
    fits("throughput", len(kernel.program), length=length)
    arguments = {"op": op, "warps": warps, "streams": streams, "length": length, "iterations": iterations}
    return replace(kernel, arguments={**arguments, "blocks": blocks, "reuse": reuse, "banks": banks, "lanes": lanes})


def _arithmetic(
    operation: Operation, shape: tuple[int, int, int], geometry: Geometry, *, reuse: bool, separate: bool
) -> Kernel:
    streams, length, iterations = shape
    b, registers = Builder(), RegisterMap("throughput")
    index = thread_index(b, registers)
    xs = []
    for s in range(streams):
        if separate:
            registers.skip(BANK_PERIOD, CHAINS)
        xs.append(load_value(b, registers, f"x{s}", operation, operation.start))
    if separate:
        registers.skip(BANK_PERIOD, SOURCES)
    sources = tuple(replace(source, reuse=reuse) for source in load_sources(b, registers, operation))
    repeat(b, registers, iterations, [step(operation, xs[i % streams], sources) for i in range(length)])
    store_results(b, index, geometry, xs, operation.words)
    turns = [len(range(s, length, streams)) * iterations for s in range(streams)]
    values = np.array([[operation.result(n)] for n in turns], np.float64)
    flops = TABLE[operation.mnemonic].flops * length * iterations
    expected = per_thread(partial(everywhere, values), geometry)
    return probe("throughput", b, geometry, {}, expected, dtype=operation.dtype, results=streams, flops=flops)


def _loads(op: str, streams: int, length: int, iterations: int, geometry: Geometry) -> Kernel:
    b, registers = Builder(), RegisterMap("throughput")
    words, shared = TABLE[op].words, TABLE[op].unit is Unit.SHARED
    index = thread_index(b, registers)
    if shared:
        place = own_shared_words(b, registers, index, words, geometry)
    else:
        place = _own_global_words(b, registers, index, words)
    xs = [registers.block(f"x{s}", words, words)[0] for s in range(streams)]
    body: list[Instruction] = [instruction(op, xs[i % streams], at(place)) for i in range(length)]
    repeat(b, registers, iterations, body)
    b.extend(waits(geometry))
    store_results(b, index, geometry, xs)
    data = () if shared else (Buffer(DATA, "u4", words * geometry.threads, IndexFill(words)),)
    expected = per_thread(_indices, geometry)
    return probe("throughput", b, geometry, {}, expected, dtype="u4", results=streams, data=data)


def _own_global_words(b: Builder, registers: RegisterMap, index: Register, words: int) -> Register:
    """Compute the address of the thread's own words of the data buffer."""
    place = registers.one("place")
    b.emit("IMUL", place, index, 4 * words)
    b.emit("IADD", place, place, DATA)
    return place


def _indices(threads: NDArray[np.int64]) -> NDArray[np.float64]:
    return threads.astype(np.float64)
