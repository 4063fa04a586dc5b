"""Asynchronous copies in program order: words are read at once, and written at the wait that covers their group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interpreter import operand_value as values
from interpreter.frame import Frame, Group
from interpreter.operand_value import Mask, Scope
from isa.executing import faults, told_copies
from isa.operands.operand import PT, RZ, Dependency, Immediate
from isa.program import WORD_BYTES
from isa.row import CLOSES

Act = Callable[[Frame, Group, Mask], None]
Locate = Callable[[Frame, Group, Mask], NDArray[np.uint32]]


def action(scope: Scope, locate: Locate | None, compute: bool) -> Act | None:
    """Return what a copy, or an instruction that closes or waits for groups, does; it waits whatever its guard."""
    row = scope.instruction.row
    if locate is not None:
        return _copy(scope, locate, compute)
    of_others = any(isinstance(o, Dependency) and o.index for o in scope.instruction.operands)
    if not compute or of_others:
        return None
    if row.grouping & CLOSES:
        return _close
    return waiting(next(o.bits for o in scope.instruction.operands if isinstance(o, Immediate)))


def _close(frame: Frame, group: Group, mask: Mask) -> None:
    active = group.live if mask is None else mask
    for at, warp in enumerate(group.members):
        frame.copies[warp].closed += bool(active[at].any())


def waiting(most: int) -> Act:
    """Return an action that lets so many closed groups of each warp be under way, and lands the others' words."""

    def wait(frame: Frame, group: Group, _mask: Mask) -> None:
        for warp in group.members:
            copies = frame.copies[warp]
            for number, places, words in copies.waiting:
                if number < copies.closed - most:
                    frame.shared[places] = words
            copies.waiting = [one for one in copies.waiting if one[0] >= copies.closed - most]

    return wait


def _check(scope: Scope, frame: Frame, group: Group, active: NDArray[np.bool_], at: NDArray[np.int64]) -> None:
    """Raise the error of the first lane whose place in shared memory is bad."""
    size, end = scope.instruction.row.nbytes, scope.kernel.program.shared_bytes
    crooked, beyond = active & (at % size != 0), active & (at + size > end)
    for row, lane in np.argwhere(crooked | beyond):
        tell = told_copies.misplaced if crooked[row, lane] else told_copies.out_of_shared
        where = faults.place(scope.kernel, scope.pc, frame.block, group.members[row], int(lane))
        raise tell(scope.kernel, where, int(at[row, lane]), size)


def _copy(scope: Scope, locate: Locate, compute: bool) -> Act:
    place, words = scope.instruction.destination_in_shared(), scope.instruction.row.words
    assert place is not None
    base, uniform = (values.register((one or RZ).index, 32) for one in (place.base, place.uniform))
    reads = values.predicate(dict(scope.instruction.slots()).get("Q", PT))

    size = scope.instruction.row.nbytes

    def copy(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        reading = active & (reads(frame, group) != 0)
        addresses = locate(frame, group, reading)
        left = addresses & np.uint32(size - 1) if scope.instruction.row.fills else np.zeros_like(addresses)
        addresses = addresses - left
        if scope.observe is not None:
            scope.observe(scope.pc, group.warps, addresses, reading)
        if not compute:
            return
        at: Any = base(frame, group).astype(np.int64) * place.scale + uniform(frame, group) + place.offset
        at = np.broadcast_to(at % (1 << 32), active.shape)
        _check(scope, frame, group, active, at)
        at = at // WORD_BYTES
        first = np.where(reading, addresses // WORD_BYTES, 0).astype(np.int64)
        for row, warp in enumerate(group.members):
            lanes, copies = active[row], frame.copies[warp]
            for word in range(words):
                bits = 8 * np.clip(size - left[row].astype(np.int64) - WORD_BYTES * word, 0, WORD_BYTES)
                known = reading[row] & (bits > 0)
                found = frame.memory[np.where(known, first[row] + word, 0)] & ((1 << bits) - 1).astype(np.uint32)
                held = np.where(known, found, 0)[lanes].astype(np.uint32)
                copies.waiting.append((copies.closed, at[row][lanes] + word, held))

    return copy
