"""Random numbers of Numba's kernels: their states are made here, by the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.api.numba.arguments import EXTRA
from gpusim.api.numba.array import DeviceArray
from isa.reading import extra


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: object = 0) -> DeviceArray:
    """Return the states of n generators, each 2**64 steps behind the one before."""
    theirs = _theirs()
    states = np.empty(n, theirs.xoroshiro128p_dtype)
    theirs.init_xoroshiro128p_states_cpu(states, seed, subsequence_start)
    return states.view(DeviceArray)


def _theirs() -> Any:
    extra.module("numba_cuda", EXTRA)
    return extra.module("numba.cuda.random", EXTRA)


def __getattr__(name: str) -> Any:
    """Return what `numba.cuda.random` has by a name, for kernels."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_theirs(), name)
