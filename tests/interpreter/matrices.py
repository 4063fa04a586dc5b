"""Matrices in shared memory: who names which row, and who gets or gives which of its halves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from interpreter import move
from interpreter import operand_value as values
from interpreter.frame import Frame, Group
from interpreter.operand_value import Mask, Scope
from isa.operands.operand import RZ_INDEX, Register
from isa.row import Row

Act = Callable[[Frame, Group, Mask], None]
Locate = Callable[[Frame, Group, Mask], NDArray[np.uint32]]
LANES, NAMED = 32, 8  # of a lane group; of a matrix, by the rows that they name
NOWHERE = -1  # the address of a row that nobody names
Carry = Callable[[Frame, Group, NDArray[np.bool_], NDArray[np.int64]], None]


def action(scope: Scope, locate: Locate, compute: bool) -> Act:
    """Return what a load or store of matrices does: active lanes name rows, and have parts of those that are named."""
    row, pc, observe = scope.instruction.row, scope.pc, scope.observe
    carry = (_load(scope) if row.is_load else _store(scope)) if compute else None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        names = active & (np.arange(active.shape[1]) % LANES < NAMED * row.matrices)
        addresses = locate(frame, group, names)
        if observe is not None:
            observe(pc, group.warps, addresses, names)
        if carry is not None:
            carry(frame, group, active, np.where(names, addresses.astype(np.int64), NOWHERE))

    return act


def _halves(row: Row, matrix: int, lane: int) -> Iterator[tuple[int, int]]:
    """Yield the place of each of a lane's two halves of a matrix: the lane that names its row, and its column."""
    down, across = divmod(lane % LANES, 4)
    first = lane - lane % LANES + NAMED * matrix
    for half in (2 * across, 2 * across + 1):
        yield (first + half, down) if row.transposed else (first + down, half)


def _each(row: Row, active: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Yield warp, matrix and lane of each part, in the order in which they are stored: the first of equal rows last."""
    for warp in range(len(active)):
        for matrix in range(row.matrices):
            for lane in np.flatnonzero(active[warp])[::-1].tolist():
                yield warp, matrix, lane


def _load(scope: Scope) -> Carry:
    row, target = scope.instruction.row, dict(scope.instruction.slots())["d"]
    assert isinstance(target, Register)
    words = 0 if target.index == RZ_INDEX else row.matrices
    writes = [values.word_writer(target.index + k) for k in range(words)]

    def load(frame: Frame, group: Group, active: NDArray[np.bool_], addresses: NDArray[np.int64]) -> None:
        found, halves = np.zeros((row.matrices, *active.shape, 2), np.uint16), frame.shared.view(np.uint16)
        for warp, matrix, lane in _each(row, active):
            for k, (named, column) in enumerate(_halves(row, matrix, lane)):
                if addresses[warp, named] != NOWHERE:
                    found[matrix, warp, lane, k] = halves[addresses[warp, named] // 2 + column]
        for write, word in zip(writes, found.view(np.uint32)[..., 0], strict=False):
            write(frame, group, active, word)

    return load


def _store(scope: Scope) -> Carry:
    row, source = scope.instruction.row, dict(scope.instruction.slots())["a"]
    words = [move.stored_word(scope, source, k) for k in range(row.matrices)]

    def store(frame: Frame, group: Group, active: NDArray[np.bool_], addresses: NDArray[np.int64]) -> None:
        given = np.stack([values.spread(word(frame, group), active) for word in words]).astype(np.uint32)
        parts, halves = np.ascontiguousarray(given).view(np.uint16), frame.shared.view(np.uint16)
        for warp, matrix, lane in _each(row, active):
            for k, (named, column) in reversed(list(enumerate(_halves(row, matrix, lane)))):
                if addresses[warp, named] != NOWHERE:
                    halves[addresses[warp, named] // 2 + column] = parts[matrix, warp, 2 * lane + k]

    return store
