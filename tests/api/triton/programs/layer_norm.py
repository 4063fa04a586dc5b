"""Layer norm with its backward pass, in an autograd function; the gradients of weights go through atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, scale_ptr, n, eps, BLOCK: tl.constexpr):
    """Normalize a row."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + row * n + at, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / n
    apart = tl.where(inside, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(scale_ptr + row, scale)
    w, b = tl.load(w_ptr + at, mask=inside), tl.load(b_ptr + at, mask=inside)
    tl.store(y_ptr + row * n + at, apart * scale * w + b, mask=inside)


@triton.jit
def backward_kernel(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    """Find the gradient of a row, and add those of the weights to all rows'."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + row * n + at, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + row * n + at, mask=inside, other=0.0)
    w = tl.load(w_ptr + at, mask=inside, other=0.0)
    scale = tl.load(scale_ptr + row)
    normal = tl.where(inside, (x - tl.load(mean_ptr + row)) * scale, 0.0)
    along, across = tl.sum(normal * w * dy, axis=0) / n, tl.sum(w * dy, axis=0) / n
    tl.store(dx_ptr + row * n + at, (w * dy - (normal * along + across)) * scale, mask=inside)
    tl.atomic_add(dw_ptr + at, dy * normal, mask=inside)
    tl.atomic_add(db_ptr + at, dy, mask=inside)


class LayerNorm(torch.autograd.Function):
    """Layer norm of rows."""

    @staticmethod
    def forward(ctx, x, w, b, eps):
        """Return the normalized rows."""
        rows, n = x.shape
        y, mean, scale = torch.empty_like(x), torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
        ctx.block = triton.next_power_of_2(n)
        forward_kernel[(rows,)](x, y, w, b, mean, scale, n, eps, BLOCK=ctx.block, num_warps=2)
        ctx.save_for_backward(x, w, mean, scale)
        return y

    @staticmethod
    def backward(ctx, dy):
        """Return the gradients."""
        x, w, mean, scale = ctx.saved_tensors
        dx, dw, db = torch.empty_like(x), torch.zeros_like(w), torch.zeros_like(w)
        backward_kernel[(x.shape[0],)](dx, dy, dw, db, x, w, mean, scale, x.shape[1], BLOCK=ctx.block, num_warps=2)
        return dx, dw, db, None


def main():
    """Compare values and gradients with PyTorch's."""
    torch.manual_seed(0)
    x, w, b = (torch.randn(shape, device="cuda", requires_grad=True) for shape in ((60, 300), (300,), (300,)))
    y, dy = LayerNorm.apply(x, w, b, 1e-5), torch.randn(60, 300, device="cuda")
    y.backward(dy)
    found = [one.grad.clone() for one in (x, w, b)]
    for one in (x, w, b):
        one.grad = None
    expected = torch.nn.functional.layer_norm(x, (300,), w, b, 1e-5)
    torch.testing.assert_close(y, expected)
    expected.backward(dy)
    for ours, one in zip(found, (x, w, b), strict=True):
        torch.testing.assert_close(ours, one.grad, atol=1e-4, rtol=1e-4)
    print("layer norm: values and gradients as PyTorch's")


if __name__ == "__main__":
    main()
