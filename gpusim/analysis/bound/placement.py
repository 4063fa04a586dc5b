"""Blocks that differ only in where their global accesses lie: one profile, moved, serves all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isa.execute.block_step import Step
from isa.execute.profile import PLACE_BYTES, Pattern, Profile
from isa.kernel import Kernel
from isa.table import Unit

CHUNK = 1 << 20  # blocks that are looked at together
MOST = 1 << 22  # blocks that are counted: their shares stand for those of more
Places = Mapping[int, int]  # by pc, bytes by which an access lies further on than block 0's, modulo a line


def placements(
    kernel: Kernel, steps: Mapping[int, Step], line_bytes: int, blocks: Sequence[int]
) -> list[tuple[Places, int]]:
    """Return the distinct places of the blocks' global accesses within a line, and how many blocks have each.

    `steps` are those of isa.execute.block_step. Counts are relative to each other if there are more than MOST blocks.
    """
    moved = {pc: step for pc, step in steps.items() if kernel.program.instructions[pc].row.unit is Unit.GLOBAL}
    moved = {pc: step for pc, step in moved.items() if any(part % line_bytes for part in step)}
    if not moved:
        return [({}, 1)]
    counts: Counter[tuple[int, ...]] = Counter()
    for first in range(0, min(len(blocks), MOST), CHUNK):
        ids = np.array(blocks[first : first + CHUNK])
        kinds, times = np.unique(_offsets(kernel, list(moved.values()), ids) % line_bytes, axis=0, return_counts=True)
        counts.update(dict(zip(map(tuple, kinds.tolist()), times.tolist(), strict=True)))
    return [(dict(zip(moved, places, strict=True)), count) for places, count in counts.items()]


def moved(profile: Profile, places: Places) -> Profile:
    """Return the profile of a block whose accesses lie further on than those of the profiled one."""
    accesses = {pc: tuple(_moved(patterns, places.get(pc, 0))) for pc, patterns in profile.accesses.items()}
    return replace(profile, accesses=accesses)


def _offsets(kernel: Kernel, steps: Sequence[Step], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [block, access] bytes."""
    width, height, _ = kernel.grid
    index = np.stack([ids % width, ids // width % height, ids // (width * height)], axis=1)
    return index @ np.array(steps, np.int64).T


def _moved(patterns: Sequence[Pattern], by: int) -> Iterator[Pattern]:
    for pattern in patterns:
        lowest = int(pattern.addresses[pattern.active].min(initial=PLACE_BYTES)) + by
        further = pattern.addresses + np.uint32(by) - np.uint32(lowest // PLACE_BYTES * PLACE_BYTES)
        yield replace(pattern, addresses=np.where(pattern.active, further, np.uint32(0)))
