"""Rounds of some warps at a barrier in shared memory: who arrives and how, which bulk copies come, and who waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bulk_programs import kernel
from hypothesis import strategies as st

from isa.kernel import Kernel

SLOT, COPIES, UNIT, BARRIER = 4096, 3, 16, 128  # bytes of a copy at most, copies of a warp in a round, bytes
MOST_ARRIVALS = 12


@dataclass(frozen=True)
class Rounds:
    """Steps by round and warp, as tests/data/rounds.cu reads them, and the arrivals that end a round."""

    steps: np.ndarray
    count: int

    @property
    def warps(self) -> int:
        """Warps of the block."""
        return int(self.steps.shape[1])

    def launch(self) -> Kernel:
        """Return the launch; its result is the block's shared memory."""
        size = BARRIER + self.warps * COPIES * SLOT
        out = np.zeros(size // 4, np.uint32)
        numbers = (self.count, len(self.steps), SLOT)
        given = (self.steps.ravel(), source(self.warps), out, *numbers)
        return kernel("rounds", *given, threads=32 * self.warps, shared=size, file="rounds")

    def left(self) -> tuple[int, np.ndarray]:
        """Return the words of the barrier behind the last round, and the bytes behind it."""
        held, given = np.zeros(self.warps * COPIES * SLOT, np.uint8), source(self.warps).view(np.uint8)
        for turn, warp in np.ndindex(self.steps.shape):
            step = int(self.steps[turn, warp])
            size = (step >> 8 & 255) * UNIT
            for at in (SLOT * (COPIES * warp + i) for i in range(step >> 6 & 3)):
                held[at : at + size] = given[at + UNIT * turn :][:size]
        to_come = (1 << 20) - self.count
        return to_come << 1 | to_come << 43 | len(self.steps) % 2 << 63, held


def source(warps: int) -> np.ndarray:
    """Return what copies read."""
    return np.random.default_rng(5).integers(0, 1 << 32, warps * COPIES * SLOT // 4 + 64, np.uint32)


@st.composite
def rounds(draw: st.DrawFn) -> Rounds:
    """Up to five rounds of up to six warps, each of which arrives once at least in each."""
    warps, turns = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    count = draw(st.integers(warps, MOST_ARRIVALS))
    steps = np.zeros((turns, warps), np.uint32)
    for turn in range(turns):
        cuts = (
            sorted(draw(st.sets(st.integers(1, count - 1), min_size=warps - 1, max_size=warps - 1)))
            if count > 1
            else []
        )
        for warp, arrivals in enumerate(np.diff([0, *cuts, count])):
            copies, units = draw(st.integers(0, COPIES)), draw(st.sampled_from((1, 2, 8, 9, 64, 255)))
            idle, alone = draw(st.integers(0, 60)), draw(st.booleans())
            form = draw(st.integers(0, 3))
            steps[turn, warp] = int(arrivals) | form << 4 | copies << 6 | units << 8 | idle << 16 | alone << 24
    return Rounds(steps, count)
