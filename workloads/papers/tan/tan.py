"""DGEMM for Fermi as Tan, Li, Triechle, Phillips, Bao and Sun published it (SC'11), algorithm by algorithm.

A block of 256 threads computes a tile of C of 64 by 64, each thread 4 by 4 of it, in steps of 16 along k. Both operands
are contiguous along their rows (A as stored, B transposed), as the paper transposes one beforehand. Choices that the
paper leaves open are described in `tan_program`.

- alg1: tiles through shared memory, fetched between two rank-16 updates
- alg2: the next tile is fetched to registers meanwhile; elements that don't fit are spilled to local memory
- alg3, v2: two buffers of 8 along k: one is filled while the other is used
- v1: alg3 with one buffer of 16
- v3: v2 with shared loads between the DFMAs, as in the paper's figure 9
- v4: v3 with fetches, stores and barriers placed by the paper's static scheduler, of all places
"""

from __future__ import annotations

from isa.errors import UserError
from isa.kernel import Kernel
from workloads.builder import double_words
from workloads.check import at_most, factors, multiple, one_of
from workloads.gemm.problem import (
    Problem,
    buffers,
    check_addresses,
    promise,
)
from workloads.papers.tan.tan_plan import BLOCKING, DEPTH, FEWEST_SPILLED, SIDE, Plan
from workloads.papers.tan.tan_program import program

NAME = "dgemm-tan"
VARIANTS = ("alg1", "alg2", "alg3", "v1", "v2", "v3", "v4")
NARROW = ("alg1", "alg2")  # variants with 64-bit accesses in the paper; the others' have 128
BARRIERS = ("strict", "literal")
READS = ("plain", "tex1d")
ORDERS = ("figure9", "searched")
ORDERED = ("v3", "v4")  # variants with shared loads between the DFMAs
BLOCKINGS = {"alg1": (2, 4, 8), "alg3": (4, 8), "v2": (4, 8)}  # of other variants only the paper's
RACY = ("alg1", "alg2", "v1")  # with literal barriers and several tiles: one barrier is not enough for one buffer


def dgemm_tan(
    m: int = 128,
    n: int = 128,
    k: int = 128,
    variant: str = "alg1",
    width: int | None = None,
    barriers: str = "strict",
    spilled: int = FEWEST_SPILLED,
    read: str | None = None,
    blocking: int = BLOCKING,
    order: str = "figure9",
    alpha: float = 1.0,
    beta: float = 0.0,
) -> Kernel:
    """Build the kernel for C = alpha A B^T + beta C, column-major double precision, C m by n, inner size k.

    `variant` is one of VARIANTS; `width` the bits of its memory accesses, None those of the paper (v4 has no others);
    `barriers` strict, or literal: as the paper prints alg1 and alg2 (one barrier a tile) and describes v1, which race.
    `spilled`: doubles of alg2's prefetch that live in local memory. `read`: how A and B are read, plain or through
    textures (tex1d); None as in the paper, whose alg3 and v1 to v4, in machine language, read through textures.
    `blocking`: rows and columns of C of a thread, 4 in the paper; alg1 also takes 2 (at 64 bits) and 8, alg3 and v2
    take 8.
    `order` of the shared loads of v3 and v4: that of the paper's figure 9, or as its search finds it here.

    Raises UserError for sizes that don't tile, unknown or meaningless choices, and matrices beyond 32-bit addresses.
    """
    sizes = {"m": m, "n": n, "k": k}
    at_most(NAME, **sizes)
    for name, size in sizes.items():
        multiple(NAME, name, size, DEPTH if name == "k" else SIDE)
    one_of(NAME, "variant", variant, VARIANTS)
    width = width or (64 if variant in NARROW else 128)
    one_of(NAME, "width", width, (128,) if variant == "v4" else (64, 128))
    one_of(NAME, "barriers", barriers, BARRIERS)
    if barriers == "literal" and variant not in RACY:
        raise UserError(f"{NAME}: barriers=literal is the same as strict for {variant}; it is for {', '.join(RACY)}")
    one_of(NAME, "spilled", spilled, range(0, 9, 2))
    read = read or ("plain" if variant in NARROW else "tex1d")
    one_of(NAME, "read", read, READS)
    one_of(NAME, "blocking", blocking, tuple(b for b in BLOCKINGS.get(variant, (BLOCKING,)) if b > width // 64))
    one_of(NAME, "order", order, ORDERS if variant in ORDERED and width == 128 else ORDERS[:1])
    factors(NAME, alpha=alpha, beta=beta)
    problem = Problem(m, n, k, "nt", alpha, beta, "f8")
    check_addresses(NAME, problem, **sizes)
    plan = Plan(variant, width // 64, barriers == "strict", spilled, read == "tex1d", blocking, order == "searched")
    arguments = sizes | {"variant": variant, "width": width, "barriers": barriers, "spilled": spilled}
    arguments |= {"read": read, "blocking": blocking, "order": order}
    return Kernel(
        name=NAME,
        program=program(plan, reads_c=beta != 0),
        grid=(m // SIDE, n // SIDE, 1),
        block=(plan.threads, 1, 1),
        parameters=_parameters(problem, plan),
        buffers=buffers(problem),
        expected=promise(problem, SIDE),
        flops=problem.flops,
        racy=barriers == "literal" and k > DEPTH,
        arguments=arguments | {"alpha": alpha, "beta": beta},
    )


def _parameters(problem: Problem, plan: Plan) -> dict[str, int]:
    numbers = {"A_pitch": problem.lda, "B_pitch": problem.ldb, "tiles": problem.k // DEPTH}
    steps = {"A_step": plan.fetched_rows * problem.lda, "B_step": plan.fetched_rows * problem.ldb}
    numbers |= {name: step // plan.doubles if plan.textured else 8 * step for name, step in steps.items()}
    numbers |= {"C_pitch": problem.m, "C_step": 8 * problem.m, "C_skip": 8 * problem.m * plan.column_skip}
    words = {name: number & 0xFFFFFFFF for name, number in numbers.items()}
    return words | double_words("alpha", problem.alpha) | double_words("beta", problem.beta)
