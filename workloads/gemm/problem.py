"""The matrix product C = alpha op(A) op(B) + beta C: its matrices, and the expected values of any tile.

Matrices are column-major and filled with a hash of the element's position, so that a tile is checked from its own rows
of op(A) and columns of op(B), whatever the size of the whole. A complex element is two numbers, the real part first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.generators import hash_fill
from isa.kernel import Buffer, Expectation, Fill
from isa.memory import bases, elements

Indices = NDArray[np.int64]
Values = NDArray[Any]  # floats, or complex
UNIT_ROUNDOFF = {"f4": 2.0**-24, "f8": 2.0**-53}  # of IEEE single and double, to nearest
COMPLEX = {"f4": np.complex64, "f8": np.complex128}
HIGHER = {("f4", 1): np.float64, ("f8", 1): np.longdouble, ("f4", 2): np.complex128, ("f8", 2): np.clongdouble}
SEEDS = {"A": 1, "B": 2, "C": 3}


@dataclass(frozen=True, slots=True)
class Problem:
    """C is m by n, the inner size is k; `layout` is n (as stored), t (transposed) or c (also conjugate) for A, then B.

    `dtype` is f4 or f8, `parts` the count of numbers per element (2 if complex), and `imaginary` the imaginary parts of
    alpha and beta. `buffers` name the buffers of A and B: a row-major product is the column-major product of the
    transposed matrices, in which A and B change places (`row_major`). `leading` are the leading dimensions of A, B and
    C, elements from one stored column to the next; None: as many as a column has.
    """

    m: int
    n: int
    k: int
    layout: str = "nt"
    alpha: float = 1.0
    beta: float = 0.0
    dtype: str = "f4"
    buffers: tuple[str, str] = ("A", "B")
    parts: int = 1
    imaginary: tuple[float, float] = (0.0, 0.0)
    leading: tuple[int | None, int | None, int | None] = (None, None, None)

    @property
    def stored(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """Elements of a stored column, and stored columns, of A, B and C."""
        a, b = (self.m, self.k), (self.k, self.n)
        return a if self.layout[0] == "n" else a[::-1], b if self.layout[1] == "n" else b[::-1], (self.m, self.n)

    @property
    def lda(self) -> int:
        """Elements between stored columns of A."""
        return self.leading[0] or self.stored[0][0]

    @property
    def ldb(self) -> int:
        """Elements between stored columns of B."""
        return self.leading[1] or self.stored[1][0]

    @property
    def ldc(self) -> int:
        """Elements between columns of C."""
        return self.leading[2] or self.m

    @property
    def reads_c(self) -> bool:
        """Whether beta is not 0."""
        return self.beta != 0 or self.imaginary[1] != 0

    @property
    def flops(self) -> int:
        """Floating-point operations by the usual count: 2 m n k, for complex elements four times that."""
        return 2 * self.parts**2 * self.m * self.n * self.k


def row_major(rows: int, columns: int, k: int) -> Problem:
    """Return C = A B of row-major single-precision matrices, C rows by columns."""
    return Problem(columns, rows, k, "nn", buffers=("B", "A"))


def buffers(problem: Problem) -> tuple[Buffer, Buffer, Buffer]:
    """Return buffers A, B and C, with as many elements for the last stored column as for the others."""
    pitches = problem.lda, problem.ldb, problem.ldc
    sizes = {
        name: pitch * columns
        for name, pitch, (_, columns) in zip((*problem.buffers, "C"), pitches, problem.stored, strict=True)
    }
    a, b, c = (Buffer(x, problem.dtype, problem.parts * sizes[x], fill_of(x, problem.dtype)) for x in SEEDS)
    return a, b, c


def fill_of(name: str, dtype: str) -> Fill:
    """Return the contents of a buffer."""
    return hash_fill(SEEDS[name], dtype=dtype)


def check_addresses(kernel: str, problem: Problem, **sizes: int) -> None:
    """Raise UserError, which names the sizes, if the matrices exceed 32-bit addresses."""
    try:
        bases(buffers(problem))
    except ValueError as error:
        text = " ".join(f"{name}={size}" for name, size in sizes.items())
        raise UserError(f"{kernel}: {text}: {error}; give smaller sizes") from None


def tile_of_block(problem: Problem, size: int, block: int, columns: int = 0) -> tuple[Indices, Indices]:
    """Return rows and columns of the block's tile of C, the grid's x running along the rows.

    It has `size` rows, and `columns` columns (default: `size`); fewer at the edges of C.
    """
    y, x = divmod(block, -(-problem.m // size))
    wide = columns or size
    return _stretch(x * size, size, problem.m), _stretch(y * wide, wide, problem.n)


def rows_of_a(problem: Problem, rows: Indices) -> Values:
    """Return those rows of op(A), [rows, k]."""
    index = _index(problem.lda, rows[:, None], np.arange(problem.k), stored=problem.layout[0] == "n")
    return _conjugated(_elements(problem, problem.buffers[0], index), problem.layout[0])


def columns_of_b(problem: Problem, columns: Indices) -> Values:
    """Return those columns of op(B), [k, columns]."""
    index = _index(problem.ldb, np.arange(problem.k)[:, None], columns, stored=problem.layout[1] == "n")
    return _conjugated(_elements(problem, problem.buffers[1], index), problem.layout[1])


def tile_of_c(problem: Problem, rows: Indices, columns: Indices) -> Values:
    """Return C before the launch, [rows, columns]."""
    return _elements(problem, "C", _index(problem.ldc, rows[:, None], columns, stored=True))


def expectation(problem: Problem, rows: Indices, columns: Indices) -> Expectation:
    """Compute the expected tile of C after the launch, in higher precision, and its error bound.

    k fused steps, the factor alpha and the sum with beta C are k + 2 roundings, for any order of the sum:
    `|error| <= gamma(k + 2) (|alpha| |A| |B| + |beta| |C|)`, Higham, Accuracy and Stability of Numerical Algorithms,
    2nd ed., 2002, section 3.5. Each part of a complex product is such a sum of twice as many real products (his section
    3.6 has bounds on the modulus). In double precision the rounding of the reference to double is one more.
    """
    higher: Any = HIGHER[problem.dtype, problem.parts]
    a, b = (x.astype(higher) for x in (rows_of_a(problem, rows), columns_of_b(problem, columns)))
    alpha, beta = (higher(factor) for factor in factors_of(problem))
    old = tile_of_c(problem, rows, columns).astype(higher)
    value = alpha * (a @ b) + beta * old
    weight = _magnitude(alpha, _magnitude(a, b, np.matmul), np.multiply) + _magnitude(beta, old, np.multiply)
    index = _index(problem.ldc, rows[:, None], columns, stored=True)
    roundings = problem.parts * (problem.k + 2) + (problem.dtype == "f8")
    return Expectation(
        "C",
        (problem.parts * index[..., None] + np.arange(problem.parts)).ravel(),
        numbers(value).astype(np.float64),
        (gamma(roundings, problem.dtype) * numbers(weight)).astype(np.float64),
    )


def promise(problem: Problem, size: int, columns: int = 0) -> Callable[[int], Expectation]:
    """Return Kernel.expected of a kernel whose blocks have such tiles, see `tile_of_block`; it can be pickled."""
    return partial(_promised, problem, size, columns)


def _promised(problem: Problem, size: int, columns: int, block: int) -> Expectation:
    return expectation(problem, *tile_of_block(problem, size, block, columns))


def numbers(values: Values) -> NDArray[np.floating[Any]]:
    """Return the numbers of an array in order, two for each complex element."""
    flat = np.ascontiguousarray(values).ravel()
    return flat.view(flat.real.dtype)


def gamma(roundings: int, dtype: str = "f4") -> float:
    """Bound the relative effect of n roundings in that precision by n u / (1 - n u) (Higham 2002, lemma 3.1)."""
    error = roundings * UNIT_ROUNDOFF[dtype]
    return error / (1 - error)


def _stretch(start: int, length: int, end: int) -> Indices:
    return np.arange(start, min(start + length, end), dtype=np.int64)


def factors_of(problem: Problem) -> tuple[Any, Any]:
    """Return alpha and beta, rounded as the kernel's constants are."""
    number: Any = np.dtype(problem.dtype).type
    if problem.parts == 1:
        return number(problem.alpha), number(problem.beta)
    alpha, beta = joined(np.array([problem.alpha, problem.beta], number), np.array(problem.imaginary, number))
    return alpha, beta


