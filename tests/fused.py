"""Tiles of C bit for bit, from a GEMM kernel's arguments alone: what its blocks must leave."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from isa.values.lanes import fma32, fma64
from workloads.gemm import sg4 as of_sg4
from workloads.gemm.problem import (
    Indices,
    Problem,
    Values,
    columns_of_b,
    factors_of,
    joined,
    row_major,
    rows_of_a,
    tile_of_block,
    tile_of_c,
)
from workloads.papers.kurzak.stencil import problem_of
from workloads.papers.lai.lai import SIDE as LAI_SIDE
from workloads.papers.tan.tan import SIDE as TAN_SIDE
from workloads.papers.vega.vega import ROWS, product
from workloads.papers.vega.vega_legacy import COLUMNS
from workloads.papers.vega.vega_vlp import SINGLE, Precision

Arguments = Mapping[str, Any]


def matmul_block(given: Arguments, block: int) -> Values:
    """Return the block's tile of C, [column, row]."""
    problem = row_major(given["m"], given["n"], given["k"])
    return fused_tile(problem, *tile_of_block(problem, given["block"], block))


def matmul_naive(given: Arguments, block: int) -> Values:
    """Return the block's part of C, [column, row]."""
    problem = row_major(given["m"], given["n"], given["k"])
    return fused_tile(problem, *tile_of_block(problem, given["block_x"], block, given["block_y"]))


def sg4(given: Arguments, block: int) -> Values:
    """Return the block's tile of C, [rows, columns]."""
    problem = Problem(given["m"], given["n"], given["k"], "nn")
    return fused_tile(problem, *tile_of_block(problem, of_sg4.SIDE, block))


def stencil(given: Arguments, block: int) -> Values:
    """Return the block's tile of C, [rows, columns]; if C is row-major it is the tile of its transpose."""
    problem = problem_of(given)
    return fused_tile(problem, *tile_of_block(problem, given["blk_m"], block, given["blk_n"]))


def lai(given: Arguments, block: int) -> Values:
    """Return the block's tile of C, [rows, columns]."""
    problem = Problem(*(given[name] for name in ("m", "n", "k", "layout", "alpha", "beta")))
    return fused_tile(problem, *tile_of_block(problem, LAI_SIDE * given["blocking"], block))


def tan(given: Arguments, block: int) -> Values:
    """Return the block's tile of C, [rows, columns]."""
    m, n, k, alpha, beta = (given[name] for name in ("m", "n", "k", "alpha", "beta"))
    problem = Problem(m, n, k, "nt", alpha, beta, "f8")
    return fused_tile(problem, *tile_of_block(problem, TAN_SIDE, block))


def vega_legacy(given: Arguments, block: int) -> Values:
    """Return the block's tile of C, [column, row]."""
    problem = product(given["m"], given["n"], given["k"])
    return fused_tile(problem, *tile_of_block(problem, COLUMNS, block, ROWS))


def vega_vlp(given: Arguments, block: int, p: Precision = SINGLE) -> Values:
    """Return the block's tile of C, [column, row]."""
    m, n, k, pad, beta = (given[name] for name in ("m", "n", "k", "pad", "beta"))
    problem = product(m, n, k, pad, beta, p.dtype)
    return fused_tile(problem, *tile_of_block(problem, given["threads"], block, ROWS))


def fused_tile(problem: Problem, rows: Indices, columns: Indices) -> Values:
    """Compute that tile of the result bit for bit: fused steps in the order of k, then alpha, then beta.

    A complex step is four real steps: the real part of a times b, then its imaginary part, each added to both parts of
    the sum.
    """
    a, b = rows_of_a(problem, rows), columns_of_b(problem, columns)
    total = np.zeros((len(rows), len(columns)), a.dtype)
    for step in range(problem.k):
        total = _fused(problem, a[:, step : step + 1], b[step], total)
    alpha, beta = factors_of(problem)
    result = _scaled(problem, alpha, total)
    if problem.reads_c:
        result = _fused(problem, beta, tile_of_c(problem, rows, columns), result)
    return result


def _fused(problem: Problem, a: Any, b: Any, total: Values) -> Values:
    fma = fma32 if problem.dtype == "f4" else fma64
    if problem.parts == 1:
        return np.asarray(fma(a, b, total))
    return joined(
        fma(-a.imag, b.imag, fma(a.real, b.real, total.real)), fma(a.imag, b.real, fma(a.real, b.imag, total.imag))
    )


def _scaled(problem: Problem, factor: Any, total: Values) -> Values:
    """Multiply by a factor; if complex, the first product of each part is rounded separately."""
    if problem.parts == 1:
        return np.asarray(factor * total)
    fma = fma32 if problem.dtype == "f4" else fma64
    real, imaginary = factor.real, factor.imag
    return joined(fma(-imaginary, total.imag, real * total.real), fma(imaginary, total.real, real * total.imag))
