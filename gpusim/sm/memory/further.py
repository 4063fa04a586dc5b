"""Where all SMs are simulated one that is further from the L2 waits longer for what all share, and so gets less."""

from __future__ import annotations

from gpusim.machine.simulated_sms import WHOLE
from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm


@rule
def reached(sm: Sm, gone: int, now: int) -> int:
    """Return when what the L2 or the DRAM has moved at `gone`, asked at `now`, is as far as from the mean SM then."""
    return int(gone + (gone - now) * sm.machine.waits_longer // WHOLE)
