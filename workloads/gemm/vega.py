"""The problem of both SGEMMs in AMD's VLP SGEMM readme: C = A B, with A and B contiguous along k and C along n.

Element k of row m of A is A[m K + k], of column n of B it is B[n K + k]; C[m N + n] is the sum over k.
"""

from __future__ import annotations

from workloads.check import at_most, multiple
from workloads.gemm.problem import Problem, check_addresses

LANES = 64
ROWS = 64  # rows of C in a block's tile


def product(m: int, n: int, k: int) -> Problem:
    """Return the product; in column-major terms it is the transposed one, in which A and B change places."""
    return Problem(n, m, k, "tn", buffers=("B", "A"))


def checked_product(kernel: str, m: int, n: int, k: int, columns: int, depth: int) -> Problem:
    """Return the product for tiles of so many columns in steps of `depth` along k; raises UserError if it has none."""
    at_most(kernel, m=m, n=n, k=k)
    for name, size, unit in (("m", m, ROWS), ("n", n, columns), ("k", k, depth)):
        multiple(kernel, name, size, unit)
    problem = product(m, n, k)
    check_addresses(kernel, problem, m=m, n=n, k=k)
    return problem
