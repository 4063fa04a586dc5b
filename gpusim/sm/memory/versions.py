"""Versions of registers: the cost of an access is remembered while its address register keeps its value."""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm


@rule
def new_version(sm: Sm, g: int, register: int) -> None:
    """The register has been written: everything remembered of its old value is void."""
    sm.writes += 1
    sm.warps[g].version[register] = sm.writes
