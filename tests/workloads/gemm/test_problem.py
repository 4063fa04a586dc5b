from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from workloads.gemm.problem import (
    Problem,
    buffers,
    columns_of_b,
    expectation,
    fused_tile,
    gamma,
    rows_of_a,
    tile_of_block,
    tile_of_c,
)

LAYOUTS = ("nn", "nt", "tn", "tt")


def whole(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return op(A), op(B) and C, read from the buffers as column-major matrices."""
    a, b, c = (buffer.fill(np.arange(buffer.elements)) for buffer in buffers(problem))
    op_a = a.reshape(-1, problem.lda).T if problem.layout[0] == "n" else a.reshape(-1, problem.lda)
    op_b = b.reshape(-1, problem.ldb).T if problem.layout[1] == "n" else b.reshape(-1, problem.ldb)
    return op_a, op_b, c.reshape(problem.n, problem.m).T


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_are_those_of_the_whole_matrices(layout):
    """Rows of op(A), columns of op(B) and a tile of C, made alone, equal those cut from the column-major buffers."""
    problem = Problem(12, 20, 8, layout)
    rows, columns = np.array([3, 7, 11]), np.array([0, 19])
    a, b, c = whole(problem)
    assert (a.shape, b.shape, c.shape) == ((12, 8), (8, 20), (12, 20))
    assert (rows_of_a(problem, rows) == a[rows]).all()
    assert (columns_of_b(problem, columns) == b[:, columns]).all()
    assert (tile_of_c(problem, rows, columns) == c[np.ix_(rows, columns)]).all()


def test_blocks_go_along_the_rows_of_c_first():
    """Of a C of 8 by 12 in tiles of 4, block 1 has rows 4 to 7 and the first columns, block 2 the next columns."""
    tiles = [tile_of_block(Problem(8, 12, 1), 4, block) for block in (1, 2)]
    assert [(rows.tolist(), columns.tolist()) for rows, columns in tiles] == [
        ([4, 5, 6, 7], [0, 1, 2, 3]),
        ([0, 1, 2, 3], [4, 5, 6, 7]),
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_expectation_is_numpys_product(layout):
    """Values are alpha op(A) op(B) + beta C in double precision, at column-major indices."""
    problem = Problem(12, 20, 8, layout, alpha=1.5, beta=-0.5)
    a, b, c = (x.astype(np.float64) for x in whole(problem))
    promise = expectation(problem, np.arange(12), np.arange(20))
    product = np.empty(240)
    product[promise.index] = promise.value
    assert np.abs(product.reshape(20, 12).T - (1.5 * (a @ b) - 0.5 * c)).max() < 1e-14


def test_the_bound_is_highams():
    """For one product of ones the bound is (k + 2) u / (1 - (k + 2) u) of the sum of magnitudes."""
    exact = Fraction(10, 2**24) / (1 - Fraction(10, 2**24))
    assert gamma(10) == pytest.approx(float(exact), rel=1e-15)
    problem = Problem(4, 4, 8, "nn", alpha=2.0)
    promise = expectation(problem, np.array([1]), np.array([2]))
    a, b, _ = whole(problem)
    weight = np.abs(a[1].astype(np.float64)) @ np.abs(b[:, 2].astype(np.float64))
    assert promise.bound[0] == pytest.approx(2 * gamma(10) * weight, rel=1e-12)


@pytest.mark.parametrize("beta", [0.0, 0.25])
def test_the_fused_tile_stays_within_the_bound(beta):
    """The single-precision reference differs from the double one, by no more than the bound."""
    problem = Problem(16, 16, 300, "tn", alpha=0.3, beta=beta)
    rows = columns = np.arange(16)
    promise = expectation(problem, rows, columns)
    error = np.abs(fused_tile(problem, rows, columns).ravel() - promise.value)
    assert error.max() > 0
    assert (error <= promise.bound).all()


def test_the_fused_tile_rounds_once_per_step():
    """It equals exact rational steps, each rounded to single."""
    problem = Problem(2, 2, 5, "nn", alpha=0.5, beta=3.0)
    a, b, c = whole(problem)
    total = Fraction(0)
    for k in range(5):
        total = rounded(Fraction(float(a[1, k])) * Fraction(float(b[k, 0])) + total)
    total = rounded(total * Fraction(1, 2))
    total = rounded(3 * Fraction(float(c[1, 0])) + total)
    assert fused_tile(problem, np.array([1]), np.array([0]))[0, 0] == float(total)


def rounded(x: Fraction) -> Fraction:
    """Return x rounded to 24 significant bits, ties to even."""
    exponent = 0
    while abs(x) * Fraction(2) ** -exponent >= 2**24:
        exponent += 1
    while x and abs(x) * Fraction(2) ** -exponent < 2**23:
        exponent -= 1
    return round(x / Fraction(2) ** exponent) * Fraction(2) ** exponent
