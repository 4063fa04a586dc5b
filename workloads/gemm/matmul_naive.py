"""The matrix product of Stanford's CME213, lecture 9 (2012), without blocking: a thread for each element of C.

Each thread walks along its row of A and its column of B, straight from global memory: per k two loads, a fused
multiply-add, and five instructions for pointers and loop. Matrices are row-major. The loop is not unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isa.kernel import Kernel
from isa.operand import Predicate
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.check import at_most, block_shape, counts, multiple
from workloads.gemm.problem import (
    Values,
    buffers,
    check_addresses,
    expectation,
    fused_tile,
    row_major,
    tile_of_block,
)

NAME = "matmul-naive"
MORE = Predicate(0)


def matmul_naive(m: int = 256, n: int = 256, k: int = 64, block_x: int = 32, block_y: int = 8) -> Kernel:
    """Build the kernel for C = A B, row-major single precision, C m by n, in blocks of block_x columns, block_y rows.

    Raises UserError for sizes that the blocks don't divide, for blocks of more threads than 1,024, and for matrices
    beyond what 32-bit addresses reach.
    """
    sizes, shape = {"m": m, "n": n, "k": k}, {"block_x": block_x, "block_y": block_y}
    block_shape(NAME, **shape)
    counts(NAME, 1, k=k)
    at_most(NAME, **sizes)
    multiple(NAME, "m", m, block_y, "block_y")
    multiple(NAME, "n", n, block_x, "block_x")
    problem = row_major(m, n, k)
    check_addresses(NAME, problem, **sizes)
    return Kernel(
        name=NAME,
        program=program(),
        grid=(n // block_x, m // block_y, 1),
        block=(block_x, block_y, 1),
        parameters={"k": k, "n": n, "row_bytes": 4 * n} | shape,
        buffers=buffers(problem),
        expected=lambda block: expectation(problem, *tile_of_block(problem, block_x, block, block_y)),
        flops=problem.flops,
        arguments=sizes | shape,
    )


def fused_reference(arguments: Mapping[str, Any], block: int) -> Values:
    """Compute the block's part of C, [column, row], bit for bit from the kernel's `arguments` alone."""
    problem = row_major(arguments["m"], arguments["n"], arguments["k"])
    return fused_tile(problem, *tile_of_block(problem, arguments["block_x"], block, arguments["block_y"]))


def program() -> Program:
    """Build the program; its constants are A, B, C and those of `matmul_naive`."""
    b, registers = Builder(), RegisterMap(NAME)
    row, column, a, b_pointer = map(registers.one, ("row", "column", "a", "b"))
    step, x, y, total = map(registers.one, ("step", "x", "y", "total"))
    for target, block, size, thread in ((row, "CTAID.Y", "block_y", "TID.Y"), (column, "CTAID.X", "block_x", "TID.X")):
        b.emit("S2R", x, block)
        b.emit("S2R", target, thread)
        b.emit("IMAD", target, x, size, target)
    b.emit("IMUL", a, row, "k")
    for pointer, index, matrix in ((a, a, "A"), (b_pointer, column, "B")):
        b.emit("SHL", pointer, index, 2)
        b.emit("IADD", pointer, pointer, matrix)
    b.emit("MOV", total, 0)
    b.emit("MOV", step, 0)
    b.label("loop")
    b.emit("LDG", x, at(a))
    b.emit("LDG", y, at(b_pointer))
    b.emit("IADD", a, a, 4)
    b.emit("IADD", b_pointer, b_pointer, "row_bytes")
    b.emit("IADD", step, step, 1)
    b.emit("ISETP.LT", MORE, step, "k")
    b.emit("FFMA", total, x, y, total)
    b.emit("BRA", "loop", guard=MORE)
    b.emit("IMAD", row, row, "n", column)
    b.emit("SHL", row, row, 2)
    b.emit("IADD", row, row, "C")
    b.emit("STG", at(row), total)
    b.emit("EXIT")
    return b.build()
