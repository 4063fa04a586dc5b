"""The GEMM stencil of Kurzak, Tomov and Dongarra (PPAM 2011): one kernel for every BLAS case, tuned by nine parameters.

A block computes a tile of C. Per step along k its threads fetch the next tiles of A and B to registers, update their
part of C from shared memory, wait at a barrier, store the fetched elements to shared memory (transposed if the matrix
is), and wait again. A tile in shared memory has one extra element per row, so that its columns lie in different banks.

- precision: s, d, c, z: single or double, real or complex
- layout: n, t or c (conjugate transpose) for A, then for B
- read: plain loads, or through 1D or 2D textures

That is 2 (4 + 9) 3 = 78 cases. Sizes need not be multiples of the tile: coordinates of textures are clamped, plain
loads beyond the matrix are left out, border blocks compute like all others, and results outside C are not stored. If
the sizes are multiples, plain loads and stores have no condition. Columns of a stored matrix are contiguous, and the
leading dimension is the distance from one to the next.

Row-major matrices are column-major transposed ones. So for them the kernel computes C^T = alpha op(B)^T op(A)^T + beta
C^T: m and n, and A and B, change places, and the tuning parameters are those of that product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from isa.errors import UserError
from isa.kernel import Kernel
from isa.program import Program
from workloads.builder import double_words, float_bits
from workloads.check import counts, factors, fits, one_of
from workloads.gemm.problem import (
    Problem,
    buffers,
    check_addresses,
    promise,
)
from workloads.papers.kurzak.stencil_plan import Plan, plan_of
from workloads.papers.kurzak.stencil_program import program
from workloads.papers.kurzak.stencil_tuning import NAME, TUNING, Tuning, check, published_tuning

PRECISIONS = ("s", "d", "c", "z")
READS = ("plain", "tex1d", "tex2d")
SKEWS = ("on", "off")
ORDERS = ("column", "row")
LEADING = ("lda", "ldb", "ldc")
LAYOUTS = {
    1: ("nn", "nt", "tn", "tt"),
    2: tuple(a + b for a in "ntc" for b in "ntc"),
}  # by the count of numbers per element
TILE = tuple(TUNING)[:5]  # the parameters that determine a program's length
REGISTERS = 63  # of a thread, on Fermi, and by default


def gemm_stencil(
    m: int = 192,
    n: int = 192,
    k: int = 96,
    precision: str = "s",
    layout: str = "nn",
    read: str = "tex1d",
    alpha: float = 1.0,
    beta: float = 0.0,
    alpha_im: float = 0.0,
    beta_im: float = 0.0,
    order: str = "column",
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
    skew: str = "on",
    registers: int | None = None,
    blk_m: int | None = None,
    blk_n: int | None = None,
    blk_k: int | None = None,
    dim_x: int | None = None,
    dim_y: int | None = None,
    dim_xa: int | None = None,
    dim_ya: int | None = None,
    dim_xb: int | None = None,
    dim_yb: int | None = None,
) -> Kernel:
    """Build the kernel for C = alpha op(A) op(B) + beta C, C m by n, inner size k.

    `precision`, `layout` and `read` are those of the table above; `alpha_im` and `beta_im` the imaginary parts of
    complex factors. Matrices are column- or row-major by `order`; `lda`, `ldb` and `ldc` are the elements from one
    stored column (row, if row-major) to the next, None: as many as it has. Without `skew` the rows in shared memory
    have no extra element. The nine from `blk_m` on are those of `stencil_tuning`, None the published one. Pointers
    beyond `registers` are kept in local memory; None: beyond 63, or as few as hold the data.

    Raises UserError for unknown choices, shapes that don't fit, leading dimensions that are too small, factors that may
    overflow, programs that are too long, fewer registers than data need, and matrices beyond 32-bit addresses.
    """
    one_of(NAME, "read", read, READS)
    one_of(NAME, "skew", skew, SKEWS)
    sizes = {"m": m, "n": n, "k": k}
    counts(NAME, 1, **sizes, registers=REGISTERS if registers is None else registers)
    given = sizes | {"precision": precision, "layout": layout, "read": read, "alpha": alpha, "beta": beta}
    given |= {"alpha_im": alpha_im, "beta_im": beta_im, "order": order, "lda": lda, "ldb": ldb, "ldc": ldc}
    problem = problem_of(given)
    tuned = _tuned(precision, problem.layout, (blk_m, blk_n, blk_k, dim_x, dim_y, dim_xa, dim_ya, dim_xb, dim_yb))
    check_addresses(NAME, problem, **sizes)
    plan = _plan(partial(plan_of, problem, tuned, read, skew=skew == "on"), registers)
    leading = dict(zip(_leading(order), (problem.lda, problem.ldb, problem.ldc), strict=True))
    return Kernel(
        name=NAME,
        program=_program(plan),
        grid=(-(-problem.m // tuned.blk_m), -(-problem.n // tuned.blk_n), 1),
        block=(tuned.dim_x, tuned.dim_y, 1),
        parameters=_parameters(plan),
        buffers=buffers(problem),
        expected=promise(problem, tuned.blk_m, tuned.blk_n),
        flops=problem.flops,
        arguments=given | leading | {"skew": skew, "registers": registers or "auto"} | asdict(tuned),
    )


def problem_of(given: Mapping[str, Any]) -> Problem:
    """Return the column-major product for the kernel's arguments; raises UserError if one of them is not allowed."""
    precision, order, imaginary = given["precision"], given["order"], (given["alpha_im"], given["beta_im"])
    one_of(NAME, "precision", precision, PRECISIONS)
    one_of(NAME, "order", order, ORDERS)
    parts = 2 if precision in "cz" else 1
    one_of(f"{NAME}: precision={precision}", "layout", given["layout"], LAYOUTS[parts])
    factors(NAME, **{name: given[name] for name in ("alpha", "beta", "alpha_im", "beta_im")})
    for name, value in zip(("alpha_im", "beta_im"), imaginary, strict=True):
        if parts == 1:
            one_of(f"{NAME}: precision={precision}", name, value, (0.0,))
    m, n, layout, matrices = given["m"], given["n"], given["layout"], ("A", "B")
    if order == "row":
        m, n, layout, matrices = n, m, layout[::-1], ("B", "A")
    dtype = "f8" if precision in "dz" else "f4"
    factor, other, (a, b, c) = given["alpha"], given["beta"], (given[name] for name in _leading(order))
    problem = Problem(m, n, given["k"], layout, factor, other, dtype, matrices, parts, imaginary, (a, b, c))
    _check_leading(problem, order)
    return problem


