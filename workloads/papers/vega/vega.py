"""The problem of the SGEMMs in AMD's VLP SGEMM readme: C = A B + beta C, A and B contiguous along k and C along n.

Element k of row m of A is A[m (K + pad) + k], of column n of B it is B[n (K + pad) + k]; C[m (N + pad) + n] is the sum
over k.
"""

from __future__ import annotations

from workloads.check import at_most, multiple
from workloads.gemm.problem import Problem, check_addresses

LANES = 64
ROWS = 64  # rows of C in a block's tile


def product(m: int, n: int, k: int, pad: int = 0, beta: float = 0.0, dtype: str = "f4") -> Problem:
    """Return the product; in column-major terms it is the transposed one, in which A and B change places.

    `pad`: elements after each row of A and of C, and after each column of B.
    """
    leading = (k + pad, k + pad, n + pad)
    return Problem(n, m, k, "tn", beta=beta, dtype=dtype, buffers=("B", "A"), leading=leading)


def checked_product(kernel: str, problem: Problem, columns: int, depth: int) -> Problem:
    """Return the product if tiles of so many columns, in steps of `depth` along k, cover it; else raises UserError."""
    m, n, k = problem.n, problem.m, problem.k
    at_most(kernel, m=m, n=n, k=k)
    for name, size, unit in (("m", m, ROWS), ("n", n, columns), ("k", k, depth)):
        multiple(kernel, name, size, unit)
    check_addresses(kernel, problem, m=m, n=n, k=k)
    return problem
