"""The matrix product C = alpha op(A) op(B) + beta C: its matrices, and what any tile of it should be.

Matrices are column-major and filled with a hash of the element's position, so that a tile is checked from its own rows
of op(A) and columns of op(B), whatever the size of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.generators import hash_fill
from isa.kernel import Buffer, Expectation
from isa.lanes import fma32
from isa.memory import bases, elements

Indices = NDArray[np.int64]
UNIT_ROUNDOFF = 2.0**-24  # of IEEE single, to nearest
FILLS = {name: hash_fill(seed) for name, seed in (("A", 1), ("B", 2), ("C", 3))}


@dataclass(frozen=True, slots=True)
class Problem:
    """C is m by n, the inner size is k; `layout` is n (as stored) or t (transposed) for A, then for B."""

    m: int
    n: int
    k: int
    layout: str = "nt"
    alpha: float = 1.0
    beta: float = 0.0

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


def buffers(problem: Problem) -> tuple[Buffer, Buffer, Buffer]:
    """Give buffers A, B and C in single precision."""
    sizes = {"A": problem.m * problem.k, "B": problem.k * problem.n, "C": problem.m * problem.n}
    a, b, c = (Buffer(name, "f4", size, FILLS[name]) for name, size in sizes.items())
    return a, b, c


def check_addresses(kernel: str, problem: Problem) -> None:
    """Raise UserError if the matrices are more than 32-bit addresses reach."""
    try:
        bases(buffers(problem))
    except ValueError as error:
        sizes = f"m={problem.m} n={problem.n} k={problem.k}"
        raise UserError(f"{kernel}: {sizes}: {error}; give smaller sizes") from None


def tile_of_block(problem: Problem, size: int, block: int) -> tuple[Indices, Indices]:
    """Give rows and columns of the block's tile of C, `size` by `size`, the grid's x running along the rows."""
    y, x = divmod(block, problem.m // size)
    inside = np.arange(size, dtype=np.int64)
    return x * size + inside, y * size + inside


def rows_of_a(problem: Problem, rows: Indices) -> NDArray[np.float32]:
    """Give those rows of op(A), [rows, k]."""
    return _elements("A", problem.lda, rows[:, None], np.arange(problem.k), stored=problem.layout[0] == "n")


def columns_of_b(problem: Problem, columns: Indices) -> NDArray[np.float32]:
    """Give those columns of op(B), [k, columns]."""
    return _elements("B", problem.ldb, np.arange(problem.k)[:, None], columns, stored=problem.layout[1] == "n")


def tile_of_c(problem: Problem, rows: Indices, columns: Indices) -> NDArray[np.float32]:
    """Give C before the launch, [rows, columns]."""
    return _elements("C", problem.m, rows[:, None], columns, stored=True)


def expectation(problem: Problem, rows: Indices, columns: Indices) -> Expectation:
    """Compute what the launch should leave in that tile of C, in double precision, and how far single may be off.

    k fused steps, the factor alpha and the sum with beta C are k + 2 roundings, in whatever order the sum is taken:
    |error| <= gamma(k + 2) (|alpha| |A| |B| + |beta| |C|), Higham, Accuracy and Stability of Numerical Algorithms,
    2nd ed., 2002, section 3.5.
    """
    a, b = (x.astype(np.float64) for x in (rows_of_a(problem, rows), columns_of_b(problem, columns)))
    alpha, beta = float(np.float32(problem.alpha)), float(np.float32(problem.beta))
    old = tile_of_c(problem, rows, columns).astype(np.float64)
    value = alpha * (a @ b) + beta * old
    weight = abs(alpha) * (abs(a) @ abs(b)) + abs(beta) * abs(old)
    index = rows[:, None] + problem.m * columns
    return Expectation("C", index.ravel(), value.ravel(), (gamma(problem.k + 2) * weight).ravel())


def fused_tile(problem: Problem, rows: Indices, columns: Indices) -> NDArray[np.float32]:
    """Compute that tile of the result in single, bit for bit: fused steps in the order of k, then alpha, then beta."""
    a, b = rows_of_a(problem, rows), columns_of_b(problem, columns)
    total = np.zeros((len(rows), len(columns)), np.float32)
    for step in range(problem.k):
        total = fma32(a[:, step : step + 1], b[step], total)
    result: NDArray[np.float32] = np.float32(problem.alpha) * total
    if problem.beta != 0:
        result = fma32(tile_of_c(problem, rows, columns), np.float32(problem.beta), result)
    return result


def gamma(roundings: int) -> float:
    """Bound n u / (1 - n u) on the relative effect of n roundings to single (Higham 2002, lemma 3.1)."""
    return roundings * UNIT_ROUNDOFF / (1 - roundings * UNIT_ROUNDOFF)


def _elements(name: str, pitch: int, row: Indices, column: Indices, *, stored: bool) -> NDArray[np.float32]:
    index = row + pitch * column if stored else column + pitch * row
    return elements(FILLS[name], index, "f4")
