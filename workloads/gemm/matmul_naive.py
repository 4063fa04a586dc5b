"""The matrix product of Stanford's CME213, lecture 9 (2012), without blocking: a thread for each element of C.

Each thread walks along its row of A and its column of B, straight from global memory: per k two loads, a fused
multiply-add, and seven instructions for pointers and loop. Pointers have 64 bits, as in the document: its 64 bytes of
constants are 32 of the launch (CUDA's sm_20), three such pointers and two widths. Matrices are row-major, and the loop
is not unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isa.kernel import Kernel
from isa.operands.operand import Predicate, Register
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at
from workloads.check import at_most, block_shape, counts, multiple
from workloads.gemm.problem import (
    buffers,
    check_addresses,
    promise,
    row_major,
)

NAME = "matmul-naive"
MORE = Predicate(0)


def matmul_naive(m: int = 256, n: int = 256, k: int = 64, block_x: int = 32, block_y: int = 8) -> Kernel:
    """Build the kernel for C = A B, row-major single precision, C m by n, in blocks of block_x columns, block_y rows.

    Raises UserError for sizes that the blocks don't divide, for blocks of more than 1,024 threads, and for matrices
    beyond 32-bit addresses.
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
        parameters={"k": k, "n": n} | shape,
        buffers=buffers(problem),
        expected=promise(problem, block_x, block_y),
        flops=problem.flops,
        arguments=sizes | shape,
    )


def program() -> Program:
    """Build the program; its constants are A, B, C and those of `matmul_naive`.

    It has a register for each value that the source names and uses again, and one for the stack pointer, which the ABI
    of sm_20 reserves (RR-7923).
    """
    b, registers = Builder(), RegisterMap(NAME)
    names = ("stack", "tx", "ty", "bx", "by", "a", "end", "total", "x", "y")
    r = {name: registers.one(name) for name in names}
    pairs = {name: registers.block(name, 2) for name in ("of_a", "of_b", "step")}
    _begin(b, r, pairs)
    b.label("loop")
    b.emit("LDG", r["x"], at(pairs["of_a"][0]))
    b.emit("LDG", r["y"], at(pairs["of_b"][0]))
    b.emit("IADD", r["a"], r["a"], 1)
    _advance(b, pairs["of_a"], 4, 0)
    _advance(b, pairs["of_b"], *pairs["step"])
    b.emit("ISETP.LE", MORE, r["a"], r["end"])
    b.emit("FFMA", r["total"], r["x"], r["y"], r["total"])
    b.emit("BRA", "loop", guard=MORE)
    _write_c(b, r, pairs["of_b"][0])
    return b.build()


def _begin(b: Builder, r: Mapping[str, Register], pairs: Mapping[str, Sequence[Register]]) -> None:
    b.emit("MOV", r["stack"], 0)
    for target, special in (("tx", "TID.X"), ("ty", "TID.Y"), ("bx", "CTAID.X"), ("by", "CTAID.Y")):
        b.emit("S2R", r[target], special)
    b.emit("IMUL", r["x"], r["by"], "block_y")
    b.emit("IMUL", r["a"], r["x"], "k")
    b.emit("IADD", r["end"], r["a"], "k")
    b.emit("IADD", r["end"], r["end"], -1)
    b.emit("IMAD", r["x"], r["ty"], "k", r["a"])
    b.emit("IMAD", r["y"], r["bx"], "block_x", r["tx"])
    for (low, high), index, matrix in ((pairs["of_a"], r["x"], "A"), (pairs["of_b"], r["y"], "B")):
        b.emit("SHL", index, index, 2)
        b.emit("IADD", low, index, matrix)
        b.emit("MOV", high, 0)
    low, high = pairs["step"]
    b.emit("MOV", low, "n")
    b.emit("SHL", low, low, 2)
    b.emit("MOV", high, 0)
    b.emit("MOV", r["total"], 0)


def _advance(b: Builder, pointer: Sequence[Register], low: Register | int, high: Register | int) -> None:
    """Add 64 bits to a pointer, the upper word without carry, as memory here ends below 4 GiB."""
    b.emit("IADD", pointer[0], pointer[0], low)
    b.emit("IADD", pointer[1], pointer[1], high)


def _write_c(b: Builder, r: Mapping[str, Register], pointer: Register) -> None:
    b.emit("IMAD", r["by"], r["by"], "block_y", r["ty"])
    b.emit("IMAD", r["bx"], r["bx"], "block_x", r["tx"])
    b.emit("IMAD", pointer, r["by"], "n", r["bx"])
    b.emit("SHL", pointer, pointer, 2)
    b.emit("IADD", pointer, pointer, "C")
    b.emit("STG", at(pointer), r["total"])
    b.emit("EXIT")
