"""What the L2 keeps of a kernel's buffers from launch to launch, as a scan of every cycle sees it."""

from __future__ import annotations

from fractions import Fraction
from math import erf, sqrt

import numpy as np
from interpreter.interpret import interpret
from numpy.typing import NDArray

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from isa.dataflow.memory.pointers import based
from isa.errors import UserError
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import bases
from isa.row import GLOBAL_UNITS, Bulk, Unit
from isa.support.once import once

Lines = tuple[set[int], set[int]]  # touched, and stored to


def held(machine: Machine, kernel: Kernel) -> list[int]:
    """The lines of its buffers that the L2 may hold when it begins, in their order: those that count as touched."""
    found = _counted(machine, kernel)
    if found is None:
        starts, size = bases(kernel.buffers), machine.global_memory.line_bytes
        every = (range(starts[one.name], starts[one.name] + one.nbytes) for one in kernel.buffers)
        return sorted({byte // size for some in every for byte in some})
    return sorted(found[0])


def not_kept(machine: Machine, kernel: Kernel) -> int:
    """Of 64 lines of a kernel's buffers, those that the L2 does not keep from launch to launch."""
    return _not_kept(machine, kernel, _counted(machine, kernel))


def goes_on(machine: Machine, kernel: Kernel) -> int:
    """Of 64 lines of its buffers, those of which what is stored goes on to the DRAM."""
    return _goes_on(machine, kernel, _counted(machine, kernel))


def _not_kept(machine: Machine, kernel: Kernel, touched: Lines | None, *, left: bool = True) -> int:
    """`left`: where loads look, of several waves, a normal distribution may say it."""
    assert machine.l2
    size, rules, more = sum(buffer.nbytes for buffer in kernel.buffers), machine.l2, Fraction(1)
    if not rules.keeps_bytes:
        return 0
    if touched:
        size = min(size, len(touched[0]) * machine.global_memory.line_bytes)
    if kernel.blocks <= machine.chip.sms * occupancy(kernel, machine).blocks:
        more = Fraction(2) / Fraction(3, 2)
    elif left and rules.left_bytes:
        return round(32 * (1 + erf((size - rules.left_bytes) / rules.left_spread / sqrt(2))))
    least = min(rules.bytes, int(rules.keeps_bytes * more))
    return beyond(size, least, max(least, rules.loses_bytes or rules.bytes))


def _goes_on(machine: Machine, kernel: Kernel, touched: Lines | None) -> int:
    assert machine.l2
    rules, sizes = machine.l2, {buffer.name: buffer.nbytes for buffer in kernel.buffers}
    named = {name for pc in _stores(kernel) for name in based(kernel, pc) or sizes}
    size, most = sum(sizes[name] for name in named), rules.dirty_loses_bytes
    if touched:
        size = min(size, len(touched[1]) * machine.global_memory.line_bytes)
    dirty = beyond(size, rules.dirty_keeps_bytes, most) if most and rules.keeps_bytes else 0
    return max(dirty, _not_kept(machine, kernel, touched, left=False))


def _stores(kernel: Kernel) -> list[int]:
    return [
        pc
        for pc, i in enumerate(kernel.program.instructions)
        if (i.row.is_store or i.row.update or i.row.bulk in (Bulk.STORE, Bulk.REDUCE))
        and i.row.unit not in (Unit.SHARED, Unit.LOCAL)
    ]


def _counted(machine: Machine, kernel: Kernel) -> Lines | None:
    """The lines that all blocks touch, and store to, where whole buffers would not all stay; else None."""
    if machine.l2 is None or not machine.l2.keeps_bytes:
        return None
    if not (_goes_on(machine, kernel, None) or _not_kept(machine, kernel, None)):
        return None
    return touched_lines(kernel, machine.global_memory.line_bytes)


@once
def touched_lines(kernel: Kernel, line_bytes: int) -> Lines | None:
    """The lines that all blocks touch, and store to, as the interpreter runs them; None if they fault."""
    touched, stored = set[int](), set[int]()
    rows = [i.row for i in kernel.program.instructions]

    def observe(pc: int, _warps: object, addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        if rows[pc].unit in GLOBAL_UNITS | {Unit.TEXTURE}:
            places = addresses[active]
            places = places[lanes_in(Unit.GLOBAL, places)] if rows[pc].generic else places
            for byte in range(rows[pc].nbytes):
                found = ((places.astype(np.int64) + byte) // line_bytes).tolist()
                touched.update(found)
                stored.update(found if rows[pc].is_store or rows[pc].update else ())

    try:
        interpret(kernel, None, observe)
    except UserError:
        return None
    return touched, stored


def beyond(size: int, least: int, most: int) -> int:
    """Of 64 lines of so many bytes, those lost between sizes that lose none and all."""
    if size <= least:
        return 0
    return 64 if size >= most else round(64 * (size - least) / (most - least))
