"""Asynchronous copies in program order: words are read at once, and written at the wait that covers their group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interpreter import operand_value as values
from interpreter.frame import Copies, Frame, Group
from interpreter.operand_value import Mask, Scope
from isa.operands.operand import PT, RZ, Dependency, Immediate
from isa.program import WORD_BYTES
from isa.row import CLOSES

Act = Callable[[Frame, Group, Mask], None]
Locate = Callable[[Frame, Group, Mask], NDArray[np.uint32]]


def action(scope: Scope, locate: Locate | None, compute: bool) -> Act | None:
    """Return what a copy, or an instruction that closes or waits for groups, does."""
    row = scope.instruction.row
    if locate is not None:
        return _copy(scope, locate, compute)
    of_others = any(isinstance(o, Dependency) and o.index for o in scope.instruction.operands)
    if not compute or of_others:
        return None
    return _each_warp(_close if row.grouping & CLOSES else _wait(scope))


def _each_warp(act: Callable[[Frame, Copies], None]) -> Act:
    """Return an action that does this for each warp with an active lane."""

    def each(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        for at, warp in enumerate(group.members):
            if active[at].any():
                act(frame, frame.copies[warp])

    return each


def _close(_frame: Frame, copies: Copies) -> None:
    copies.closed += 1


def _wait(scope: Scope) -> Callable[[Frame, Copies], None]:
    most = next(o.bits for o in scope.instruction.operands if isinstance(o, Immediate))

    def wait(frame: Frame, copies: Copies) -> None:
        for group, places, words in copies.waiting:
            if group < copies.closed - most:
                frame.shared[places] = words
        copies.waiting = [one for one in copies.waiting if one[0] >= copies.closed - most]

    return wait


def _copy(scope: Scope, locate: Locate, compute: bool) -> Act:
    place, words = scope.instruction.destination_in_shared(), scope.instruction.row.words
    assert place is not None
    base, uniform = (values.register((one or RZ).index, 32) for one in (place.base, place.uniform))
    reads = values.predicate(dict(scope.instruction.slots()).get("Q", PT))

    def copy(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        reading = active & (reads(frame, group) != 0)
        addresses = locate(frame, group, reading)
        if scope.observe is not None:
            scope.observe(scope.pc, group.warps, addresses, reading)
        if not compute:
            return
        at: Any = base(frame, group).astype(np.int64) * place.scale + uniform(frame, group) + place.offset
        at = np.broadcast_to(at % (1 << 32) // WORD_BYTES, active.shape)
        first = np.where(reading, addresses // WORD_BYTES, 0).astype(np.int64)
        for row, warp in enumerate(group.members):
            lanes, copies = active[row], frame.copies[warp]
            for word in range(words):
                held = np.where(reading[row], frame.memory[first[row] + word], 0)[lanes].astype(np.uint32)
                copies.waiting.append((copies.closed, at[row][lanes] + word, held))

    return copy
