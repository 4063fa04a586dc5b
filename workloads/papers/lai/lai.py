"""SGEMM for Fermi as Lai and Seznec published it (INRIA research report RR-7923, 2012).

A block of 256 threads computes a tile of C of 16 blocking rows and columns, each thread blocking by blocking of them,
in steps of 16 along k. Per step: fetch the next tiles of A and B to registers, do 16 rank-1 updates from shared memory,
barrier, store the fetched elements to shared memory, barrier. The loop over k inside a tile is fully unrolled and has
no integer instruction: every shared address is a pointer plus an immediate.
"""

from __future__ import annotations

from isa.kernel import Kernel
from workloads.builder import float_bits
from workloads.check import at_most, counts, factors, multiple, one_of
from workloads.gemm.problem import Problem, buffers, check_addresses, promise
from workloads.gemm.tiles import DEPTH, SIDE, THREADS, pointer_steps, tile_bytes
from workloads.papers.lai.lai_program import ORDERS, Plan, plan_of, program_of

LAYOUTS = ("nn", "nt", "tn", "tt")


def sgemm_lai(
    m: int = 960,
    n: int = 960,
    k: int = 960,
    layout: str = "nt",
    lds: int = 64,
    blocking: int = 6,
    prefetch: bool | None = None,
    order: str = "interleaved",
    alpha: float = 1.0,
    beta: float = 0.0,
) -> Kernel:
    """Build the kernel for C = alpha op(A) op(B) + beta C, column-major single precision, C m by n, inner size k.

    `layout` is n or t for A, then for B; `lds` the bits of the shared-memory loads (at 128 the values of a thread are
    padded to a multiple of four words); `blocking` the rows and columns of C per thread; `prefetch` None means on, but
    off at 128 bits, where it would need 67 registers; `order` is base, or names the instructions that are moved as in
    section 4.2 of the report: addresses, prefetch, or interleaved (both).

    Raises UserError for sizes that don't tile, unknown choices, factors that may overflow, matrices beyond 32-bit
    addresses, and more registers than an instruction can name.
    """
    prefetch = lds != 128 if prefetch is None else prefetch
    _check(layout, lds, blocking, order)
    _check_sizes(blocking, m=m, n=n, k=k)
    factors("sgemm-lai", alpha=alpha, beta=beta)
    problem = Problem(m, n, k, layout, alpha, beta)
    plan = plan_of(layout, blocking, lds // 32, prefetch=prefetch, order=order)
    arguments = {"m": m, "n": n, "k": k, "layout": layout, "lds": lds, "blocking": blocking, "prefetch": prefetch}
    arguments |= {"order": order, "alpha": alpha, "beta": beta}
    check_addresses("sgemm-lai", problem, m=m, n=n, k=k)
    return Kernel(
        name="sgemm-lai",
        program=program_of(plan, reads_c=beta != 0),
        grid=(m // plan.a.tile.rows, n // plan.b.tile.rows, 1),
        block=(THREADS, 1, 1),
        parameters=_parameters(problem, plan),
        buffers=buffers(problem),
        expected=promise(problem, SIDE * blocking),
        flops=problem.flops,
        arguments=arguments,
    )


def _parameters(problem: Problem, plan: Plan) -> dict[str, int]:
    numbers = {"C_pitch": problem.m, "C_step": 4 * problem.m}
    chunk = plan.b.tile.chunk
    numbers["C_skip"] = 4 * problem.m * (SIDE * chunk - chunk + 1)
    for x, pitch in ((plan.a, problem.lda), (plan.b, problem.ldb)):
        step, following = pointer_steps(x.tile, pitch)
        numbers |= {f"{x.name}_pitch": pitch, f"{x.name}_step": step, f"{x.name}_next": following}
    numbers["A_extent"] = problem.k // DEPTH * tile_bytes(plan.a.tile, problem.lda)
    words = {name: number & 0xFFFFFFFF for name, number in numbers.items()}
    return {**words, "alpha": float_bits(problem.alpha), "beta": float_bits(problem.beta)}


def _check(layout: str, lds: int, blocking: int, order: str) -> None:
    one_of("sgemm-lai", "layout", layout, LAYOUTS)
    one_of("sgemm-lai", "lds", lds, (32, 64, 128))
    one_of("sgemm-lai", "order", order, ORDERS)
    counts("sgemm-lai", 1, blocking=blocking)


def _check_sizes(blocking: int, **sizes: int) -> None:
    at_most("sgemm-lai", **sizes)
    for name, size in sizes.items():
        if name == "k":
            multiple("sgemm-lai", name, size, DEPTH)
        else:
            multiple("sgemm-lai", name, size, SIDE * blocking, f"{SIDE} x blocking {blocking}")
