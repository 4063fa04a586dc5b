"""A matrix transpose whose stores may all go to one channel of the DRAM: partition camping.

A block of 32 by 8 threads moves a tile of 32 by 32 words through shared memory. Its loads and its stores are whole rows
of the tile, so neighbouring blocks of the grid read neighbouring columns, but write one below the other. If the rows
that are written have a distance of a multiple of channels x channel bytes, what runs at one time stores to one channel.
A few unused words after each row spread the stores over the channels (Ruetsch and Micikevicius, "Optimizing matrix
transpose in CUDA", NVIDIA, 2009).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from isa.errors import UserError
from isa.kernel import Buffer, Expectation, Kernel
from isa.memory import bases
from workloads.builder import Builder, RegisterMap, at
from workloads.check import counts, multiple
from workloads.microbench.probe import IndexFill

NAME = "partition-camping"
SIDE, HEIGHT = 32, 8  # of a tile, and threads along its columns
PITCH = SIDE + 1  # words between the tile's rows in shared memory, so that its columns lie in different banks
MOVES = SIDE // HEIGHT  # rows of a thread
FROM, TO = "in", "out"


def partition_camping(rows: int = 512, columns: int = 512, pad: int = 0) -> Kernel:
    """Build a kernel that transposes a row-major matrix of 32-bit words; each row, read or written, has `pad` more.

    Raises UserError for sizes that are not multiples of 32, a negative pad, and matrices beyond 32-bit addresses.
    """
    counts(NAME, 0, rows=rows, columns=columns, pad=pad)
    for name, size in (("rows", rows), ("columns", columns)):
        multiple(NAME, name, size, SIDE, "a tile")
    read, written = columns + pad, rows + pad
    buffers = Buffer(FROM, "u4", rows * read, IndexFill(1)), Buffer(TO, "u4", columns * written)
    try:
        bases(buffers)
    except ValueError as error:
        raise UserError(f"{NAME}: rows={rows} columns={columns} pad={pad}: {error}; give smaller sizes") from None
    parameters = {
        "in_pitch": read,
        "in_step": 4 * HEIGHT * read,
        "out_pitch": written,
        "out_step": 4 * HEIGHT * written,
    }
    return Kernel(
        name=NAME,
        program=_program().build(),
        grid=(columns // SIDE, rows // SIDE, 1),
        block=(SIDE, HEIGHT, 1),
        parameters=parameters,
        buffers=buffers,
        expected=partial(_expected, read, written, columns // SIDE),
        arguments={"rows": rows, "columns": columns, "pad": pad},
    )


def _program() -> Builder:
    b, registers = Builder(shared_bytes=4 * SIDE * PITCH), RegisterMap(NAME)
    x, y, tile_x, tile_y, row, place, shared = map(registers.one, ("x", "y", "tx", "ty", "row", "place", "shared"))
    values = registers.block("values", MOVES)
    for register, special in ((x, "TID.X"), (y, "TID.Y"), (tile_x, "CTAID.X"), (tile_y, "CTAID.Y")):
        b.emit("S2R", register, special)
    b.emit("IMAD", row, tile_y, SIDE, y)
    b.emit("IMAD", place, tile_x, SIDE, x)
    b.emit("IMAD", place, row, "in_pitch", place)
    b.emit("SHL", place, place, 2)
    b.emit("IADD", place, place, FROM)
    for number, value in enumerate(values):
        if number:
            b.emit("IADD", place, place, "in_step")
        b.emit("LDG", value, at(place))
    b.emit("IMAD", shared, y, PITCH, x)
    b.emit("SHL", shared, shared, 2)
    for number, value in enumerate(values):
        b.emit("STS", at(shared, 4 * HEIGHT * PITCH * number), value)
    b.emit("BAR.SYNC", 0)
    b.emit("IMAD", shared, x, PITCH, y)
    b.emit("SHL", shared, shared, 2)
    for number, value in enumerate(values):
        b.emit("LDS", value, at(shared, 4 * HEIGHT * number))
    b.emit("IMAD", row, tile_x, SIDE, y)
    b.emit("IMAD", place, tile_y, SIDE, x)
    b.emit("IMAD", place, row, "out_pitch", place)
    b.emit("SHL", place, place, 2)
    b.emit("IADD", place, place, TO)
    for number, value in enumerate(values):
        if number:
            b.emit("IADD", place, place, "out_step")
        b.emit("STG", at(place), value)
    b.emit("EXIT")
    return b


def _expected(read: int, written: int, across: int, block: int) -> Expectation:
    """Return the tile that the block writes: the word of row r and column c goes to row c and column r."""
    tile_y, tile_x = divmod(block, across)
    r, c = (SIDE * tile + np.arange(SIDE, dtype=np.int64) for tile in (tile_y, tile_x))
    index, value = c[:, None] * written + r, r * read + c[:, None]
    return Expectation(TO, index.ravel(), value.ravel().astype(np.float64), np.zeros(value.size))
