"""The matrix product of Stanford's CME213, lecture 9 (2012), in square blocks: tiles of A and B in shared memory.

A block of `block` by `block` threads computes a tile of C of that size, an element each, in steps of `block` along k:
fetch an element of A and one of B, barrier, `block` fused multiply-adds with two shared loads each, barrier. Nothing is
padded: a warp's loads of A are broadcasts, those of B neighbouring words. Matrices are row-major, the loop over k
inside a tile is unrolled, and its loads issue `ahead` steps before their use, each after the sum of an earlier step, as
a compiler might place them: the document does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

from isa.errors import UserError
from isa.kernel import Kernel
from isa.operands.operand import Predicate, Register
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.check import MOST_THREADS, at_most, counts, multiple
from workloads.gemm.problem import (
    buffers,
    check_addresses,
    promise,
    row_major,
)

NAME = "matmul-block"
MORE = Predicate(0)


def matmul_block(m: int = 320, n: int = 320, k: int = 320, block: int = 32, ahead: int = 4) -> Kernel:
    """Build the kernel for C = A B, row-major single precision, C m by n, inner size k, in square blocks.

    Raises UserError for sizes that are not multiples of `block`, for blocks of more than 1,024 threads, if `ahead` is
    not 1 to `block`, and for matrices beyond 32-bit addresses.
    """
    sizes, shape = {"m": m, "n": n, "k": k}, {"block": block, "ahead": ahead}
    counts(NAME, 1, block=block)
    if block > isqrt(MOST_THREADS):
        raise UserError(f"{NAME}: block={block} makes {block * block} threads; give {isqrt(MOST_THREADS)} or less")
    at_most(NAME, **sizes)
    for name, size in sizes.items():
        multiple(NAME, name, size, block, "block")
    if not 1 <= ahead <= block:
        raise UserError(f"{NAME}: ahead={ahead} is not allowed; give 1 to {block} (block)")
    problem = row_major(m, n, k)
    check_addresses(NAME, problem, **sizes)
    return Kernel(
        name=NAME,
        program=program(block, ahead),
        grid=(n // block, m // block, 1),
        block=(block, block, 1),
        parameters={"k": k, "n": n, "row_bytes": 4 * k, "tile_bytes": 4 * n * block},
        buffers=buffers(problem),
        expected=promise(problem, block),
        flops=problem.flops,
        arguments=sizes | shape,
    )


def program(block: int, ahead: int) -> Program:
    """Build the program; its constants are A, B, C and those of `matmul_block`."""
    b, registers = Builder(shared_bytes=8 * block * block), RegisterMap(NAME)
    names = ("row", "column", "a", "b", "end", "store", "load_a", "load_b", "total")
    r = {name: registers.one(name) for name in names}
    x, y = registers.block("x", ahead), registers.block("y", ahead)
    _pointers(b, r, x[0], y[0], block)
    b.label("loop")
    b.emit("LDG", x[0], at(r["a"]))
    b.emit("LDG", y[0], at(r["b"]))
    b.emit("STS", at(r["store"]), x[0])
    b.emit("STS", at(r["store"], 4 * block * block), y[0])
    b.emit("BAR.SYNC", 0)
    for k in range(block + ahead):
        i = k % ahead
        if k >= ahead:
            b.emit("FFMA", r["total"], x[i], y[i], r["total"])
        if k < block:
            b.emit("LDS", x[i], at(r["load_a"], 4 * k))
            b.emit("LDS", y[i], at(r["load_b"], 4 * block * k))
    b.emit("BAR.SYNC", 0)
    b.emit("IADD", r["a"], r["a"], 4 * block)
    b.emit("IADD", r["b"], r["b"], "tile_bytes")
    b.emit("ISETP.LT.U32", MORE, r["a"], r["end"])
    b.emit("BRA", "loop", guard=MORE)
    _write_c(b, r)
    return b.build()


def _pointers(b: Builder, r: Mapping[str, Register], x: Register, y: Register, block: int) -> None:
    row, column = r["row"], r["column"]
    for place, axis in ((row, "Y"), (column, "X")):
        b.emit("S2R", place, f"TID.{axis}")
    b.emit("SHL", r["load_b"], column, 2)
    b.emit("IMUL", r["load_a"], row, 4 * block)
    b.emit("IADD", r["store"], r["load_a"], r["load_b"])
    b.emit("IADD", r["load_b"], r["load_b"], 4 * block * block)
    b.emit("SHL", x, column, 2)
    b.emit("IMAD", y, row, "n", column)
    for place, axis in ((row, "Y"), (column, "X")):
        b.emit("S2R", r["total"], f"CTAID.{axis}")
        b.emit("IMAD", place, r["total"], block, place)
    b.emit("IMAD", r["a"], row, "row_bytes", x)
    b.emit("IADD", r["a"], r["a"], "A")
    b.emit("IADD", r["end"], r["a"], "row_bytes")
    b.emit("IMAD", y, r["total"], block, y)  # the block's first column: this register still holds CTAID.X
    b.emit("SHL", r["b"], y, 2)
    b.emit("IADD", r["b"], r["b"], "B")
    b.emit("MOV", r["total"], 0)


def _write_c(b: Builder, r: Mapping[str, Register]) -> None:
    pointer = r["a"]
    b.emit("IMAD", pointer, r["row"], "n", r["column"])
    b.emit("SHL", pointer, pointer, 2)
    b.emit("IADD", pointer, pointer, "C")
    b.emit("STG", at(pointer), r["total"])
    b.emit("EXIT")
