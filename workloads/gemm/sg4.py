"""SGEMM with a blocking for SMs with four schedulers, as a stream on which simulators of such SMs can be compared.

A block of 256 threads computes a tile of C of 128 by 128, each thread 8 by 8 of it, in steps of 8 along k: per k 64
FFMAs and 4 LDS.128, per tile 2 LDG.128, 5 stores to shared memory and one barrier. This exact kernel is not published;
its shape is common in hand-written SGEMMs since 128 registers per thread are available. See `sg4_program`.
"""

from __future__ import annotations

from isa.kernel import Kernel
from workloads.check import at_most, multiple
from workloads.gemm.problem import Problem, buffers, check_addresses, promise
from workloads.gemm.sg4_program import DEPTH, SIDE, THREADS, VECTOR, program


def sg4(m: int = 256, n: int = 256, k: int = 1024) -> Kernel:
    """Build the kernel for C = A B, column-major single precision, C m by n, inner size k.

    Raises UserError for sizes that don't tile, and for matrices beyond 32-bit addresses.
    """
    sizes = {"m": m, "n": n, "k": k}
    at_most("sg4", **sizes)
    for name, size in sizes.items():
        multiple("sg4", name, size, DEPTH if name == "k" else SIDE)
    problem = Problem(m, n, k, "nn")
    check_addresses("sg4", problem, m=m, n=n, k=k)
    return Kernel(
        name="sg4",
        program=program(),
        grid=(m // SIDE, n // SIDE, 1),
        block=(THREADS, 1, 1),
        parameters=_parameters(problem),
        buffers=buffers(problem),
        expected=promise(problem, SIDE),
        flops=problem.flops,
        arguments=sizes,
    )


def _parameters(problem: Problem) -> dict[str, int]:
    numbers = {"A_pitch": problem.lda, "A_step": 4 * problem.lda * DEPTH, "A_extent": 4 * problem.lda * problem.k}
    numbers |= {"B_pitch": problem.ldb, "C_pitch": problem.m, "C_step": 4 * problem.m}
    numbers["C_skip"] = 4 * problem.m * (SIDE // 2 - VECTOR + 1)  # from a thread's first group of columns to its second
    return {name: number & 0xFFFFFFFF for name, number in numbers.items()}
