"""Triton kernels of tests; Triton reads their sources, so they are in a file of their own."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # noqa: N803  (Triton's way to name a constant)
    """Add two vectors."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def product(a, b, c, k, BLOCK: tl.constexpr):  # noqa: N803
    """Multiply two tiles, with tensor instructions."""
    rows = tl.arange(0, BLOCK)
    mine = rows[:, None] * BLOCK + rows[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(k):
        total = tl.dot(tl.load(a + mine), tl.load(b + mine), total)
    tl.store(c + mine, total)


@triton.jit
def matmul(a, b, c, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # noqa: N803
    """Multiply square matrices of halves, a tile of M x N by each program, K columns at a time."""
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    left = a + rows[:, None] * size + inner[None, :]
    right = b + inner[:, None] * size + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, size, K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += K
        right += K * size
    tl.store(c + rows[:, None] * size + columns[None, :], total.to(tl.float16))
