"""AMD's very low power SGEMM for Vega (readme of the VLP SGEMM, MI60): A through scalar registers, no shared memory.

A block is 1, 2 or 4 waves and computes 64 rows and a column for each thread. Every 8 k a thread has 8 elements of its
column of B in registers, by two loads of 16 bytes, and the next 8 in flight. The rows of A come in groups of 8: for
each, eight scalar loads of 8 words fill s32 to s95; then one wait covers all of them, as they return in any order, and
64 multiply-adds with a scalar source follow. In the order `forwarding` the 8 of one sum are consecutive, so that the
sum stays in the pipe; `interleaved` cycles through the 8 rows.

The registers are the readme's. Addresses have 32 bits here: v2 and v3, in the readme one address of B, are those of B
and of C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from isa.kernel import Kernel
from isa.operand import Register, scalar
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.check import one_of
from workloads.gemm.problem import Values, buffers, fused_tile, promise, tile_of_block
from workloads.gemm.vega import LANES, ROWS, checked_product, product

NAME = "sgemm-vega-vlp"
ORDERS = ("forwarding", "interleaved")
STEP = 8  # k of a step, rows of a group
QUAD = 4  # words of a load of B
FIRST_OF_A = 32  # s32 to s95 hold a group: 8 rows by 8 k
X, Y, ROW, END, TEMPORARY = (scalar(i) for i in range(5))


def sgemm_vega_vlp(m: int = 128, n: int = 512, k: int = 64, threads: int = 256, order: str = "forwarding") -> Kernel:
    """Build the kernel for C = A B in single precision, `threads` of a block 64, 128 or 256: as many columns of a tile.

    Raises UserError for sizes that don't tile (m 64, n `threads`, k 16), unknown choices and matrices beyond 32-bit
    addresses.
    """
    one_of(NAME, "threads", threads, (64, 128, 256))
    one_of(NAME, "order", order, ORDERS)
    problem = checked_product(NAME, m, n, k, columns=threads, depth=2 * STEP)
    return Kernel(
        name=NAME,
        program=program(threads, order),
        grid=(n // threads, m // ROWS, 1),
        block=(threads, 1, 1),
        parameters={
            "row_bytes": 4 * k,
            "tile_bytes": 4 * k * ROWS,
            "step_back": 4 * (k * ROWS - STEP),
            "C_row_bytes": 4 * n,
            "C_tile_bytes": 4 * n * ROWS,
        },
        buffers=buffers(problem),
        expected=promise(problem, threads, ROWS),
        flops=problem.flops,
        warp_size=LANES,
        arguments={"m": m, "n": n, "k": k, "threads": threads, "order": order},
    )


def fused_reference(arguments: Mapping[str, Any], block: int) -> Values:
    """Compute the block's tile of C, [column, row], bit for bit from the kernel's `arguments` alone."""
    problem = product(arguments["m"], arguments["n"], arguments["k"])
    return fused_tile(problem, *tile_of_block(problem, arguments["threads"], block, ROWS))


def register_map() -> RegisterMap:
    """Return the readme's 83 vector registers: the thread's number, two pointers, 64 sums, two buffers for B of 8."""
    registers = RegisterMap(NAME)
    registers.one("thread")
    registers.block("pointers", 2, align=2)
    registers.block("sums", ROWS)
    registers.block("b", 2 * STEP, align=QUAD)
    return registers


def scalars_of_a() -> tuple[Register, ...]:
    """Return the scalar registers that hold a group of A, row by row."""
    return tuple(scalar(FIRST_OF_A + i) for i in range(STEP * STEP))


def program(threads: int, order: str) -> Program:
    """Build the program; its constants are A, B, C and those of `sgemm_vega_vlp`."""
    b, r = Builder(), register_map().blocks
    _pointers(b, r, threads)
    for total in r["sums"]:
        b.emit("V_MOV_B32", total, 0)
    _fetch(b, r, 0, 0)
    b.label("loop")
    b.emit("S_WAITCNT", 0, 63)
    _fetch(b, r, 1, 4 * STEP)
    _step(b, r, 0, order)
    b.emit("S_WAITCNT", 0, 63)
    _fetch_next(b, r)
    _step(b, r, 1, order)
    b.emit("S_CMP_LT_U32", ROW, END)
    b.emit("S_CBRANCH_SCC1", "loop")
    _write_c(b, r)
    return b.build()


def _pointers(b: Builder, r: Mapping[str, tuple[Register, ...]], threads: int) -> None:
    """Compute the addresses of the tile's first row of A, of the thread's column of B, and of its column of C."""
    (thread,), (column, place) = r["thread"], r["pointers"]
    b.emit("S2R", thread, "TID.X")
    b.emit("S2R", X, "CTAID.X")
    b.emit("S2R", Y, "CTAID.Y")
    b.emit("S_MUL_I32", ROW, Y, "tile_bytes")
    b.emit("S_ADD_U32", ROW, ROW, "A")
    b.emit("S_ADD_U32", END, ROW, "row_bytes")
    b.emit("S_MUL_I32", TEMPORARY, X, threads)
    b.emit("V_ADD_U32", place, thread, TEMPORARY)
    b.emit("V_MUL_LO_U32", column, place, "row_bytes")
    b.emit("V_ADD_U32", column, column, "B")
    b.emit("S_MUL_I32", TEMPORARY, Y, "C_tile_bytes")
    b.emit("S_ADD_U32", TEMPORARY, TEMPORARY, "C")
    b.emit("V_LSHLREV_B32", place, 2, place)
    b.emit("V_ADD_U32", place, place, TEMPORARY)


def _fetch(b: Builder, r: Mapping[str, tuple[Register, ...]], half: int, offset: int) -> None:
    """Load 8 elements of B into that half of the buffer registers."""
    for i in range(0, STEP, QUAD):
        b.emit("GLOBAL_LOAD_DWORDX4", r["b"][half * STEP + i], at(r["pointers"][0], offset + 4 * i))


def _fetch_next(b: Builder, r: Mapping[str, tuple[Register, ...]]) -> None:
    """Load the first 8 elements of B of the next round, if there is one."""
    b.emit("V_ADD_U32", r["pointers"][0], r["pointers"][0], 4 * 2 * STEP)
    b.emit("S_ADD_U32", TEMPORARY, ROW, 4 * STEP)
    b.emit("S_CMP_LT_U32", TEMPORARY, END)
    b.emit("S_CBRANCH_SCC0", "fetched")
    _fetch(b, r, 0, 0)
    b.label("fetched")


def _step(b: Builder, r: Mapping[str, tuple[Register, ...]], half: int, order: str) -> None:
    """Multiply 64 rows by 8 k of A with the thread's 8 elements of B."""
    a, factors = scalars_of_a(), r["b"][half * STEP :]
    for first in range(0, ROWS, STEP):
        for row in range(STEP):
            b.emit("S_LOAD_DWORDX8", a[row * STEP], at(ROW))
            b.emit("S_ADD_U32", ROW, ROW, "row_bytes")
        b.emit("S_WAITCNT", 63, 0)
        for row, k in _order(order):
            total = r["sums"][first + row]
            b.emit("V_FMA_F32", total, factors[k], a[row * STEP + k], total)
    b.emit("S_SUB_U32", ROW, ROW, "step_back")


def _order(order: str) -> Iterator[tuple[int, int]]:
    """Yield row and k of a group's multiply-adds, in order."""
    for i in range(STEP):
        for j in range(STEP):
            yield (i, j) if order == "forwarding" else (j, i)


def _write_c(b: Builder, r: Mapping[str, tuple[Register, ...]]) -> None:
    place = r["pointers"][1]
    for row, total in enumerate(r["sums"]):
        if row:
            b.emit("V_ADD_U32", place, place, "C_row_bytes")
        b.emit("GLOBAL_STORE_DWORD", at(place), total)
    b.emit("S_ENDPGM")
