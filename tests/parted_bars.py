"""Programs whose lanes come apart to a barrier of the block, and what an H200 noted (tests/measured/parted_bars.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np
from parted_lanes import MEASURED, launched

from isa import memory
from isa.kernel import Kernel

FOUND = np.load(MEASURED / "parted_bars.npz")
PLACES, THREADS = 1000 * 192, 64  # words of notes: for each, time, lanes and place, thread by thread; threads
CASES = 0, 1, 2  # inputs: two random ones, and the numbers from 0 on
AS_COMPILED, ALONE = "parted_bars", "parted_bars_alone"  # with what brings lanes together before a BAR, and without
EITHER = [
    f"b_{name}" for name in ("calls", "late", "both", "three", "loop", "exit", "count", "spin", "counted", "arrive")
]
ENDING = {AS_COMPILED: EITHER, ALONE: [*EITHER, "b_both_aligned", "b_passed", "b_warpsync", "b_numbers"]}  # on the chip


def kernel(file: str, name: str, case: int) -> Kernel:
    """Return a launch of two warps of one of the programs."""
    values = FOUND[f"input.{case}"], case + 1
    return launched(file, name, values, words=PLACES + 2 * THREADS, threads=THREADS)


def as_on_the_chip(file: str, name: str, case: int, launch: Kernel, words: Any) -> bool:
    """Tell whether each thread notes the chip's lanes and places, as many of them, and leaves the same last value."""
    first = memory.bases(launch.buffers)["g"] // 4
    found, last = words[first : first + PLACES], words[first + PLACES : first + PLACES + 2 * THREADS]
    key = f"{'alone.' if file == ALONE else ''}{name}.{case}"
    expected = FOUND[key]
    notes = found.reshape(-1, 3, THREADS)
    same = np.array_equal(notes[: len(expected), 1:], expected[:, 1:]) and not notes[len(expected) :].any()
    return bool(same and np.array_equal(last, FOUND[f"{key}.last"]))
