"""A launch as engines get it, before anything runs; it decides which numbers of the machine are read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpusim.launch.caches import caches, instruction_caches
from gpusim.launch.ground import ground
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy, is_one_wave
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.l2_channel.declaration import sector_shares
from gpusim.sm.pipes.pipe.declaration import pipes_of
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.state.layout import layout
from gpusim.sm.unit.asks import WIDTHS, through_port
from gpusim.sm.unit.opcodes import UNIT_CODE
from isa.kernel import Kernel
from isa.row import Unit


@dataclass(frozen=True)
class Given:
    """A kernel on a machine as engines get it: packed numbers, decoded rows, and how many blocks an SM has."""

    kernel: Kernel
    machine: Machine
    fits: Occupancy
    resident: int  # blocks that an SM holds at once
    record: Any
    rows: Any
    levels: Any  # the caches that keep tags, by their numbers
    several_sms: bool  # whether several SMs are simulated, not one

    @property
    def share(self) -> int:
        """Number of blocks of the SM that gets the most."""
        return -(-self.kernel.blocks // self.machine.chip.sms)

    @cached_property
    def units(self) -> frozenset[Unit]:
        """Unit classes of the program's instructions."""
        return frozenset(i.row.unit for i in self.kernel.program.instructions)

    @cached_property
    def pipes(self) -> frozenset[str]:
        """Pipes that some instruction of the program may take, or needs beside its own."""
        machine = self.machine
        own = {name for unit in self.units for name in pipes_of(machine, unit)}
        joint = {
            machine.joint[unit] for unit in self.units if unit in machine.joint and not through_port(machine, unit)
        }
        return frozenset(own | joint)

    def does(self, *actions: int, unit: Unit | None = None, width: int | None = None) -> bool:
        """Tell whether an instruction of that unit class and width does one of these actions."""
        found = np.isin(self.rows["action"], actions)
        if unit is not None:
            found &= self.rows["unit"] == UNIT_CODE[unit]
        if width is not None:
            found &= self.rows["width"] == WIDTHS.index(width)
        return bool(found.any())

    @cached_property
    def queued(self) -> bool:
        """Whether anything goes through the load/store queue."""
        return bool(self.rows["queued"].any())

    @property
    def in_time(self) -> bool:
        """Whether results count as there by what control codes say, so that latencies count where a barrier tells."""
        return self.kernel.target is not None and by_codes(self.machine)

    @cached_property
    def cached(self) -> bool:
        """Whether any access looks up tags."""
        return bool(self.rows["cached"].any())

    @property
    def alone(self) -> bool:
        """Whether a scheduler has a single warp at most."""
        return self.resident * self.kernel.warps <= self.machine.schedulers.count

    @property
    def pairs(self) -> bool:
        """Whether a later dispatch port may ever take an instruction: the port exists, and a warp that may use it."""
        return self.record.ports > 1 and bool(self.record.same_warp or not self.alone)

    @property
    def policy(self) -> str:
        """The scheduling policy."""
        return self.machine.schedulers.policy


def as_given(kernel: Kernel, machine: Machine, *, several_sms: bool = True) -> Given:
    """Return a launch as engines get it; raises UserError where kernel and machine don't fit.

    With `several_sms` also numbers are read that one SM by itself has no part in.
    """
    base = ground(kernel, machine)
    apart = not is_one_wave(kernel, machine, base.fits.blocks)
    instruction_caches.pack(base.numbers, machine, len(base.rows), apart=apart)
    (target,) = np.zeros(1, layout("launch"))
    if tagged(machine):
        caches.place(target, machine, 0, 1, 0, recorded=False)
        base.numbers.shared_cost[:] = sector_shares(machine, min(machine.chip.sms, kernel.blocks))
    return Given(kernel, machine, base.fits, base.resident, base.numbers, base.rows, target.caches, several_sms)
