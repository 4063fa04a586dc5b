"""The usual SGEMM for Vega, from AMD's VLP SGEMM readme: tiles of A and B go through shared memory (the LDS).

A block is one wave of 8 by 8 threads and computes a tile of C of 64 by 64, each thread 8 by 8, in steps of 8 along k. A
thread fetches a row of A and a column of B, 8 elements each, to registers while the previous step is computed, and
writes them to the LDS, where the elements of all rows (of A) or columns (of B) at one k are adjacent. Per k it reads 8
elements of A and 8 of B from there. A thread's rows, and its columns, are 4 neighbours in each half of the tile, so
that 8 threads read 128 contiguous bytes. The readme has no listing: step, number of buffers and thread map are chosen
here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isa.kernel import Kernel
from isa.operands.operand import Register, scalar
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.gemm.problem import buffers, promise
from workloads.papers.vega.vega import LANES, ROWS, checked_product, product

NAME = "sgemm-vega-legacy"
COLUMNS = 64  # of a tile
DEPTH = 8  # k of a tile; rows and columns of a thread
QUAD = 4  # words of the widest access
HALF = 32  # rows of half a tile
PITCH = 4 * ROWS  # bytes from one k to the next in the LDS
TILE = DEPTH * PITCH  # bytes of A's tile, before that of B
X, Y, NEXT, END, TEMPORARY = (scalar(i) for i in range(5))


def sgemm_vega_legacy(m: int = 128, n: int = 128, k: int = 64) -> Kernel:
    """Build the kernel for C = A B in single precision.

    Raises UserError for sizes that don't tile (m and n 64, k 8) and matrices beyond 32-bit addresses.
    """
    problem = checked_product(NAME, product(m, n, k), columns=COLUMNS, depth=DEPTH)
    return Kernel(
        name=NAME,
        program=program(),
        grid=(n // COLUMNS, m // ROWS, 1),
        block=(LANES, 1, 1),
        parameters={"row_bytes": 4 * k, "C_row_bytes": 4 * n, "C_half_bytes": 4 * n * (HALF - QUAD + 1)},
        buffers=buffers(problem),
        expected=promise(problem, COLUMNS, ROWS),
        flops=problem.flops,
        warp_size=LANES,
        arguments={"m": m, "n": n, "k": k},
    )


def register_map() -> RegisterMap:
    """Return the vector registers: 8 of addresses and for scratch, 16 fetched, 16 read from the LDS, 64 sums."""
    registers = RegisterMap(NAME)
    for name in ("thread", "row", "column", "a", "b", "store", "load_a", "load_b"):
        registers.one(name)
    for name, size in (("fetched", 2 * DEPTH), ("line_a", DEPTH), ("line_b", DEPTH), ("sums", DEPTH * DEPTH)):
        registers.block(name, size, align=QUAD)
    return registers


def program() -> Program:
    """Build the program; its constants are A, B, C and those of `sgemm_vega_legacy`."""
    b, blocks = Builder(shared_bytes=2 * TILE), register_map().blocks
    r = {name: registers[0] for name, registers in blocks.items()}
    _pointers(b, r)
    for total in blocks["sums"]:
        b.emit("V_MOV_B32", total, 0)
    _fetch(b, r, blocks["fetched"])
    b.label("loop")
    _store(b, r, blocks["fetched"])
    _fetch_next(b, r, blocks["fetched"])
    b.emit("S_WAITCNT", 63, 0)
    b.emit("S_BARRIER")
    for k in range(DEPTH):
        _update(b, blocks, k)
    b.emit("S_CMP_LT_U32", NEXT, END)
    b.emit("S_CBRANCH_SCC1", "loop")
    _write_c(b, r, blocks["sums"])
    return b.build()


def _pointers(b: Builder, r: Mapping[str, Register]) -> None:
    b.emit("S2R", r["thread"], "TID.X")
    b.emit("S2R", X, "CTAID.X")
    b.emit("S2R", Y, "CTAID.Y")
    for pointer, block, matrix in (("a", Y, "A"), ("b", X, "B")):
        b.emit("S_LSHL_B32", TEMPORARY, block, 6)
        b.emit("V_ADD_U32", r[pointer], r["thread"], TEMPORARY)
        b.emit("V_MUL_LO_U32", r[pointer], r[pointer], "row_bytes")
        b.emit("V_ADD_U32", r[pointer], r[pointer], matrix)
    b.emit("V_AND_B32", r["column"], r["thread"], 7)
    b.emit("V_LSHRREV_B32", r["row"], 3, r["thread"])
    b.emit("V_LSHLREV_B32", r["store"], 2, r["thread"])
    b.emit("V_LSHLREV_B32", r["load_a"], 4, r["row"])
    b.emit("V_LSHLREV_B32", r["load_b"], 4, r["column"])
    b.emit("S_MOV_B32", NEXT, 0)
    b.emit("S_MOV_B32", END, "row_bytes")


def _fetch(b: Builder, r: Mapping[str, Register], fetched: tuple[Register, ...]) -> None:
    """Load 8 elements of a row of A and of a column of B, and advance the pointers."""
    for i, pointer in enumerate(("a", "b")):
        for j in range(0, DEPTH, QUAD):
            b.emit("GLOBAL_LOAD_DWORDX4", fetched[DEPTH * i + j], at(r[pointer], 4 * j))
        b.emit("V_ADD_U32", r[pointer], r[pointer], 4 * DEPTH)


def _store(b: Builder, r: Mapping[str, Register], fetched: tuple[Register, ...]) -> None:
    """Wait for the fetched elements and write them to the LDS."""
    b.emit("S_WAITCNT", 0, 63)
    for i, value in enumerate(fetched):
        b.emit("DS_WRITE_B32", at(r["store"], TILE * (i // DEPTH) + PITCH * (i % DEPTH)), value)


def _fetch_next(b: Builder, r: Mapping[str, Register], fetched: tuple[Register, ...]) -> None:
    b.emit("S_ADD_U32", NEXT, NEXT, 4 * DEPTH)
    b.emit("S_CMP_LT_U32", NEXT, END)
    b.emit("S_CBRANCH_SCC0", "fetched")
    _fetch(b, r, fetched)
    b.label("fetched")


def _update(b: Builder, blocks: Mapping[str, tuple[Register, ...]], k: int) -> None:
    """Add the product of a column of A and a row of B: four loads from the LDS, 64 multiply-adds."""
    lines = (("load_a", "line_a", 0), ("load_b", "line_b", TILE))
    for pointer, line, base in lines:
        for half in range(2):
            place = at(blocks[pointer][0], base + PITCH * k + 4 * HALF * half)
            b.emit("DS_READ_B128", blocks[line][QUAD * half], place)
    b.emit("S_WAITCNT", 63, 0)
    for row, column in _places():
        total = blocks["sums"][DEPTH * row + column]
        b.emit("V_FMA_F32", total, blocks["line_a"][row], blocks["line_b"][column], total)


def _places() -> Iterator[tuple[int, int]]:
    """Yield row and column of a thread's sums."""
    for row in range(DEPTH):
        for column in range(DEPTH):
            yield row, column


def _write_c(b: Builder, r: Mapping[str, Register], sums: tuple[Register, ...]) -> None:
    """Store the sums, four columns at a time."""
    row, column = r["row"], r["column"]
    for block, place in ((Y, row), (X, column)):
        b.emit("S_LSHL_B32", TEMPORARY, block, 6)
        b.emit("V_LSHLREV_B32", place, 2, place)
        b.emit("V_ADD_U32", place, place, TEMPORARY)
    b.emit("V_MUL_LO_U32", row, row, "C_row_bytes")
    b.emit("V_LSHLREV_B32", column, 2, column)
    b.emit("V_ADD3_U32", row, row, column, "C")
    for i in range(DEPTH):
        if i:
            b.emit("V_ADD_U32", row, row, "C_half_bytes" if i == QUAD else "C_row_bytes")
        for half in range(2):
            b.emit("GLOBAL_STORE_DWORDX4", at(row, 4 * HALF * half), sums[DEPTH * i + QUAD * half])
    b.emit("S_ENDPGM")
