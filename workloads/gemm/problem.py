"""The matrix product C = alpha op(A) op(B) + beta C: its matrices, and what any tile of it should be.

Matrices are column-major and filled with a hash of the element's position, so that a tile is checked from its own rows
of op(A) and columns of op(B), whatever the size of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.generators import hash_fill
from isa.kernel import Buffer, Expectation, Fill
from isa.lanes import fma32, fma64
from isa.memory import bases, elements

Indices = NDArray[np.int64]
Values = NDArray[np.floating[Any]]
UNIT_ROUNDOFF = {"f4": 2.0**-24, "f8": 2.0**-53}  # of IEEE single and double, to nearest
HIGHER = {"f4": np.float64, "f8": np.longdouble}  # what references are computed in
SEEDS = {"A": 1, "B": 2, "C": 3}


@dataclass(frozen=True, slots=True)
class Problem:
    """C is m by n, the inner size is k; `layout` is n (as stored) or t (transposed) for A, then for B.

    `dtype` is f4 or f8, and `buffers` those that hold A and B: a row-major product is the column-major one of the
    transposed matrices, in which A and B change places (`row_major`).
    """

    m: int
    n: int
    k: int
    layout: str = "nt"
    alpha: float = 1.0
    beta: float = 0.0
    dtype: str = "f4"
    buffers: tuple[str, str] = ("A", "B")

    @property
    def lda(self) -> int:
        """Elements from one stored column of A to the next."""
        return self.m if self.layout[0] == "n" else self.k

    @property
    def ldb(self) -> int:
        """Elements from one stored column of B to the next."""
        return self.k if self.layout[1] == "n" else self.n

    @property
    def flops(self) -> int:
        """Floating-point operations as the field counts them: 2 m n k."""
        return 2 * self.m * self.n * self.k


def row_major(rows: int, columns: int, k: int) -> Problem:
    """Give C = A B of row-major single-precision matrices, C rows by columns."""
    return Problem(columns, rows, k, "nn", buffers=("B", "A"))


def buffers(problem: Problem) -> tuple[Buffer, Buffer, Buffer]:
    """Give buffers A, B and C."""
    left, right = problem.buffers
    sizes = {left: problem.m * problem.k, right: problem.k * problem.n, "C": problem.m * problem.n}
    a, b, c = (Buffer(name, problem.dtype, sizes[name], fill_of(name, problem.dtype)) for name in SEEDS)
    return a, b, c


def fill_of(name: str, dtype: str) -> Fill:
    """Give the contents of a buffer."""
    return hash_fill(SEEDS[name], dtype=dtype)


def check_addresses(kernel: str, problem: Problem, **sizes: int) -> None:
    """Raise UserError, which names the sizes, if the matrices are more than 32-bit addresses reach."""
    try:
        bases(buffers(problem))
    except ValueError as error:
        told = " ".join(f"{name}={size}" for name, size in sizes.items())
        raise UserError(f"{kernel}: {told}: {error}; give smaller sizes") from None


def tile_of_block(problem: Problem, size: int, block: int, columns: int = 0) -> tuple[Indices, Indices]:
    """Give rows and columns of the block's tile of C, the grid's x running along the rows.

    It has `size` rows, and as many columns unless `columns` says how many.
    """
    y, x = divmod(block, problem.m // size)
    wide = columns or size
    return x * size + np.arange(size, dtype=np.int64), y * wide + np.arange(wide, dtype=np.int64)


def rows_of_a(problem: Problem, rows: Indices) -> Values:
    """Give those rows of op(A), [rows, k]."""
    index = _index(problem.lda, rows[:, None], np.arange(problem.k), stored=problem.layout[0] == "n")
    return _elements(problem, problem.buffers[0], index)


def columns_of_b(problem: Problem, columns: Indices) -> Values:
    """Give those columns of op(B), [k, columns]."""
    index = _index(problem.ldb, np.arange(problem.k)[:, None], columns, stored=problem.layout[1] == "n")
    return _elements(problem, problem.buffers[1], index)


def tile_of_c(problem: Problem, rows: Indices, columns: Indices) -> Values:
    """Give C before the launch, [rows, columns]."""
    return _elements(problem, "C", _index(problem.m, rows[:, None], columns, stored=True))


def expectation(problem: Problem, rows: Indices, columns: Indices) -> Expectation:
    """Compute what the launch should leave in that tile of C, in higher precision, and how far it may be off.

    k fused steps, the factor alpha and the sum with beta C are k + 2 roundings, in whatever order the sum is taken:
    |error| <= gamma(k + 2) (|alpha| |A| |B| + |beta| |C|), Higham, Accuracy and Stability of Numerical Algorithms,
    2nd ed., 2002, section 3.5. In double precision the reference itself, rounded to double, is one more.
    """
    higher = HIGHER[problem.dtype]
    a, b = (x.astype(higher) for x in (rows_of_a(problem, rows), columns_of_b(problem, columns)))
    alpha, beta = (float(np.dtype(problem.dtype).type(factor)) for factor in (problem.alpha, problem.beta))
    old = tile_of_c(problem, rows, columns).astype(higher)
    value = alpha * (a @ b) + beta * old
    weight = abs(alpha) * (abs(a) @ abs(b)) + abs(beta) * abs(old)
    index = rows[:, None] + problem.m * columns
    bound = gamma(problem.k + 2 + (problem.dtype == "f8"), problem.dtype) * weight
    return Expectation("C", index.ravel(), value.astype(np.float64).ravel(), bound.astype(np.float64).ravel())


def fused_tile(problem: Problem, rows: Indices, columns: Indices) -> Values:
    """Compute that tile of the result, bit for bit: fused steps in the order of k, then alpha, then beta."""
    number, fma = (np.float32, fma32) if problem.dtype == "f4" else (np.float64, fma64)
    a, b = rows_of_a(problem, rows), columns_of_b(problem, columns)
    total = np.zeros((len(rows), len(columns)), number)
    for step in range(problem.k):
        total = fma(a[:, step : step + 1], b[step], total)
    result: Values = number(problem.alpha) * total
    if problem.beta != 0:
        result = fma(tile_of_c(problem, rows, columns), number(problem.beta), result)
    return result


def gamma(roundings: int, dtype: str = "f4") -> float:
    """Bound n u / (1 - n u) on the relative effect of n roundings to that precision (Higham 2002, lemma 3.1)."""
    error = roundings * UNIT_ROUNDOFF[dtype]
    return error / (1 - error)


def _index(pitch: int, row: Indices, column: Indices, *, stored: bool) -> Indices:
    return row + pitch * column if stored else column + pitch * row


def _elements(problem: Problem, name: str, index: Indices) -> Values:
    return elements(fill_of(name, problem.dtype), index, problem.dtype)
