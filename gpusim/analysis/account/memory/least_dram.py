"""The words that a machine's DRAM moves at least in a launch: what its L2 does not hold, or keep for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gpusim.engines.walks.traffic import Level, Traffic
from gpusim.launch.caches.filled_caches import passes, spills
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.l2_share.declaration import PARTS
from isa.kernel import Kernel


@dataclass(frozen=True)
class LeastDram:
    """Words of 32 bits that the DRAM moves at least, and why not all that a launch reads and writes; empty: all."""

    read: float
    written: float
    why: str


def least_dram(found: Traffic, kernel: Kernel, machine: Machine) -> LeastDram:
    """Return what the rules of a run let the DRAM move at least, each sector once.

    An L2 with tags keeps what is stored, but for the part of the buffers that does not fit; one that is filled has the
    rest of them when the launch begins. Without tags all loads and stores go to the DRAM, or all hit a cache.
    """
    read, written = found.read(Level.DRAM), found.written(Level.DRAM)
    if not tagged(machine):
        if machine.cache and machine.cache.hits != "none":
            return LeastDram(0, 0, f"all loads hit the {machine.cache.hits.upper()} (cache.hits)")
        return LeastDram(read, written, "")
    if machine.l2 is None:
        return LeastDram(read, written, "")
    lost, goes = (Fraction(f(machine, kernel, occupancy(kernel, machine).blocks), PARTS) for f in (spills, passes))
    brought = float(read * (lost if machine.l2.filled else 1))
    keeps = "what is stored" if goes == 0 else f"{100 * float(1 - goes):.0f} % of what is stored"
    has = f"; it has {100 * float(1 - lost):.0f} % of the buffers at first (l2.filled)" if machine.l2.filled else ""
    return LeastDram(brought, float(written * goes), f"the L2 keeps {keeps}{has}" if lost < 1 else "")
