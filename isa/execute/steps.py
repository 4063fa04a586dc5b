"""Translate each instruction into one function on the frame of a block, which `interpret` runs.

An action gets (frame, group, mask): it computes for the group's warps and writes the lanes of `mask` (None: all).
Values that are equal in all lanes have shape (1, 1) and broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.execute import access, faults
from isa.execute import operand_value as values
from isa.execute.frame import Frame, Group
from isa.execute.operand_value import Fetch, Mask, Observe, Scope
from isa.operand import PT_INDEX, RZ_INDEX, Address, Constant, Immediate, Operand, Predicate, Register, Special, Texture
from isa.table import Row, Unit
from isa.values.cross_lane import by_lane_group

__all__ = ["Action", "Fetch", "Mask", "Observe", "Scope", "action", "guard"]

Action = Callable[[Frame, Group, Mask], None]
Locate = Callable[[Frame, Group, Mask], NDArray[np.uint32]]


def action(scope: Scope, compute: bool) -> Action | None:
    """Return the function of an instruction, None if there is nothing to do.

    Without `compute` only the addresses of memory instructions are computed, checked and observed.
    """
    row = scope.instruction.row
    if row.is_load or row.is_store:
        return _memory(scope, compute)
    if not compute or row.unit in (Unit.BARRIER, Unit.CONTROL):
        return None
    if row.unit is Unit.SPECIAL:
        return _special(scope)
    return _arithmetic(scope) if row.across is None else _across(scope)


def guard(predicate: Predicate) -> Fetch | None:
    """Return a function giving [warp, lane] where both guard and thread are active; None for a plain PT."""
    if predicate.index == PT_INDEX and not predicate.negated:
        return None
    index, negated, whole = predicate.index, predicate.negated, predicate.whole

    def fetch(frame: Frame, group: Group) -> Any:
        held = frame.predicates[index, group.select]
        if whole:
            held = np.broadcast_to((held & group.live).any(axis=-1, keepdims=True), held.shape)
        held = ~held if negated else held
        return held if group.mask is None else held & group.mask

    return fetch


def _arithmetic(scope: Scope) -> Action:
    row = scope.instruction.row
    held = dict(scope.instruction.slots())
    a, b, c = _sources(scope, held)
    write = values.writer(held[next(letter for letter in "PdD" if letter in held)], row.width)
    number = held.get("n")
    value = partial(row.value, n=np.uint32(number.bits)) if row.value and isinstance(number, Immediate) else row.value
    assert value is not None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        write(frame, group, mask, value(a(frame, group), b(frame, group), c(frame, group)))

    return act


def _across(scope: Scope) -> Action:
    held, across = dict(scope.instruction.slots()), scope.instruction.row.across
    sources, write = _sources(scope, held), values.writer(held["d"], 32)
    assert across is not None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        spread = (values.spread(source(frame, group), active) for source in sources)
        write(frame, group, mask, by_lane_group(across, *spread, active))

    return act


def _sources(scope: Scope, held: Mapping[str, Operand]) -> tuple[Fetch, Fetch, Fetch]:
    row = scope.instruction.row.source
    a, b = (values.source(scope, held.get(letter), row) for letter in "ab")
    return a, b, _third(scope, held, row)


def _third(scope: Scope, held: Mapping[str, Operand], row: Row) -> Fetch:
    if "Q" in held:
        return values.predicate(held["Q"])
    addend = held.get("c", held.get("D"))
    return values.source(scope, addend, row) if addend is not None else values.uniform(row.code, 32)


def _special(scope: Scope) -> Action:
    target, name = scope.instruction.operands
    assert isinstance(name, Special)
    write, which = values.writer(target, 32), name.name
    return lambda frame, group, mask: write(frame, group, mask, frame.specials[which][group.select])


def _memory(scope: Scope, compute: bool) -> Action:
    row, pc, observe = scope.instruction.row, scope.pc, scope.observe
    locate = _locate(scope)
    index = _INDEX[row.unit] if row.nbytes > 1 else _byte_index
    move = _move(scope) if compute else None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        addresses = locate(frame, group, mask)
        if observe is not None:
            observe(pc, group.warps, addresses, group.live if mask is None else mask)
        if move is not None and (mask is None or mask.any()):
            move(frame, group, mask, index(frame, group, addresses))

    return act


def _locate(scope: Scope) -> Locate:
    """Return a function giving checked byte addresses [warp, lane], cached while their registers are unwritten."""
    pc = scope.pc
    registers, fetch = _address(scope)
    check = _check(scope)

    def locate(frame: Frame, group: Group, mask: Mask) -> NDArray[np.uint32]:
        version = sum([frame.versions[register] for register in registers])
        known = frame.located.get(pc)
        if known is not None and known[0] == version and known[1] is group and mask is group.mask:
            return known[2]
        addresses: NDArray[np.uint32] = values.spread(fetch(frame, group), group.live)
        check(frame, group, mask, addresses)
        if mask is group.mask:
            frame.located[pc] = (version, group, addresses)
        return addresses

    return locate


def _address(scope: Scope) -> tuple[tuple[int, ...], Fetch]:
    """Return the registers on which addresses depend, and the function that computes them."""
    if scope.instruction.row.unit is Unit.TEXTURE:
        return _texel(scope)
    operand = scope.instruction.address()
    assert isinstance(operand, Address)
    base = values.register(operand.base.index, 32)
    offset = np.full((1, 1), operand.offset & 0xFFFFFFFF, np.uint32)
    registers = () if operand.base.index == RZ_INDEX else (operand.base.index,)
    return registers, lambda frame, group: base(frame, group) + offset


def _texel(scope: Scope) -> tuple[tuple[int, ...], Fetch]:
    """Return registers and address of the element in column a and row b of rows of c (or a of one row), clamped."""
    row, held = scope.instruction.row, dict(scope.instruction.slots())
    texture = held["t"]
    assert isinstance(texture, Texture)
    buffers = {b.name: b for b in scope.kernel.buffers if b.nbytes >= row.nbytes}
    if texture.name not in buffers:
        raise faults.undefined_name(scope.kernel, scope.pc, "tex", texture.name, buffers)
    start, elements = scope.constants[texture.name], buffers[texture.name].nbytes // row.nbytes
    a, b = (values.source(scope, held.get(letter), row.source) for letter in "ab")
    c = values.source(scope, held.get("c", Immediate(elements, "int")), row.source)

    def locate(frame: Frame, group: Group) -> Any:
        pitch = np.maximum(c(frame, group).astype(np.int64), 1)
        column = np.clip(a(frame, group).view(np.int32), 0, pitch - 1)
        line = np.clip(b(frame, group).view(np.int32), 0, np.maximum(elements // pitch, 1) - 1)
        element = np.minimum(line * pitch + column, elements - 1)
        return (element * row.nbytes + start).astype(np.uint32)

    return scope.instruction.reads(), locate


def _check(scope: Scope) -> Callable[[Frame, Group, Mask, NDArray[np.uint32]], None]:
    row = scope.instruction.row
    nbytes, alignment, allowed = row.nbytes, row.alignment, access.ranges(scope.kernel, row)

    def check(frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> None:
        used = addresses if mask is None else addresses[mask]
        if used.size and (access.misaligned(used, alignment) or not access.inside(allowed, used, nbytes)):
            raise _fault(scope, frame, group, mask, addresses)

    return check


def _fault(scope: Scope, frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> Exception:
    """Return the error of the first lane whose address is bad, misalignment first."""
    nbytes, ranges = scope.instruction.row.nbytes, access.ranges(scope.kernel, scope.instruction.row)
    active = group.live if mask is None else mask
    crooked = active & ((addresses & np.uint32(scope.instruction.row.alignment - 1)) != 0)
    build = faults.misaligned if crooked.any() else faults.out_of_bounds
    bad = crooked if crooked.any() else active & access.outside(ranges, addresses, nbytes)
    row, lane = np.argwhere(bad)[0]
    return build(
        scope.kernel, scope.pc, frame.block, group.members[row], lane=int(lane), address=int(addresses[row, lane])
    )


def _byte_index(_frame: Frame, _group: Group, addresses: NDArray[np.uint32]) -> NDArray[np.int64]:
    return addresses.astype(np.int64)


def _word_index(_frame: Frame, _group: Group, addresses: NDArray[np.uint32]) -> NDArray[np.int64]:
    return (addresses >> np.uint32(2)).astype(np.int64)


def _local_index(frame: Frame, group: Group, addresses: NDArray[np.uint32]) -> NDArray[np.int64]:
    lanes = group.live.shape[1]
    thread: NDArray[np.int64] = group.warps[:, None] * lanes + np.arange(lanes)
    return thread * frame.local_words + _word_index(frame, group, addresses)


_INDEX = {
    Unit.SHARED: _word_index,
    Unit.GLOBAL: _word_index,
    Unit.TEXTURE: _word_index,
    Unit.SMEM: _word_index,
    Unit.CONSTANT: _word_index,
    Unit.LOCAL: _local_index,
}
_WORDS: dict[Unit, Callable[[Frame], NDArray[np.uint32]]] = {
    Unit.SHARED: lambda frame: frame.shared,
    Unit.GLOBAL: lambda frame: frame.memory,
    Unit.TEXTURE: lambda frame: frame.memory,
    Unit.SMEM: lambda frame: frame.memory,
    Unit.CONSTANT: lambda frame: frame.memory,
    Unit.LOCAL: lambda frame: frame.local,
}
Move = Callable[[Frame, Group, Mask, NDArray[np.int64]], None]


def _move(scope: Scope) -> Move:
    row = scope.instruction.row
    if row.update is not None:
        return _atomic(scope)
    return _load(scope) if row.is_load else _store(scope)


def _load(scope: Scope) -> Move:
    row, words = scope.instruction.row, _WORDS[scope.instruction.row.unit]
    kind = np.uint32 if row.nbytes > 1 else np.uint8
    target = scope.instruction.operands[0]
    assert isinstance(target, Register)
    dropped = target.index == RZ_INDEX
    writes = [] if dropped else [values.word_writer(target.index + k) for k in range(row.words)]

    def move(frame: Frame, group: Group, mask: Mask, index: NDArray[np.int64]) -> None:
        index = index if mask is None else np.where(mask, index, 0)  # an inactive lane may point anywhere
        for k, write in enumerate(writes):
            write(frame, group, mask, words(frame).view(kind).take(index + k))

    return move


def _atomic(scope: Scope) -> Move:
    """Return an atomic update: lanes that access the same word follow each other, by warp and lane."""
    row, words, held = scope.instruction.row, _WORDS[scope.instruction.row.unit], dict(scope.instruction.slots())
    sources, write, update = (
        [values.source(scope, held.get(x), row) for x in "ab"],
        values.writer(held["d"], 32),
        row.update,
    )
    assert update is not None

    def move(frame: Frame, group: Group, mask: Mask, index: NDArray[np.int64]) -> None:
        a, b = (values.spread(source(frame, group), index) for source in sources)
        memory, old = words(frame), np.zeros(index.shape, np.uint32)
        for lane in zip(*np.nonzero(group.live if mask is None else mask), strict=True):
            old[lane] = memory[index[lane]]
            memory[index[lane]] = update(a[lane], b[lane], old[lane])
        write(frame, group, mask, old)

    return move


def _stored_word(scope: Scope, value: Operand, k: int) -> Fetch:
    """Return a function giving word k of the stored value, little-endian."""
    if isinstance(value, Register):
        return values.register(value.index if value.index == RZ_INDEX else value.index + k, 32)
    if isinstance(value, Constant):
        return values.uniform(values.constant(scope, value.name) >> 32 * k, 32)
    assert isinstance(value, Immediate)
    return values.uniform(value.bits >> 32 * k, 32)


def _store(scope: Scope) -> Move:
    """Return a store: if several lanes store to one word, the last lane of the last warp wins."""
    row, words = scope.instruction.row, _WORDS[scope.instruction.row.unit]
    value = dict(scope.instruction.slots())["a"]
    sources = [_stored_word(scope, value, k) for k in range(row.words)]

    def move(frame: Frame, group: Group, mask: Mask, index: NDArray[np.int64]) -> None:
        for k, source in enumerate(sources):
            stored = values.spread(source(frame, group), index)
            if mask is None:
                words(frame)[index + k] = stored
            else:
                words(frame)[index[mask] + k] = stored[mask]

    return move
