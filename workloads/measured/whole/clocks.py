"""The clock records of the timed kernels: each warp stores when it began and ended, on which SM, and its block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.kernel import Buffer, Expectation, Kernel
from isa.memory import bases, view
from workloads.measured.whole.tables import Timed
from workloads.measured.whole.task import exact

NAME = "rec"  # of their buffer, and of the parameter
_WORDS = 6  # of a record: two clocks of 64 bits, the SM, and the block
_BLOCK = 5  # the word with the block


def buffer(launch: Timed, warps: int) -> Buffer:
    """Return the buffer of the records, one for each of so many warps of each block."""
    return Buffer(NAME, "u4", _WORDS * launch.blocks * warps)


def outcome(launch: Timed, warps: int) -> Callable[[], tuple[Expectation, ...]]:
    """Return Kernel.outcome of a launch: all that is known of the records is the block of each warp."""
    return partial(_blocks, launch, warps)


def cycles(words: NDArray[np.uint32], warps: int) -> NDArray[np.int64]:
    """Return the cycles of each block from the first entry to the last exit; `words` are those of the records."""
    return np.asarray(np.ptp(_spans(words, warps), axis=1), np.int64)


def recorded(kernel: Kernel, memory: NDArray[np.uint32], blocks: Sequence[int]) -> NDArray[np.int64]:
    """Return the first entry and the last exit, [block, 2], that these blocks of a timed kernel left in memory."""
    words = view(memory, next(one for one in kernel.buffers if one.name == NAME), bases(kernel.buffers)[NAME])
    return _spans(words.view(np.uint32).reshape(kernel.blocks, -1)[list(blocks)], kernel.warps)


def _spans(words: NDArray[np.uint32], warps: int) -> NDArray[np.int64]:
    clocks = np.ascontiguousarray(words.reshape(-1, warps, _WORDS)[..., :4]).view(np.int64)
    return np.stack([clocks[..., 0].min(axis=1), clocks[..., 1].max(axis=1)], axis=1)


def _blocks(launch: Timed, warps: int) -> tuple[Expectation, ...]:
    index = np.arange(_BLOCK, _WORDS * launch.blocks * warps, _WORDS, dtype=np.int64)
    return (exact(NAME, index, np.repeat(np.arange(launch.blocks), warps)),)
