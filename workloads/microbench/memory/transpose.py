"""Transposition of a matrix through shared memory: of doubles, and of words whose stores may all go to one channel.

A block of 32 by 8 threads moves a tile of 32 by 32, each thread four elements. Its loads and its stores are whole rows
of the tile; a tile's rows in shared memory have one element more, so that no banks conflict.

Tan et al. (SC'11) transpose a matrix of doubles before a product; the paper says what this costs and not how it is
done. Of words the kernel shows partition camping: neighbouring blocks of the grid read neighbouring columns, but write
one below the other. If the rows that are written have a distance of a multiple of channels x channel bytes, what runs
at one time stores to one channel. A few unused words after each row spread the stores over the channels (Ruetsch and
Micikevicius, "Optimizing matrix transpose in CUDA", NVIDIA, 2009).
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from isa.errors import UserError
from isa.generators import iota_fill
from isa.kernel import Buffer, Expectation, Kernel
from isa.memory import bases, elements
from isa.operands.operand import Register
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.check import counts, multiple

NAME, CAMPING = "transpose", "partition-camping"
SIDE, HEIGHT = 32, 8  # of a tile, and threads along its columns
PITCH = SIDE + 1  # elements between the tile's rows in shared memory
MOVES = SIDE // HEIGHT  # elements of a thread
WORD, DOUBLE = "u4", "f8"
SUFFIX = {WORD: "", DOUBLE: ".64"}
FROM, TO = "in", "out"


def transpose(rows: int = 256, columns: int = 256) -> Kernel:
    """Build the kernel for T = A^T in double precision, column-major; A has `rows` rows and `columns` columns.

    Raises UserError for sizes that are not multiples of 32, and matrices beyond 32-bit addresses.
    """
    arguments = {"rows": rows, "columns": columns}
    return _kernel(NAME, DOUBLE, (columns, rows), 0, arguments)  # a column of A is contiguous, as a row in `_kernel` is


def partition_camping(rows: int = 512, columns: int = 512, pad: int = 0) -> Kernel:
    """Build a kernel that transposes a row-major matrix of 32-bit words; each row, read or written, has `pad` more.

    Raises UserError for sizes that are not multiples of 32, a negative pad, and matrices beyond 32-bit addresses.
    """
    return _kernel(CAMPING, WORD, (rows, columns), pad, {"rows": rows, "columns": columns, "pad": pad})


def _kernel(name: str, dtype: str, shape: tuple[int, int], pad: int, arguments: dict[str, int]) -> Kernel:
    """Build the kernel for a matrix of contiguous rows of that type, with `pad` unused elements after each."""
    counts(name, 0, **arguments)
    for key in ("rows", "columns"):
        multiple(name, key, arguments[key], SIDE, "a tile")
    rows, columns = shape
    read, written = columns + pad, rows + pad
    buffers = Buffer(FROM, dtype, rows * read, iota_fill(dtype)), Buffer(TO, dtype, columns * written)
    try:
        bases(buffers)
    except ValueError as error:
        text = " ".join(f"{key}={value}" for key, value in arguments.items())
        raise UserError(f"{name}: {text}: {error}; give smaller sizes") from None
    return Kernel(
        name=name,
        program=_program(name, dtype, read, written),
        grid=(columns // SIDE, rows // SIDE, 1),
        block=(SIDE, HEIGHT, 1),
        buffers=buffers,
        expected=partial(_expected, dtype, read, written, columns // SIDE),
        arguments=arguments,
    )


@cache
def _program(name: str, dtype: str, read: int, written: int) -> Program:
    size, suffix = np.dtype(dtype).itemsize, SUFFIX[dtype]
    b, r = Builder(shared_bytes=size * SIDE * PITCH), RegisterMap(name)
    held = r.block("held", MOVES * size // 4, size // 4)[:: size // 4]
    x, y, tile_x, tile_y, row, place, shared = map(r.one, ("x", "y", "tx", "ty", "row", "place", "shared"))
    for register, special in ((x, "TID.X"), (y, "TID.Y"), (tile_x, "CTAID.X"), (tile_y, "CTAID.Y")):
        b.emit("S2R", register, special)
    _address(b, (x, y), (tile_x, tile_y), (row, place), FROM, read, size)
    for n, element in enumerate(held):
        b.emit(f"LDG{suffix}", element, at(place, size * HEIGHT * read * n))
    _scaled(b, shared, y, PITCH, x, size)
    for n, element in enumerate(held):
        b.emit(f"STS{suffix}", at(shared, size * HEIGHT * PITCH * n), element)
    b.emit("BAR.SYNC", 0)
    _scaled(b, shared, x, PITCH, y, size)
    for n, element in enumerate(held):
        b.emit(f"LDS{suffix}", element, at(shared, size * HEIGHT * n))
    _address(b, (x, y), (tile_y, tile_x), (row, place), TO, written, size)
    for n, element in enumerate(held):
        b.emit(f"STG{suffix}", at(place, size * HEIGHT * written * n), element)
    b.emit("EXIT")
    return b.build()


def _address(
    b: Builder,
    thread: tuple[Register, Register],
    tile: tuple[Register, Register],
    free: tuple[Register, Register],
    name: str,
    pitch: int,
    size: int,
) -> None:
    """Compute to the second free register the address of the thread's first element of a tile."""
    row, place = free
    b.emit("IMAD", row, tile[1], SIDE, thread[1])
    b.emit("IMAD", place, tile[0], SIDE, thread[0])
    _scaled(b, place, row, pitch, place, size)
    b.emit("IADD", place, place, name)


def _scaled(b: Builder, to: Register, row: Register, pitch: int, column: Register, size: int) -> None:
    """Compute the byte offset of an element by its row and column."""
    b.emit("IMAD", to, row, pitch, column)
    b.emit("SHL", to, to, size.bit_length() - 1)


def _expected(dtype: str, read: int, written: int, across: int, block: int) -> Expectation:
    """Return the tile that the block writes: the element of row r and column c goes to row c and column r."""
    tile_y, tile_x = divmod(block, across)
    r, c = (SIDE * tile + np.arange(SIDE, dtype=np.int64) for tile in (tile_y, tile_x))
    index, source = (c[:, None] * written + r).ravel(), (r * read + c[:, None]).ravel()
    value = elements(iota_fill(dtype), source, dtype).astype(np.float64)
    return Expectation(TO, index, value, np.zeros(len(index)))