def _leading(order: str) -> tuple[str, str, str]:
    """Return the names of the leading dimensions of the product's left and right matrix, and of C."""
    a, b, c = LEADING
    return (a, b, c) if order == "column" else (b, a, c)


def _check_leading(problem: Problem, order: str) -> None:
    """Raise UserError if a leading dimension is less than what is stored without a gap, or beyond 32 bits."""
    for name, value, (least, _) in zip(_leading(order), problem.leading, problem.stored, strict=True):
        if value is not None:
            counts(NAME, least, **{name: value})


def _plan(plan_for: Callable[..., Plan], registers: int | None) -> Plan:
    """Return the plan for so many registers, None: 63 or more; raises UserError if they can't hold the data."""
    plan = plan_for(registers=REGISTERS if registers is None else registers)
    if registers is not None and (taken := _program(plan).registers) > registers:
        least = _least(plan_for, taken)
        raise UserError(f"{NAME}: registers={registers} can't hold the data; give {least} or more, or auto")
    return plan


def _tuned(precision: str, layout: str, given: Iterable[int | None]) -> Tuning:
    """Return the tuning parameters, by default the published ones; raises UserError if they don't fit."""
    chosen = {name: value for name, value in zip(TUNING, given, strict=True) if value is not None}
    tuned = replace(published_tuning(precision, layout), **chosen)
    check(tuned, layout)
    return tuned


def _program(plan: Plan) -> Program:
    """Build the program; raises UserError if it is too long, before building if the plan already shows it."""
    sizes = {name: getattr(plan.tuning, name) for name in TILE}
    fits(NAME, plan.length, **sizes)
    built = program(plan)
    fits(NAME, len(built), **sizes)
    return built


def _least(plan_for: Callable[..., Plan], registers: int) -> int:
    """Return the fewest registers, from `registers` up, that a program made for them does not exceed."""
    while (taken := _program(plan_for(registers=registers)).registers) > registers:
        registers = taken
    return registers


def _parameters(plan: Plan) -> dict[str, int]:
    problem, numbers = plan.problem, {"C_rows": plan.problem.m, "C_columns": plan.problem.n, "rounds": plan.tiles - 1}
    numbers |= {"C_step": plan.nbytes * problem.ldc * plan.tuning.dim_y, "last_k": (plan.tiles - 1) * plan.tuning.blk_k}
    numbers["C_pitch"] = problem.ldc
    for x in (plan.a, plan.b):
        numbers |= x.constants(plan.read)
    words = {name: number & 0xFFFFFFFF for name, number in numbers.items()}
    for name, real, imaginary in zip(("alpha", "beta"), (problem.alpha, problem.beta), problem.imaginary, strict=True):
        for suffix, value in (("re", real), ("im", imaginary)):
            named = f"{name}_{suffix}"
            words |= double_words(named, value) if problem.dtype == "f8" else {named: float_bits(value)}
    return words
