"""A product of half-precision matrices, whose tile is chosen by the autotuner."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BM": 64, "BN": 64, "BK": 32, "GROUP": 4}, num_stages=3, num_warps=4),
    triton.Config({"BM": 32, "BN": 64, "BK": 64, "GROUP": 4}, num_stages=2, num_warps=2),
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Compute a tile, of groups of rows of tiles for the L2's sake."""
    pid, across, down = tl.program_id(0), tl.cdiv(N, BN), tl.cdiv(M, BM)
    first = pid // (GROUP * across) * GROUP
    size = min(down - first, GROUP)
    i, j = first + pid % (GROUP * across) % size, pid % (GROUP * across) // size
    rows, columns, depth = (i * BM + tl.arange(0, BM)) % M, (j * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    a_at = a_ptr + rows[:, None] * a_row + depth[None, :] * a_column
    b_at = b_ptr + depth[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_at, mask=depth[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_at, mask=depth[:, None] < K - k * BK, other=0.0)
        total = tl.dot(a, b, total)
        a_at += BK * a_column
        b_at += BK * b_row
    rows, columns = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + c_row * rows[:, None] + c_column * columns[None, :], total.to(tl.float16), mask=inside)


def matmul(a, b):
    """Return the product."""
    (m, k), (_, n) = a.shape, b.shape
    c = torch.empty((m, n), device=a.device, dtype=torch.float16)
    given = (a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
    matmul_kernel[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](*given)
    return c


def main():
    """Compare with PyTorch, and print the best tile."""
    torch.manual_seed(0)
    a, b = (torch.randn((128, 128), device="cuda", dtype=torch.float16) for _ in range(2))
    torch.testing.assert_close(matmul(a, b), (a.float() @ b.float()).half(), atol=1e-2, rtol=1e-2)
    print(matmul_kernel.best_config)


if __name__ == "__main__":
    main()
