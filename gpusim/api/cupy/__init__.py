"""CuPy's kernels on a simulated card: a program's `import cupy as cp` becomes one other line.

    import gpusim.cupy as cp

    squared = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")
    with cp.active("a100") as card:              # an H200 without it
        z = squared(cp.arange(1000.0), 3.0)
    print(card.milliseconds)

Other names are NumPy's, whose functions take no time. Needs the extra `cuda`.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gpusim.api.card.active import active
from gpusim.api.cupy import cuda
from gpusim.api.cupy.array import array, asarray, asnumpy, ndarray, of_numpy
from gpusim.api.cupy.elementwise import ElementwiseKernel
from gpusim.api.cupy.raw import RawKernel, RawModule
from gpusim.api.cupy.reduction import ReductionKernel

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "active",
    "array",
    "asarray",
    "asnumpy",
    "cuda",
    "get_array_module",
    "ndarray",
]


def get_array_module(*args: Any) -> ModuleType:
    """Return this module if an argument is an array of it, else NumPy."""
    import sys  # noqa: PLC0415  (of one function)

    return sys.modules[__name__] if any(isinstance(one, ndarray) for one in args) else np


def __getattr__(name: str) -> Any:
    """Return what NumPy has by a name; raises AttributeError for what neither has."""
    try:
        return of_numpy(np, name)
    except AttributeError:
        raise AttributeError(f"gpusim.cupy has no {name}: it has CuPy's kernels, and what NumPy has") from None
