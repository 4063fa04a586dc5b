"""The memory of the system that a launch has if its kernel prints or allocates: two buffers, behind its own.

A launch may bring them, by these names: then what kernels print is added to what is there, and what they allocate
outlives the launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from isa import memory
from isa.kernel import Buffer
from isa.nvidia.abi.launch import WINDOW, LaunchState
from isa.nvidia.file.code import Code
from isa.nvidia.system import code as functions
from isa.nvidia.system.buffers import HEADER_BYTES, HEAP, PRINTED

PRINTED_BYTES, HEAP_BYTES = 1 << 20, 8 << 20  # cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize: the runtime's defaults
LISTS_BYTES = 512 * 8  # of the heap: its lists of freed blocks
_DEFAULTS = {PRINTED: PRINTED_BYTES, HEAP: HEAP_BYTES}
_SYMBOLS = {PRINTED: functions.RING, HEAP: functions.HEAP}


def provided(code: Code, state: LaunchState) -> tuple[Code, LaunchState]:
    """Return code with the functions of the system that the launch's kernel calls, and a launch with their memory."""
    whole = functions.with_functions(code, state.kernel)
    given = {one.name for one in state.buffers}
    fresh = [buffer(name, _DEFAULTS[name]) for name in _used(whole, state.kernel) if name not in given]
    return whole, replace(state, buffers=(*state.buffers, *fresh))


def needed(code: Code, kernel: str) -> tuple[str, ...]:
    """Return the names of the buffers that a kernel of this code needs."""
    return _used(functions.with_functions(code, kernel), kernel)


def _used(whole: Code, kernel: str) -> tuple[str, ...]:
    symbols = functions.memory_of(whole, kernel)
    return tuple(name for name, symbol in _SYMBOLS.items() if symbol in symbols)


def places(state: LaunchState) -> Mapping[str, int]:
    """Return the 64-bit addresses of the system's memory in a launch, by their symbols."""
    where = memory.bases(state.buffers)
    return {symbol: WINDOW + where[name] for name, symbol in _SYMBOLS.items() if name in where}


def buffer(name: str, nbytes: int, place: int | None = None) -> Buffer:
    """Return what is printed to, PRINTED, or the HEAP, empty: so many bytes, whole words, beside its header."""
    return Buffer(name, "u4", size(name, nbytes) // 4, Empty(nbytes), place)


def size(name: str, nbytes: int) -> int:
    """Return the bytes of such a buffer with its header."""
    return HEADER_BYTES + (LISTS_BYTES if name == HEAP else 0) + nbytes


@dataclass(frozen=True, slots=True)
class Empty:
    """The contents of such a buffer of so many bytes: their number, and zeros."""

    nbytes: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the words at the element indices."""
        return np.where(index == 0, self.nbytes, 0).astype(np.uint32)


def start(words: NDArray[np.uint32], nbytes: int) -> None:
    """Make words of memory, which are zero, such a buffer of so many bytes beside its header."""
    words[0] = nbytes
