"""Runs of all SMs of a chip, compared: with SMs that take turns in each cycle, as those do whose trace is kept."""

from __future__ import annotations

from typing import Any

import msgspec
from twins import differences

from gpusim.engines.simulate import run_chip
from gpusim.engines.sm_run import ChipRun
from gpusim.machine.machine import Machine
from isa.kernel import Kernel

TRACED = "a trace is kept"


def on(sms: int, machine: Machine) -> Machine:
    """Return the machine with so many SMs."""
    return msgspec.structs.replace(machine, chip=msgspec.structs.replace(machine.chip, sms=sms))


def unlike(one: ChipRun, other: ChipRun) -> list[str]:
    """Return the names of what differs between two runs of all SMs, for all and for each; only one has a trace.

    Of each run all warp-cycles must have a reason, too.
    """
    pairs = [(one, other), *zip(one.each, other.each, strict=True)]
    found = [name for pair in pairs for name in differences(*pair) if name != "trace"]
    return found + ["warp-cycles" for run in (one, other) if not adds_up(run)]


def adds_up(run: ChipRun) -> bool:
    """Tell whether the stalls of all SMs, and the cycles without a warp, add up to all warp-cycles."""
    whole = all(each.stalls.sum() + each.empty == each.cycles * each.warp_slots for each in (run, *run.each))
    return whole and bool(run.stalls.min() >= 0 and run.lost.min() >= 0)


def in_turn(kernel: Kernel, machine: Machine, **options: Any) -> ChipRun:
    """Run SMs that take turns in each cycle."""
    run = run_chip(kernel, machine, trace=True, **options)
    assert (run.threads, run.in_turn) == (1, TRACED)
    return run
