"""Transposition of a matrix of doubles through shared memory, as Tan et al. (SC'11) need it before a product.

A block of 256 threads moves a tile of 32 by 32, each thread four elements. Both matrices are column-major and both are
accessed along columns, so that every access of a warp is to lines in whole; a tile's rows in shared memory have one
element more, so that no banks conflict. The paper says what the transposition costs and not how it is done.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from isa.errors import UserError
from isa.generators import hash_fill
from isa.kernel import Buffer, Expectation, Kernel
from isa.memory import bases, elements
from isa.operand import Register
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.check import at_most, multiple

NAME = "transpose"
TILE, ROWS = 32, 8  # a tile's sides; rows of threads
THREADS = TILE * ROWS
EACH = TILE // ROWS  # elements of a thread
PITCH = TILE + 1  # elements from row to row in shared memory
FILL = hash_fill(1, dtype="f8")


def transpose(rows: int = 256, columns: int = 256) -> Kernel:
    """Build the kernel for T = A^T in double precision; A has `rows` rows and `columns` columns, multiples of 32.

    Raises UserError for sizes that don't tile, and for matrices beyond 32-bit addresses.
    """
    at_most(NAME, rows=rows, columns=columns)
    multiple(NAME, "rows", rows, TILE)
    multiple(NAME, "columns", columns, TILE)
    buffers = Buffer("A", "f8", rows * columns, FILL), Buffer("T", "f8", rows * columns)
    try:
        bases(buffers)
    except ValueError as error:
        raise UserError(f"{NAME}: rows={rows} columns={columns}: {error}; give smaller sizes") from None
    return Kernel(
        name=NAME,
        program=_program(rows, columns),
        grid=(rows // TILE, columns // TILE, 1),
        block=(THREADS, 1, 1),
        buffers=buffers,
        expected=partial(_expected, rows, columns),
        arguments={"rows": rows, "columns": columns},
    )


@cache
def _program(rows: int, columns: int) -> Program:
    b, r = Builder(shared_bytes=8 * TILE * PITCH), RegisterMap(NAME)
    held = r.block("held", 2 * EACH, 2)[::2]
    x, y, i, j, place = map(r.one, ("x", "y", "i", "j", "place"))
    b.emit("S2R", y, "TID.X")
    b.emit("LOP.AND", x, y, TILE - 1)
    b.emit("SHR.U32", y, y, TILE.bit_length() - 1)
    _address(b, (x, y), ("CTAID.X", "CTAID.Y"), (i, j, place), "A", rows)
    for n, element in enumerate(held):
        b.emit("LDG.64", element, at(place, 8 * ROWS * rows * n))
    b.emit("IMAD", i, y, PITCH, x)
    b.emit("SHL", i, i, 3)
    for n, element in enumerate(held):
        b.emit("STS.64", at(i, 8 * ROWS * PITCH * n), element)
    b.emit("IMAD", j, x, PITCH, y)
    b.emit("SHL", j, j, 3)
    b.emit("BAR.SYNC", 0)
    for n, element in enumerate(held):
        b.emit("LDS.64", element, at(j, 8 * ROWS * n))
    _address(b, (x, y), ("CTAID.Y", "CTAID.X"), (i, j, place), "T", columns)
    for n, element in enumerate(held):
        b.emit("STG.64", at(place, 8 * ROWS * columns * n), element)
    b.emit("EXIT")
    return b.build()


def _address(
    b: Builder, thread: tuple[Register, ...], axes: tuple[str, str], free: tuple[Register, ...], name: str, pitch: int
) -> None:
    """Compute the address of the thread's first element of a tile, whose place in the grid is along these axes."""
    i, j, place = free
    for index, axis, own in zip((i, j), axes, thread, strict=True):
        b.emit("S2R", index, axis)
        b.emit("IMAD", index, index, TILE, own)
    b.emit("IMAD", place, j, pitch, i)
    b.emit("SHL", place, place, 3)
    b.emit("IADD", place, place, name)


def _expected(rows: int, columns: int, block: int) -> Expectation:
    """Return the block's tile of T."""
    y, x = divmod(block, rows // TILE)
    row = TILE * x + np.arange(TILE, dtype=np.int64)
    column = TILE * y + np.arange(TILE, dtype=np.int64)[:, None]
    index = (column + columns * row).ravel()
    value = elements(FILL, (row + rows * column).ravel(), "f8")
    return Expectation("T", index, value, np.zeros(len(index)))
