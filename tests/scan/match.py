"""Comparisons of all lanes (MATCH.ANY) as a scan of every cycle (`every_cycle.py`) sees them: a unit of their own."""

from __future__ import annotations

from typing import Any

from gpusim.machine.machine import Machine
from isa.row import Row
from isa.values.cross_lane import match_any
from scan.state import Scan, Warp, registers_of

UNIT = 2  # behind those of memory accesses and of constants


def takes(machine: Machine, row: Row) -> bool:
    """Whether an instruction goes to that unit."""
    port = machine.memory_port
    return row.across is match_any and machine.match is not None and port is not None and row.unit in port.units.split()


def cost(sm: Scan, warp: Warp, pc: int, active: Any) -> tuple[int, int, int]:
    """Cycles of the unit, and on top of the latency: lanes that have one value have got one mask, of half a warp."""
    (register,), match = sm.kernel.program.instructions[pc].writes(), sm.machine.match
    assert match
    masks = registers_of(sm, warp)[register]
    on = active[: len(masks)]
    values = sum(len(set(masks[i : i + 32][on[i : i + 32]].tolist())) for i in range(0, len(masks), 32))
    return values * match.cycles, (values - 1) * match.value_32, 0
