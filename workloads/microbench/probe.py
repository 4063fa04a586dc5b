"""The common part of all probes: a loop, a ring of pointers to chase, and results stored one per thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import WARP_SIZE, Buffer, Expectation, Kernel
from isa.memory import bases
from isa.operands.operand import Predicate, Register
from workloads.builder import Builder, RegisterMap, at, instruction

RESULT = "out"
LOOP = Predicate(0)
FIRST_WARP = Predicate(1)
SUFFIX = {1: "", 2: ".64", 4: ".128"}


@dataclass(frozen=True, slots=True)
class Geometry:
    """The launch of a probe: warps of so many lanes per block, blocks along x."""

    warps: int
    blocks: int = 1
    lanes: int = WARP_SIZE

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.warps * self.lanes

    @property
    def threads(self) -> int:
        """Threads of the whole launch."""
        return self.threads_per_block * self.blocks


def repeat(b: Builder, registers: RegisterMap, iterations: int, body: Iterable[Instruction]) -> None:
    """Append `body`, in a loop of three more instructions if it runs more than once."""
    if iterations == 1:
        b.extend(body)
        return
    counter = registers.one("counter")
    b.emit("MOV", counter, iterations)
    b.label("loop")
    b.extend(body)
    b.emit("IADD", counter, counter, -1)
    b.emit("ISETP.GT", LOOP, counter, 0)
    b.emit("BRA", "loop", guard=LOOP)


def thread_index(b: Builder, registers: RegisterMap) -> Register:
    """Compute the thread's index in the whole launch, in a new register."""
    index, threads = registers.one("index"), registers.one("threads")
    b.emit("S2R", index, "CTAID.X")
    b.emit("S2R", threads, "NTID.X")
    b.emit("IMUL", threads, index, threads)
    b.emit("S2R", index, "TID.X")
    b.emit("IADD", index, index, threads)
    return index


def own_shared_words(b: Builder, registers: RegisterMap, index: Register, words: int, geometry: Geometry) -> Register:
    """Set the thread's own `words` words of shared memory to its index in the launch; return their address."""
    values = registers.block("values", words, words)
    place = registers.one("place")
    for value in values:
        b.emit("MOV", value, index)
    b.emit("S2R", place, "TID.X")
    b.emit("IMUL", place, place, 4 * words)
    b.emit("STS" + SUFFIX[words], at(place), values[0])
    b.shared_bytes = 4 * words * geometry.threads_per_block
    return place


def store_results(b: Builder, index: Register, geometry: Geometry, results: Sequence[Register], words: int = 1) -> None:
    """Store result s of the launch's thread `index` to element s * threads + index of the result buffer, and end.

    `index` is overwritten; a result is `words` registers.
    """
    b.emit("SHL", index, index, words + 1)
    b.emit("IADD", index, index, RESULT)
    for s, result in enumerate(results):
        b.emit("STG" + SUFFIX[words], at(index, 4 * words * s * geometry.threads), result)
    b.emit("EXIT")


def waits(geometry: Geometry) -> list[Instruction]:
    """Return the instructions needed between an access and the use of its data: none, except on GCN."""
    return [] if geometry.lanes == WARP_SIZE else [instruction("S_WAITCNT", 0, 0)]


def fill_ring(b: Builder, registers: RegisterMap, words: int, geometry: Geometry) -> None:
    """Write a ring to shared memory, an element of `words` words per lane: word 0 is the next one's address."""
    thread, place = registers.one("thread"), registers.one("place")
    pointer = registers.block("pointer", words, words)
    b.emit("S2R", thread, "TID.X")
    b.emit("ISETP.LT", FIRST_WARP, thread, geometry.lanes)
    b.emit("IMUL", place, thread, 4 * words)
    b.emit("IADD", pointer[0], place, 4 * words)
    b.emit("LOP.AND", pointer[0], pointer[0], 4 * words * geometry.lanes - 1)
    for unused in pointer[1:]:
        b.emit("MOV", unused, 0)
    b.emit("STS" + SUFFIX[words], at(place), pointer[0], guard=FIRST_WARP)
    b.extend(waits(geometry))
    b.emit("BAR.SYNC", 0)
    b.shared_bytes = 4 * words * geometry.lanes


@dataclass(frozen=True, slots=True)
class RingFill:
    """Ring of elements of `words` words: word 0 of element i is base + stride ((i + 1) mod size), the others are 0."""

    base: int
    stride: int
    words: int
    size: int = WARP_SIZE

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return uint32 words at the indices."""
        following = (index // self.words + 1) % self.size
        return np.where(index % self.words == 0, self.base + self.stride * following, 0).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class IndexFill:
    """Every word of the element of `words` words is the element's index."""

    words: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return uint32 words at the indices."""
        return (index // self.words).astype(np.uint32)


def per_thread(
    values: Callable[[NDArray[np.int64]], NDArray[np.float64]], geometry: Geometry
) -> Callable[[int], Expectation]:
    """Return Kernel.expected for exact results: `values` gives float64 [results, threads] at the launch's threads.

    It can be pickled if `values` can.
    """
    return partial(_expected, values, geometry)


def _expected(
    values: Callable[[NDArray[np.int64]], NDArray[np.float64]], geometry: Geometry, block: int
) -> Expectation:
    size = geometry.threads_per_block
    threads = np.arange(block * size, (block + 1) * size, dtype=np.int64)
    value = np.atleast_2d(values(threads))
    index = np.arange(len(value))[:, None] * geometry.threads + threads
    return Expectation(RESULT, index.ravel(), value.ravel(), np.zeros(value.size))


def everywhere(value: Any, threads: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values of all threads if they are equal: a number, or one for each result."""
    return np.asarray(value + np.zeros(threads.shape))


def probe(
    name: str,
    b: Builder,
    geometry: Geometry,
    arguments: Mapping[str, object],
    expected: Callable[[int], Expectation],
    *,
    dtype: str = "f4",
    results: int = 1,
    data: tuple[Buffer, ...] = (),
    flops: int = 0,
) -> Kernel:
    """Return the kernel of a builder and its result buffer; `flops` are per thread. UserError beyond 32-bit reach."""
    buffers = (*data, Buffer(RESULT, dtype, results * geometry.threads))
    try:
        bases(buffers)
    except ValueError as error:
        raise UserError(f"{name}: {error}; give fewer warps or blocks") from None
    return Kernel(
        name=name,
        program=b.build(),
        grid=(geometry.blocks, 1, 1),
        block=(geometry.threads_per_block, 1, 1),
        buffers=buffers,
        expected=expected,
        flops=flops * geometry.threads,
        warp_size=geometry.lanes,
        arguments=dict(arguments),
    )
