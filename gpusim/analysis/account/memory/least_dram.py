"""The words that a machine's DRAM moves at least in a launch: what its L2 does not hold, or keep for the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from gpusim.engines.walks import launch_lines
from gpusim.engines.walks.traffic import Level, Traffic
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.l2_share.declaration import PARTS
from isa.kernel import Kernel


@dataclass(frozen=True)
class LeastDram:
    """A launch's traffic with the words of 32 bits that the DRAM moves at least, and why not all; empty: all."""

    traffic: Traffic
    why: str

    @property
    def read(self) -> int:
        """Words that the DRAM reads."""
        return self.traffic.read(Level.DRAM)

    @property
    def written(self) -> int:
        """Words that go to the DRAM."""
        return self.traffic.written(Level.DRAM)


def least_dram(found: Traffic, kernel: Kernel, machine: Machine) -> LeastDram:
    """Return what the rules of a run let the DRAM move at least, each sector once.

    An L2 with tags keeps what is stored, but for the part of the buffers that does not fit; one that is filled has the
    rest of them when the launch begins. Without tags all loads and stores go to the DRAM, or all hit a cache.
    """
    if not tagged(machine) and machine.cache and machine.cache.hits != "none":
        why = f"all loads hit the {machine.cache.hits.upper()} (cache.hits)"
        return LeastDram(_at_dram(found, Fraction(0), Fraction(0)), why)
    if not tagged(machine) or machine.l2 is None:
        return LeastDram(found, "")
    lost, goes = (Fraction(n, PARTS) for n in launch_lines.lost(kernel, machine, occupancy(kernel, machine).blocks))
    keeps = "what is stored" if goes == 0 else f"{100 * float(1 - goes):.0f} % of what is stored"
    has = f"; it has {100 * float(1 - lost):.0f} % of the buffers at first (l2.filled)" if machine.l2.filled else ""
    brought = lost if machine.l2.filled else Fraction(1)
    return LeastDram(_at_dram(found, brought, goes), f"the L2 keeps {keeps}{has}" if lost < 1 else "")


def _at_dram(found: Traffic, read: Fraction, written: Fraction) -> Traffic:
    """Return the traffic of which the DRAM reads and writes these parts."""
    parts = (
        replace(one, read=round(one.read * read), written=round(one.written * written))
        if one.level is Level.DRAM
        else one
        for one in found.words
    )
    return replace(found, words=tuple(parts))
