"""The first part of a run, ended on purpose: how far it came, which is no result of a launch and no SmRun.

It ends at the first look at which the SM has issued so many warp instructions. Looks are at cycles that depend on
nothing else, so both engines end at the same one; what both have issued by then is the same, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.engines.simulate import begun, check_engine
from gpusim.machine.machine import Machine
from gpusim.sm.unit.capacities import NEVER
from isa.kernel import Kernel

LOOK = 1024  # cycles to the first look, and between two
PART = 32  # from so many times that on looks are this part of the run apart, so that they stay few


@dataclass(frozen=True)
class Prefix:
    """Cycles and warp instructions of a run that was ended on purpose, or came to its `end` before.

    `half` has both at the last look that had seen at most half as many instructions.
    """

    cycles: int
    issued: int
    half: tuple[int, int]
    ended: bool

    @property
    def rate(self) -> float:
        """Cycles of a warp instruction in the second half: blocks that begin together wait together at first."""
        cycles, issued = self.half
        return (self.cycles - cycles) / (self.issued - issued)


def run_prefix(kernel: Kernel, machine: Machine, instructions: int, *, engine: str = "compiled") -> Prefix:
    """Simulate the SM with most work until it has issued so many warp instructions, one at least, or to its end.

    The feed is address-only: nothing is recorded for what is not simulated. Raises what `run_sm` raises.
    """
    check_engine(engine)
    prepared, advance = begun(kernel, machine, engine)
    looks, cycle, issued = [(0, 0)], 0, 0
    while issued < instructions:
        cycle += max(LOOK, cycle // PART)
        ended = advance(cycle) >= NEVER
        issued = int(prepared.program.issued.sum())
        looks.append((int(prepared.sm.cycles) if ended else cycle, issued))
        if ended:
            break
    half = max(look for look in looks if 2 * look[1] <= issued)
    return Prefix(*looks[-1], half, ended)
