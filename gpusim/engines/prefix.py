"""The first part of a run, ended on purpose: how far it came, which is no result of a launch and no SmRun.

It ends at the first look at which the SM has issued so many warp instructions. Looks are at cycles that depend on
nothing else, so both engines end at the same one; what both have issued by then is the same, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.engines.simulate import begun, check_engine
from gpusim.machine.machine import Machine
from gpusim.sm.records import Sm
from gpusim.sm.unit.capacities import NEVER
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES

LOOK = 1024  # cycles to the first look, and between two
PART = 32  # from so many times that on looks are this part of the run apart, so that they stay few
EARLY = 8  # the part of the instructions that does not count in the rate: blocks that begin together wait together


@dataclass(frozen=True)
class Prefix:
    """Cycles and warp instructions of a run that was ended on purpose, or came to its `end` before.

    `early` has both at the last look that had seen at most an eighth as many instructions.
    """

    cycles: int
    issued: int
    early: tuple[int, int]
    ended: bool

    @property
    def rate(self) -> float:
        """Cycles of a warp instruction after the first eighth."""
        cycles, issued = self.early
        return (self.cycles - cycles) / (self.issued - issued)


def run_prefix(
    kernel: Kernel, machine: Machine, instructions: int, *, engine: str = "compiled", of: float | None = None
) -> Prefix:
    """Simulate the SM with most work until it has issued so many warp instructions, one at least, or to its end.

    The feed is address-only: nothing is recorded for what is not simulated. If it stands for a run `of` so many, the SM
    brings as small a part of its share of each buffer from the DRAM, which it does first. Raises what `run_sm` raises.
    """
    check_engine(engine)
    prepared, advance = begun(kernel, machine, engine)
    if of is not None:
        _bring(prepared.sm, min(1.0, instructions / of))
    looks, cycle, issued = [(0, 0)], 0, 0
    while issued < instructions:
        cycle += max(LOOK, cycle // PART)
        ended = advance(cycle) >= NEVER
        issued = int(prepared.program.issued.sum())
        looks.append((int(prepared.sm.cycles) if ended else cycle, issued))
        if ended:
            break
    early = max(look for look in looks if EARLY * look[1] <= issued)
    return Prefix(*looks[-1], early, ended)


def _bring(sm: Sm, part: float) -> None:
    """Let the SM have brought all of its share of each buffer but this part (gpusim/sm/memory/l2_share)."""
    if sm.launch.sharers > 1:
        for place, buffer in enumerate(sm.buffers):
            share = (int(buffer.end) - int(buffer.start)) // int(sm.launch.sharers)
            sm.brought[place] = int((1 - part) * share) // SECTOR_BYTES