def _conjugated(values: Values, letter: str) -> Values:
    return values.conj() if letter == "c" else values


def _magnitude(a: Any, b: Any, times: Callable[[Any, Any], Any]) -> Any:
    """Return the sums of magnitudes of the real products that make up each part of a times b."""
    if not np.iscomplexobj(a):
        return times(abs(a), abs(b))
    real_a, imaginary_a, real_b, imaginary_b = abs(a.real), abs(a.imag), abs(b.real), abs(b.imag)
    real = times(real_a, real_b) + times(imaginary_a, imaginary_b)
    return real + 1j * (times(real_a, imaginary_b) + times(imaginary_a, real_b))


def joined(real: Any, imaginary: Any) -> Values:
    """Return complex numbers of these parts."""
    real, imaginary = np.broadcast_arrays(real, imaginary)
    return np.asarray(np.stack([real, imaginary], axis=-1).view(COMPLEX[real.dtype.str[1:]])[..., 0])


def _index(pitch: int, row: Indices, column: Indices, *, stored: bool) -> Indices:
    return row + pitch * column if stored else column + pitch * row


def _elements(problem: Problem, name: str, index: Indices) -> Values:
    fill = fill_of(name, problem.dtype)
    if problem.parts == 1:
        return elements(fill, index, problem.dtype)
    made = elements(fill, 2 * index[..., None] + np.arange(2), problem.dtype)
    return np.asarray(made.view(COMPLEX[problem.dtype])[..., 0])
