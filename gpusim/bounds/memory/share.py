"""What simulated SMs have of the memory behind them: their share of the L2 and of the DRAM, and what is there before.

The same facts as gpusim/launch/launch.py gives each SM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.memory.touched import Numbers
from gpusim.engines.walks import launch_lines
from gpusim.launch.caches import lockstep
from gpusim.launch.launch import several_channels
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.sm.memory.l2_channel.declaration import sector_shares
from gpusim.sm.memory.l2_share.declaration import PARTS, SHIFT, SPREADING
from isa.dataflow.memory.address_steps import address_steps
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, bases


@dataclass(frozen=True)
class Share:
    """The share of so many simulated SMs that run these blocks; each stands for others, if `sharers` are more than 1.

    `costs`: 1/64 cycles in which their share of the L2 moves a sector: loads, stores, shared answers; 0: not known.
    """

    kernel: Kernel
    machine: Machine
    blocks: Sequence[int]
    sms: int
    sharers: int
    resident: int
    spills: int
    passes: int
    costs: tuple[int, int, int]

    @property
    def passes_on(self) -> bool:
        """Whether the launch lasts until what is stored and the L2 does not keep has gone on to the DRAM."""
        return self.sms == 1 or not several_channels(self.machine)

    def lost(self, sectors: Numbers) -> NDArray[np.bool_]:
        """Tell of sectors whether the L2 does not keep their lines from launch to launch."""
        return self._places(sectors) < self.spills

    def passed_on(self, sectors: Numbers) -> NDArray[np.bool_]:
        """Tell of sectors whether what is stored there goes on to the DRAM."""
        return self._places(sectors) < self.passes

    def _places(self, sectors: Numbers) -> Numbers:
        lines = sectors * SECTOR_BYTES // self.machine.global_memory.line_bytes
        return np.asarray((lines * SPREADING >> SHIFT) & (PARTS - 1))

    def missing(self, sectors: Numbers) -> NDArray[np.bool_]:
        """Tell of sectors whether the L2 lacks their lines when the launch begins."""
        filled = self.machine.l2 is not None and self.machine.l2.filled
        return self.lost(sectors) if filled else np.ones(len(sectors), np.bool_)

    def part(self, nbytes: int) -> int:
        """Return how many sectors of a buffer of that size the SMs bring at most, if each brings its part."""
        return nbytes // self.sharers // SECTOR_BYTES if self.sharers > 1 else nbytes

    @property
    def of_dram(self) -> Fraction:
        """The part of an equal share of the DRAM's time that its accesses take: SMs without blocks take none."""
        return Fraction(self.sharers, self.machine.chip.sms) if self.sharers and self.machine.dram else Fraction(1)

    @property
    def piece(self) -> int:
        """Sectors that the caches of loads bring together, at most."""
        caches = self.machine.l1, self.machine.l2, self.machine.l2_partition
        return max((one.sector_bytes for one in caches if one), default=SECTOR_BYTES) // SECTOR_BYTES

    @property
    def apart(self) -> int:
        """How many SMs of the chip there are for each that is simulated."""
        return self.machine.chip.sms // self.sms

    @property
    def stands(self) -> int:
        """For how many blocks of the grid, itself included, any of `whole` stands."""
        return self._stands(0)

    @property
    def whole(self) -> tuple[int, ...]:
        """The blocks that stand for as many blocks of the grid as any, one of each other SM."""
        return tuple(block for block in self.blocks if self._stands(block) == self.stands)

    @property
    def partial(self) -> tuple[int, ...]:
        """The others, at the end of the grid."""
        return tuple(block for block in self.blocks if self._stands(block) < self.stands)

    def _stands(self, block: int) -> int:
        apart = self.apart if self.sharers > 1 else 1
        return min(apart, self.kernel.blocks - (block - block % apart))

    def of_others(self) -> frozenset[int]:
        """Return the pcs of loads whose lines others may have brought in an earlier wave."""
        if self.sharers <= 1:
            return frozenset()
        last = max(self.blocks) // (self.resident * self.machine.chip.sms)
        return frozenset(pc for pc, step in address_steps(self.kernel).items() if self._least(step, last) < PARTS)

    def _least(self, step: tuple[int, int, int], last: int) -> int:
        """Return how many of 64 blocks run in lockstep at least, in all waves up to the last."""
        along = sum(1 << axis for axis, each in enumerate(step) if each == 0)
        return min(lockstep.waves(self.kernel.grid, self.machine.chip.sms, self.resident, along)[: last + 1])


def share_of(kernel: Kernel, machine: Machine, blocks: Sequence[int], sms: int) -> Share:
    """Return the share of so many SMs that run these blocks."""
    fits = occupancy(kernel, machine).blocks
    stands = (sms < machine.chip.sms or sms == 1) and machine.l2 and (machine.l2_channel or machine.architecture)
    sharers = min(machine.chip.sms, kernel.blocks) if stands else 0
    keeps = sharers > 1 or (machine.l2 and machine.l2.keeps_bytes)
    spills, passes = launch_lines.lost(kernel, machine, fits) if keeps else (0, 0)
    everyone = 1 < sms == machine.chip.sms
    costs = sector_shares(machine, machine.chip.sms if everyone else sharers) if everyone or sharers else (0, 0, 0)
    resident = min(fits, len(blocks) if sms == 1 else -(-kernel.blocks // machine.chip.sms))
    return Share(kernel, machine, blocks, sms, sharers, resident, spills, passes, costs)


def buffer_of(kernel: Kernel, sectors: Numbers) -> Numbers:
    """Return the place of the buffer in which each sector lies, among the kernel's; -1 before the first."""
    starts = np.array([base // SECTOR_BYTES for base in bases(kernel.buffers).values()], np.int64)
    return np.asarray(np.searchsorted(starts, sectors, side="right") - 1, np.int64)
