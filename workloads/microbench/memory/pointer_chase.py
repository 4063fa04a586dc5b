"""Pointer chasing through global memory: cycles per load, by footprint, show the latency of the cache or memory."""

from __future__ import annotations

from functools import partial

from isa.kernel import WARP_SIZE, WARP_SIZES, Buffer, Kernel
from isa.memory import bases
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.check import counts, multiple, one_of
from workloads.microbench.probe import (
    Geometry,
    RingFill,
    everywhere,
    per_thread,
    probe,
    repeat,
    store_results,
    thread_index,
    waits,
)

RING = "ring"
BODY = 256  # loads of the loop body


def pointer_chase(footprint: int = 16384, *, stride: int = 128, loads: int = 1024, lanes: int = WARP_SIZE) -> Kernel:
    """Build a kernel of one warp whose lanes follow one ring of pointers, `stride` bytes apart in `footprint` bytes.

    The first round misses all caches, further rounds hit the cache that holds the ring. Raises UserError for a
    footprint that is not a whole number of strides, a stride that is not a whole number of words, loads that are not a
    multiple of 256, and numbers too small or large.
    """
    one_of("pointer-chase", "lanes", lanes, WARP_SIZES)
    counts("pointer-chase", 1, footprint=footprint, stride=stride, loads=loads)
    multiple("pointer-chase", "stride", stride, 4, "a word")
    multiple("pointer-chase", "footprint", footprint, stride, "the stride")
    multiple("pointer-chase", "loads", loads, BODY, "the loop body")
    b, registers, geometry = Builder(), RegisterMap("pointer-chase"), Geometry(1, lanes=lanes)
    index, x = thread_index(b, registers), registers.one("x")
    b.emit("MOV", x, RING)
    repeat(b, registers, loads // BODY, [instruction("LDG", x, at(x)), *waits(geometry)] * BODY)
    store_results(b, index, geometry, [x])
    size = footprint // stride
    base = bases((Buffer(RING, "u4", footprint // 4),))[RING]
    place = partial(everywhere, float(base + stride * (loads % size)))
    data = Buffer(RING, "u4", footprint // 4, RingFill(base, stride, stride // 4, size))
    arguments = {"footprint": footprint, "stride": stride, "loads": loads, "lanes": lanes}
    return probe("pointer-chase", b, geometry, arguments, per_thread(place, geometry), dtype="u4", data=(data,))
