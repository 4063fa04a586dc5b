"""A copy from memory to memory at an offset: the probe of Tan et al. (SC'11), figure 2.

Each thread copies one element of 32, 64 or 128 bits. Threads and elements are in the same order, and the first element
lies `offset` elements behind the start of a line, in both arrays.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from isa.errors import UserError
from isa.kernel import WARP_SIZE, Buffer, Expectation, Kernel
from isa.memory import bases
from workloads.builder import Builder, RegisterMap, at
from workloads.check import block_shape, counts, one_of
from workloads.microbench.probe import SUFFIX, Geometry, IndexFill, thread_index

NAME = "offset-copy"
WIDTHS = (32, 64, 128)


def offset_copy(width: int = 64, *, offset: int = 0, warps: int = 32, blocks: int = 16) -> Kernel:
    """Build a kernel whose threads each copy an element of `width` bits, `offset` elements behind a line's start.

    Raises UserError for an unknown width, for numbers too small, and for arrays beyond 32-bit addresses.
    """
    one_of(NAME, "width", width, WIDTHS)
    counts(NAME, 0, offset=offset)
    counts(NAME, 1, warps=warps, blocks=blocks)
    block_shape(NAME, warps=warps, lanes=WARP_SIZE)
    words = width // 32
    geometry = Geometry(warps, blocks)
    elements = words * (offset + geometry.threads)
    buffers = Buffer("x", "u4", elements, IndexFill(1)), Buffer("y", "u4", elements)
    try:
        bases(buffers)
    except ValueError as error:
        raise UserError(f"{NAME}: width={width} warps={warps} blocks={blocks}: {error}; give less") from None
    b, registers = Builder(), RegisterMap(NAME)
    index, value = thread_index(b, registers), registers.block("value", words, words)[0]
    source, target = registers.one("source"), registers.one("target")
    b.emit("SHL", index, index, words.bit_length() + 1)
    b.emit("IADD", source, index, "x")
    b.emit("IADD", target, index, "y")
    b.emit("LDG" + SUFFIX[words], value, at(source, 4 * words * offset))
    b.emit("STG" + SUFFIX[words], at(target, 4 * words * offset), value)
    b.emit("EXIT")
    return Kernel(
        name=NAME,
        program=b.build(),
        grid=(blocks, 1, 1),
        block=(warps * WARP_SIZE, 1, 1),
        buffers=buffers,
        expected=partial(_expected, words, offset, geometry),
        arguments={"width": width, "offset": offset, "warps": warps, "blocks": blocks},
    )


def _expected(words: int, offset: int, geometry: Geometry, block: int) -> Expectation:
    """Return the words that the block copies."""
    each = words * geometry.threads_per_block
    index = words * offset + each * block + np.arange(each, dtype=np.int64)
    value = IndexFill(1)(index).astype(np.float64)
    return Expectation("y", index, value, np.zeros(each))
