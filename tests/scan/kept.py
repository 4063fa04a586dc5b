"""What the L2 keeps of a kernel's buffers from launch to launch, as a scan of every cycle sees it."""

from __future__ import annotations

from fractions import Fraction

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from isa.dataflow.memory.pointers import based
from isa.kernel import Kernel
from isa.row import Bulk, Unit


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
    return beyond(size, least, most)


def goes_on(machine: Machine, kernel: Kernel) -> int:
    """Of 64 lines of its buffers, those of which what is stored goes on to the DRAM."""
    assert machine.l2
    code, rules = kernel.program.instructions, machine.l2
    stores = [
        pc
        for pc, i in enumerate(code)
        if (i.row.is_store or i.row.update or i.row.bulk in (Bulk.STORE, Bulk.REDUCE))
        and i.row.unit not in (Unit.SHARED, Unit.LOCAL)
    ]
    sizes = {buffer.name: buffer.nbytes for buffer in kernel.buffers}
    named = {name for pc in stores for name in based(kernel, pc) or sizes}
    most = rules.dirty_loses_bytes
    dirty = beyond(sum(sizes[name] for name in named), rules.dirty_keeps_bytes, most) if most else 0
    return max(dirty, not_kept(machine, kernel))


def beyond(size: int, least: int, most: int) -> int:
    """Of 64 lines of so many bytes, those lost between sizes that lose none and all."""
    if size <= least:
        return 0
    return 64 if size >= most else round(64 * (size - least) / (most - least))
