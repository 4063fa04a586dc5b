"""Fetches by texture objects in the interpreter: coordinates and handles of lanes to words of their registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interpreter import operand_value as values
from interpreter.frame import Frame, Group
from interpreter.operand_value import Fetch, Mask, Scope
from isa import memory, texture
from isa.executing import faults
from isa.operands.operand import RZ_INDEX, Register
from isa.row import Row
from isa.values.texture import texel
from isa.values.texture import texture as definition

Action = Callable[[Frame, Group, Mask], None]


def fetch(scope: Scope, compute: bool) -> Action:
    """Return the function of a fetch: its texels are observed, and with `compute` its registers written.

    Raises ExecutionError where a handle is none.
    """
    row, table = scope.instruction.row, texture.table(scope.kernel.textures, memory.bases(scope.kernel.buffers))
    handle, *coordinates = _sources(scope, row)
    writes = _writes(scope) if compute else []

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        handles = values.spread(handle(frame, group), active).astype(np.int64)
        given = table, np.where(active, handles, 0)
        _check(scope, frame, group, given, active)
        at = [values.spread(source(frame, group), active) for source in coordinates]
        if scope.observe is not None:
            _observe(scope, group, given, at, active)
        found = [(write, row.texel(*given, frame.memory, *at, row.code, k)) for k, write in writes if row.texel]
        for write, word in found:
            write(frame, group, mask, word)

    return act


def _sources(scope: Scope, row: Row) -> list[Fetch]:
    """Return the handle, and three coordinates."""
    held = dict(scope.instruction.slots())
    return [values.source(scope, held.get(letter), row.source) for letter in "tabc"]


def _writes(scope: Scope) -> list[tuple[int, values.Write]]:
    """Return the channels, each with the function that writes its register."""
    return [
        (channel, values.word_writer(register))
        for channel, register in zip(scope.instruction.channels(), targets(scope), strict=True)
        if register != RZ_INDEX
    ]


def targets(scope: Scope) -> list[int]:
    """Return the register of each channel: the first two follow each other, and so do the others."""
    row, held = scope.instruction.row, dict(scope.instruction.slots())
    found = []
    for letter in "do":
        register = held[letter]
        assert isinstance(register, Register)
        named = register.index != RZ_INDEX
        found += [register.index + k if named else RZ_INDEX for k in range(row.words_of(letter))]
    return found


def _check(scope: Scope, frame: Frame, group: Group, given: tuple[Any, Any], active: NDArray[np.bool_]) -> None:
    """Raise ExecutionError for a handle that is none, or whose texture has other dimensions than the fetch."""
    table, handles = given
    none = active & ((handles < 1) | (handles > len(scope.kernel.textures)))
    other = definition.other_axes(table, np.where(none, 0, handles), scope.instruction.row.code)
    wrong = none | active & other
    if wrong.any():
        row, lane = (int(place) for place in np.argwhere(wrong)[0])
        tell = faults.no_texture if none[row, lane] else faults.wrong_texture
        warp, handle = group.members[row], int(handles[row, lane])
        raise tell(scope.kernel, scope.pc, frame.block, warp, lane=lane, address=handle)


def _observe(scope: Scope, group: Group, given: tuple[Any, Any], at: list[Any], active: NDArray[np.bool_]) -> None:
    """Tell the observer the word in which each texel begins: once for each corner that lanes have."""
    assert scope.observe is not None
    code = scope.instruction.row.code
    for corner in range(definition.corners(code)):
        place = definition.texel(*given, at[0], at[1], at[2], code, corner)
        there = active & (place >= texel.NONE)
        if corner == 0 or there.any():
            words = np.where(there, place, 0) & ~np.int64(3)
            scope.observe(scope.pc, group.warps, words.astype(np.uint32), there)
