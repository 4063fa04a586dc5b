"""Which SMs of a chip are simulated: one, all, or every n-th as a sample; and the blocks that these have."""

from __future__ import annotations

from typing import Literal

from gpusim.machine.machine import Machine
from isa.errors import UserError
from isa.kernel import Kernel

Sms = int | Literal["all"]


def count(machine: Machine, asked: Sms) -> int:
    """Return how many SMs are simulated; raises UserError unless the chip has that many, evenly apart."""
    sms = machine.chip.sms
    if asked == "all":
        return sms
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1 or sms % asked:
        parts = ", ".join(str(n) for n in range(2, sms) if sms % n == 0)
        others = f", or a divisor of the {sms} SMs of {machine.key}: {parts}" if parts else ""
        raise UserError(f"--sms {asked}: give 1, all{others}")
    return asked


def blocks_of(kernel: Kernel, machine: Machine, sms: int, first: int = 0) -> range:
    """Return the blocks of the grid that run on so many simulated SMs, of which the first has that number."""
    return range(first, kernel.blocks, machine.chip.sms // sms)
