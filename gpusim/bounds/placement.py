"""Placements: where in a line of memory the accesses of blocks begin, for blocks that differ only in this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.profile import Pattern, Profile
from isa.dataflow.moving import Step
from isa.kernel import Kernel
from isa.memory import PLACE_BYTES
from isa.row import Unit

MOST = 1 << 20  # blocks whose placements are counted
Placement = Mapping[int, int]  # by pc, bytes by which an access lies further on than block 0's, modulo a line


def placements(
    kernel: Kernel, steps: Mapping[int, Step], line_bytes: int, blocks: Sequence[int]
) -> list[tuple[Placement, int]] | None:
    """Return the distinct placements of the blocks' accesses to global memory, and how many blocks have each.

    `steps` are those of isa.dataflow.block_step. None if placements differ and the blocks are more than MOST.
    """
    moving = {pc: step for pc, step in steps.items() if kernel.program.instructions[pc].row.unit is Unit.GLOBAL}
    moving = {pc: step for pc, step in moving.items() if any(part % line_bytes for part in step)}
    if not moving:
        return [({}, len(blocks))]
    if len(blocks) > MOST:
        return None
    distinct = sorted(set(moving.values()))
    places = _bytes_from_first(kernel, distinct, np.array(blocks)) % line_bytes
    found: list[tuple[Placement, int]] = []
    for index, count in _alike(places):
        place = dict(zip(distinct, places[index].tolist(), strict=True))
        found.append(({pc: place[step] for pc, step in moving.items()}, count))
    return found


def moved(profile: Profile, pc: int, by: int) -> Profile:
    """Return the profile of the instruction at pc alone, with its accesses so many bytes further on."""
    return replace(profile, accesses={pc: tuple(_further(pattern, by) for pattern in profile.accesses[pc])})


def _bytes_from_first(kernel: Kernel, steps: Sequence[Step], blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [block, step]: the bytes by which a block's access lies further on than block 0's."""
    width, height, _ = kernel.grid
    index = np.stack([blocks % width, blocks // width % height, blocks // (width * height)], axis=1)
    return index @ np.array(steps, np.int64).T


def _alike(rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the index of the first of each kind of row, and how many are of that kind."""
    kind = np.zeros(len(rows), np.int64)
    for column in rows.T:
        kind = np.unique(kind * (int(column.max()) + 1) + column, return_inverse=True)[1]
    _, first, counts = np.unique(kind, return_index=True, return_counts=True)
    return list(zip(first.tolist(), counts.tolist(), strict=True))


def _further(pattern: Pattern, by: int) -> Pattern:
    lowest = int(pattern.addresses[pattern.active].min(initial=PLACE_BYTES)) + by
    addresses = pattern.addresses + np.uint32(by) - np.uint32(lowest // PLACE_BYTES * PLACE_BYTES)
    return replace(pattern, addresses=np.where(pattern.active, addresses, np.uint32(0)))
