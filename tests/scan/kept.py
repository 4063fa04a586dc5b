"""What the L2 keeps of a kernel's buffers from launch to launch, as a scan of every cycle sees it."""

from __future__ import annotations

from fractions import Fraction

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from isa.kernel import Kernel


def not_kept(machine: Machine, kernel: Kernel) -> int:
    """Of 64 lines of a kernel's buffers, those that the L2 does not keep from launch to launch."""
    assert machine.l2
    size, rules, more = sum(buffer.nbytes for buffer in kernel.buffers), machine.l2, Fraction(1)
    if not rules.keeps_bytes:
        return 0
    if kernel.blocks <= machine.chip.sms * occupancy(kernel, machine).blocks:
        more = Fraction(2) / Fraction(3, 2)
    least = min(rules.bytes, int(rules.keeps_bytes * more))
    most = max(least, rules.loses_bytes or rules.bytes)
    if size <= least:
        return 0
    return 64 if size >= most else round(64 * (size - least) / (most - least))
