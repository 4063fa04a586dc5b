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
    """Return the names of what differs between two runs of all SMs, for all and for each; only one has a trace."""
    pairs = [(one, other), *zip(one.each, other.each, strict=True)]
    return [name for pair in pairs for name in differences(*pair) if name != "trace"]


def in_turn(kernel: Kernel, machine: Machine, **options: Any) -> ChipRun:
    """Run SMs that take turns in each cycle."""
    run = run_chip(kernel, machine, trace=True, **options)
    assert (run.threads, run.in_turn) == (1, TRACED)
    return run
