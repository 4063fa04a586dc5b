from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from fused import fused_tile

from workloads.gemm.problem import (
    Problem,
    buffers,
    columns_of_b,
    expectation,
    gamma,
    numbers,
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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_leading_dimensions_leave_room_after_each_column(layout):
    """With leading dimensions of 21, 22 and 23 the parts are the same, and each column has spare room."""
    problem = Problem(12, 20, 8, layout, beta=0.5, leading=(21, 22, 23))
    assert (problem.lda, problem.ldb, problem.ldc) == (21, 22, 23)
    a, b, c = (buffer.fill(np.arange(buffer.elements)) for buffer in buffers(problem))
    a, b, c = a.reshape(-1, 21).T, b.reshape(-1, 22).T, c.reshape(-1, 23).T
    op_a, op_b = (a[:12] if layout[0] == "n" else a[:8].T), (b[:8] if layout[1] == "n" else b[:20].T)
    assert (op_a.shape, op_b.shape, c.shape) == ((12, 8), (8, 20), (23, 20))
    assert (rows_of_a(problem, np.arange(12)) == op_a).all()
    assert (columns_of_b(problem, np.arange(20)) == op_b).all()
    promise = expectation(problem, np.array([3]), np.array([7]))
    assert promise.index.tolist() == [3 + 23 * 7]
    old = c[3, 7].astype(np.float64)
    assert promise.value == pytest.approx(op_a[3].astype(np.float64) @ op_b[:, 7] + 0.5 * old)


def test_blocks_go_along_the_rows_of_c_first():
    """In a C of 8 by 12 in tiles of 4, block 1 has rows 4 to 7 and the first columns, block 2 the next columns."""
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
    """The bound is (k + 2) u / (1 - (k + 2) u) times alpha times the sum of the products' magnitudes."""
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
    """A value of the fused tile is that of exact rational steps, each rounded to single."""
    problem = Problem(2, 2, 5, "nn", alpha=0.5, beta=3.0)
    a, b, c = whole(problem)
    total = Fraction(0)
    for k in range(5):
        total = rounded(Fraction(float(a[1, k])) * Fraction(float(b[k, 0])) + total)
    total = rounded(total * Fraction(1, 2))
    total = rounded(3 * Fraction(float(c[1, 0])) + total)
    assert fused_tile(problem, np.array([1]), np.array([0]))[0, 0] == float(total)


COMPLEX_LAYOUTS = tuple(a + b for a in "ntc" for b in "ntc")


def complex_problem(layout: str, dtype: str, k: int = 7) -> Problem:
    """Return a small product of complex matrices with complex factors."""
    return Problem(5, 4, k, layout, 1.5, -0.5, dtype, parts=2, imaginary=(0.25, 0.75))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", COMPLEX_LAYOUTS)
def test_complex_elements_have_their_real_part_first(layout, dtype):
    """Rows of op(A) and columns of op(B) are cut from buffers of pairs; c is the conjugate of t."""
    problem = complex_problem(layout, dtype)
    a, b, c = (buffer.fill(np.arange(buffer.elements)).astype(np.float64) for buffer in buffers(problem))
    a, b, c = (x[0::2] + 1j * x[1::2] for x in (a, b, c))
    op = {"n": lambda x: x.T, "t": lambda x: x, "c": np.conj}
    assert (rows_of_a(problem, np.arange(5)) == op[layout[0]](a.reshape(-1, problem.lda))).all()
    assert (columns_of_b(problem, np.arange(4)) == op[layout[1]](b.reshape(-1, problem.ldb))).all()
    assert (tile_of_c(problem, np.arange(5), np.arange(4)) == c.reshape(4, 5).T).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", COMPLEX_LAYOUTS)
def test_complex_expectation_and_reference_are_numpys_product(layout, dtype):
    """Values are both parts of alpha op(A) op(B) + beta C, by index of number; the fused tile is within the bound."""
    problem, rows, columns = complex_problem(layout, dtype), np.arange(5), np.arange(4)
    promise = expectation(problem, rows, columns)
    a, b = rows_of_a(problem, rows).astype(complex), columns_of_b(problem, columns).astype(complex)
    value = (1.5 + 0.25j) * (a @ b) + (-0.5 + 0.75j) * tile_of_c(problem, rows, columns)
    product = np.empty(40)
    product[promise.index] = promise.value
    assert np.abs((product[0::2] + 1j * product[1::2]).reshape(4, 5).T - value).max() < 1e-13
    assert (np.abs(numbers(fused_tile(problem, rows, columns)).astype(float) - promise.value) <= promise.bound).all()
    assert problem.flops == 8 * 5 * 4 * 7


def test_the_bound_of_a_complex_product_is_that_of_its_real_sums():
    """Each part of an element is a sum of 2 k real products: gamma(2 (k + 2)) of their magnitudes."""
    problem = Problem(1, 1, 3, "nn", parts=2)
    promise = expectation(problem, np.array([0]), np.array([0]))
    a, b = rows_of_a(problem, np.array([0]))[0].astype(complex), columns_of_b(problem, np.array([0]))[:, 0]
    real = np.abs(a.real) @ np.abs(b.real) + np.abs(a.imag) @ np.abs(b.imag)
    imaginary = np.abs(a.real) @ np.abs(b.imag) + np.abs(a.imag) @ np.abs(b.real)
    assert promise.bound == pytest.approx([gamma(10) * real, gamma(10) * imaginary], rel=1e-6)


def test_a_complex_step_is_four_rounded_ones():
    """The products with a's real part are added first, then those with its imaginary part, each rounded to single."""
    problem = Problem(1, 1, 4, "nn", parts=2)
    a, b = rows_of_a(problem, np.array([0]))[0], columns_of_b(problem, np.array([0]))[:, 0]
    real = imaginary = Fraction(0)
    for x, y in zip(a, b, strict=True):
        ar, ai, br, bi = (Fraction(float(part)) for part in (x.real, x.imag, y.real, y.imag))
        real, imaginary = rounded(ar * br + real), rounded(ar * bi + imaginary)
        real, imaginary = rounded(real - ai * bi), rounded(ai * br + imaginary)
    got = fused_tile(problem, np.array([0]), np.array([0]))[0, 0]
    assert (got.real, got.imag) == (float(real), float(imaginary))


def test_a_tile_ends_where_c_does():
    """In a C of 7 by 5 in tiles of 4, the last block has three rows and one column."""
    rows, columns = tile_of_block(Problem(7, 5, 1), 4, 3)
    assert (rows.tolist(), columns.tolist()) == ([4, 5, 6], [4])


def rounded(x: Fraction) -> Fraction:
    """Return x rounded to 24 significant bits, ties to even."""
    exponent = 0
    while abs(x) * Fraction(2) ** -exponent >= 2**24:
        exponent += 1
    while x and abs(x) * Fraction(2) ** -exponent < 2**23:
        exponent -= 1
    return round(x / Fraction(2) ** exponent) * Fraction(2) ** exponent
