"""Numba's CUDA kernels on a simulated card: a program's `from numba import cuda` becomes one other line.

    from gpusim.numba import cuda

    @cuda.jit
    def scale(x, factor):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= factor

    scale[8, 128](x, 2.0)

A kernel that Numba's own `jit` was put before is launched by `gpusim.numba.kernel(scale)[8, 128](x, 2.0)`. Needs the
extra `numba`.
"""

from gpusim.api.card.active import active
from gpusim.api.numba import host as cuda
from gpusim.api.numba.kernel import Kernel, jit, kernel

__all__ = ["Kernel", "active", "cuda", "jit", "kernel"]
