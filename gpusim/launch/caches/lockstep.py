"""Which blocks of a grid ask for the same lines, and how many of them do so in lockstep.

Blocks along an axis of the grid in which an address does not move ask for the same lines. All that begin together wait
for the DRAM together, whoever asked first. A block whose lines an earlier wave has asked for waits for nothing; its SM
gains time on the others, and leaves the lockstep. So SMs stay in lockstep where rows of such blocks fill whole waves,
and lose it where a row continues in the next wave, as on an H200 (docs/hopper.md). In each wave, an SM that stands for
all lets the same fraction of its blocks wait as runs in lockstep (gpusim/sm/memory/l2_share/l2_share.py).
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from gpusim.sm.memory.l2_atomic.declaration import TURNS
from gpusim.sm.memory.l2_share.declaration import PARTS
from gpusim.sm.unit.capacities import WAVES
from isa.dataflow.memory.address_steps import address_steps, linear_steps
from isa.dataflow.moving import Step
from isa.kernel import Kernel

Grid = tuple[int, int, int]


def prepare(sm: Any, kernel: Kernel) -> None:
    """Store along which axes each load's lines are shared, and how many blocks of each wave run in lockstep there.

    Also store for how many blocks a slice of the L2 does atomics.
    """
    for pc, step in linear_steps(kernel).items():
        sm.program[pc].slice_blocks = near(step, kernel.grid, int(sm.machine.slice_lines * sm.machine.line_bytes))
    for pc, step in address_steps(kernel).items():
        along = sum(1 << axis for axis, each in enumerate(step) if each == 0)
        sm.program[pc].shared_along = 1 + along
        sm.launch.lockstep[along] = waves(kernel.grid, int(sm.launch.stride), int(sm.launch.resident), along)
        wave = int(sm.launch.stride) * int(sm.launch.resident)
        sm.program[pc].sharers, sm.program[pc].waves_apart = (
            sharers(kernel.grid, wave, along),
            apart(kernel.grid, wave, along),
        )


def near(step: Step, grid: Grid, size: int) -> int:
    """Return how many blocks have places in one slice that has pieces of so many bytes: some of successive ones.

    Each as often as it comes again. 0: all have, or nothing is known of sizes.
    """
    moves = [(min(each, (1 << 32) - each), extent) for each, extent in zip(step, grid, strict=True) if extent > 1]
    apart = min((each for each, _ in moves if each), default=0)
    places = range(0, TURNS * size, apart) if apart else ()
    return sum(place // size % 2 == 0 for place in places) * prod(extent for each, extent in moves if each == 0)


@cache
def waves(grid: Grid, sms: int, resident: int, along: int) -> tuple[int, ...]:
    """Return how many of 64 blocks run in lockstep in each of the first waves; all further ones have those of the last.

    `along` has bit 0, 1, 2 for lines that are shared along x, y, z; an SM has so many `resident` blocks. An SM stays in
    lockstep if none of its next blocks asks for lines of an earlier wave; where all blocks do, none waits, and no SM
    gains time. The form is a guess, made with the rows of an H200 in sight
    (gpusim/published/h200_in_step.csv).
    """
    found, lockstep, slots = list[int](), 1.0, sms * resident
    for begin in range(0, WAVES * slots, slots):
        wave = range(begin, min(begin + slots, grid[0] * grid[1] * grid[2]))
        new = sum(first(block, grid, along) >= begin for block in wave)
        lockstep *= (new / len(wave)) ** resident if new else 1
        found.append(round(PARTS * lockstep) if new else 0)
    return tuple(found)


@cache
def sharers(grid: Grid, wave: int, along: int) -> int:
    """Return how many blocks of the first wave ask for the same lines, in the mean."""
    blocks = range(min(wave, prod(grid)))
    return max(1, round(len(blocks) / len({first(block, grid, along) for block in blocks})))


def apart(grid: Grid, wave: int, along: int) -> int:
    """Return how many 64ths of a wave lie between blocks that ask for the same lines, of a whole wave at least."""
    steps = [step for axis, step in enumerate((1, grid[0], grid[0] * grid[1])) if along >> axis & 1 and grid[axis] > 1]
    return max(PARTS, min(steps, default=0) * PARTS // wave)


def first(block: int, grid: Grid, along: int) -> int:
    """Return the first block of the grid that asks for the same lines."""
    places = (block % grid[0], block // grid[0] % grid[1], block // (grid[0] * grid[1]))
    x, y, z = (0 if along >> axis & 1 else place for axis, place in enumerate(places))
    return x + grid[0] * (y + grid[1] * z)
