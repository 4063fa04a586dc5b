"""Questions about a launch that decide whether it reads a number of the machine; conditions of units ask them."""

from __future__ import annotations

from typing import Any

from gpusim.sm.unit.declare import Machine, Reads
from gpusim.sm.unit.opcodes import LOAD, STORE
from isa.row import Unit

WIDTHS = 32, 64, 128  # bits of an access, by the column `width`
# Why nobody reads a number, where several units say so.
NO_SHARED = "{kernel} does not access shared memory"
NO_GLOBAL = "{kernel} does not access global memory"
NO_QUEUE = "{kernel} has no instruction that goes through the load/store queue"
ON_TIME = "operands are never late (register_file.mapping is none)"
SCOREBOARD = "the scoreboard says when instructions may go (dependence.rule)"


def through_port(machine: Machine, unit: Unit) -> bool:
    """Tell whether a unit class that does not access memory shares the load/store unit, and the way to it."""
    return machine.memory_port is not None and unit.value in machine.memory_port.units.split()


def accesses(unit: Unit) -> Reads:
    """Whether the program has instructions of a unit class."""
    return lambda given: unit in given.units


def asks(which: int) -> Reads:
    """Whether some access asks that cache first."""
    return lambda given: bool((given.rows["cached"] == 1 + which).any())


def loads_from(which: int) -> Reads:
    """Whether some load asks that cache first."""
    return lambda given: bool(((given.rows["cached"] == 1 + which) & (given.rows["action"] == LOAD)).any())


def looks(which: int) -> Reads:
    """Whether a cache behind those that accesses ask first is there, and something asks."""
    return lambda given: given.cached and given.levels["sets"][which] > 0


def free_passes(width: int) -> Reads:
    """Whether the passes of a load of that width count."""

    def reads(given: Any) -> bool:
        actions = (LOAD, STORE) if given.record.pass_slots or updates(given) else (LOAD,)
        return bool(given.does(*actions, unit=Unit.SHARED, width=width))

    return reads


def wide(width: int) -> Reads:
    """Whether some access to shared memory is of that width."""
    return lambda given: given.does(LOAD, STORE, unit=Unit.SHARED, width=width)


def looks_up_banks(given: Any) -> bool:
    """Whether some load takes as long as its passes through the L1's banks."""
    return bool(given.record.near_lines and given.rows["through_l1"].any())


def updates(given: Any) -> bool:
    """Whether the program has an atomic."""
    return bool((given.rows["update"] >= 0).any())


def never(_: Any) -> bool:
    """Tell that no launch reads it."""
    return False
