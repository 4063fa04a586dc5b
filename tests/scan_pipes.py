"""Pipes as a scan of every cycle (`every_cycle.py`) sees them: which are free, for whom."""

from __future__ import annotations

from scan_memory import queued
from scan_state import Scan

from isa.table import Unit


def pipes_of(sm: Scan, k: int, kind: str) -> list[tuple[str, int]]:
    """The pipes that scheduler k's instructions of this kind may take."""
    costs = {Unit.TEXTURE.value: sm.machine.texture, **sm.machine.unit}
    names = costs[kind].pipe.split() if kind in costs and not queued(sm, kind) else []
    return named(sm, k, " ".join(names))


def named(sm: Scan, k: int, names: str) -> list[tuple[str, int]]:
    """The instances of these pipes that scheduler k uses."""
    return [(name, k // sm.machine.pipe[name].schedulers) for name in names.split()]


def takes(sm: Scan, k: int, kind: str, now: int) -> bool:
    """Whether one of the pipes, and any joint one, takes an instruction of this kind; so if it needs none."""
    pipes, joint = pipes_of(sm, k, kind), named(sm, k, sm.machine.joint.get(kind, ""))
    free = [sm.pipes.get(pipe, 0) <= now for pipe in pipes]
    return not pipes or (any(free) and all(sm.pipes.get(pipe, 0) <= now for pipe in joint))
