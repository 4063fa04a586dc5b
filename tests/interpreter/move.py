"""What memory instructions move: loads, stores and atomics of words, and of parts of words.

Places are numbers of words in their memory, or of parts where a lane accesses less than a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interpreter import access
from interpreter import operand_value as values
from interpreter.frame import Frame, Group
from interpreter.operand_value import Fetch, Mask, Scope
from isa.executing.places import BASES, lanes_in
from isa.instruction import Instruction
from isa.operands.operand import FIRST_SCALAR, RZ_INDEX, Constant, Immediate, Operand, Predicate, Register
from isa.operands.windows import SHARED_PLACE
from isa.program import WORD_BYTES
from isa.row import Row, Unit
from isa.values.atomic import compare_and_swap

Places = NDArray[np.int64]
Place = Callable[[Frame, Group, NDArray[np.uint32]], Places]
Move = Callable[[Frame, Group, Mask, Places], None]
Carry = Callable[[Frame, Group, Mask, NDArray[np.uint32]], None]
UPPER = np.uint64(32)


def carried(scope: Scope) -> Carry:
    """Return a function that does a memory instruction's access at checked addresses, each lane in its memory."""
    whole = _carried(scope, scope.instruction)
    if not access.leaves_global(scope.kernel, scope.instruction.row):
        return whole
    near = scope.instruction.row.near
    each = [(unit, _carried(scope, _within(scope.instruction, unit))) for unit in (*near, Unit.GLOBAL)]
    refuse = _refusal(scope.instruction)

    def carry(frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> None:
        active = group.live if mask is None else mask
        if not (active & (addresses >= SHARED_PLACE)).any():
            whole(frame, group, mask, addresses)
            return
        refuse(frame, group, active)
        for unit, do in each:
            lanes = active & lanes_in(unit, addresses)
            if lanes.any():
                do(frame, group, lanes, addresses - np.uint32(BASES[unit]))

    return carry


def _within(instruction: Instruction, unit: Unit) -> Instruction:
    """Return what a generic access is for its lanes in one memory: an access of that memory alone."""
    return replace(instruction, row=replace(instruction.row, unit=unit, generic=False))


def _carried(scope: Scope, instruction: Instruction) -> Carry:
    """Return the access of an instruction, or of what it is for the lanes in one memory."""
    place, do = places(instruction.row), move(scope, instruction)
    return lambda frame, group, mask, addresses: do(frame, group, mask, place(frame, group, addresses))


def places(row: Row) -> Place:
    """Return a function giving the place of each lane's address [warp, lane] in the row's memory."""
    size = min(WORD_BYTES, row.nbytes)
    find = _local_places if row.unit is Unit.LOCAL else _places
    return lambda frame, group, addresses: find(frame, group, addresses, size)


def _refusal(instruction: Instruction) -> Callable[[Frame, Group, NDArray[np.bool_]], None]:
    """Return a function that tells by the predicate of an atomic that it is not done yet."""
    done = dict(instruction.slots()).get("P")
    if not isinstance(done, Predicate):
        return lambda _frame, _group, _lanes: None
    tell = values.writer(done, 32)
    return lambda frame, group, lanes: tell(frame, group, lanes, np.bool_(False))


def move(scope: Scope, instruction: Instruction) -> Move:
    """Return a function that moves the data of an instruction between registers and the places in memory."""
    row = instruction.row
    if row.update is not None:
        return _atomic(scope, instruction)
    if instruction.loads_constant():
        return _constant(scope)
    return _load(instruction) if row.is_load else _store(scope, instruction)


def _places(_frame: Frame, _group: Group, addresses: NDArray[np.uint32], size: int) -> Places:
    return (addresses // np.uint32(size)).astype(np.int64)


def _local_places(frame: Frame, group: Group, addresses: NDArray[np.uint32], size: int) -> Places:
    lanes = group.live.shape[1]
    thread: Places = group.warps[:, None] * lanes + np.arange(lanes)
    return thread * (frame.local_words * WORD_BYTES // size) + _places(frame, group, addresses, size)


def _held(row: Row) -> Callable[[Frame], NDArray[Any]]:
    """Return a function giving the memory of a row as an array of what one lane accesses: words, or parts of them."""
    size = min(WORD_BYTES, row.nbytes)
    kind = np.dtype(f"{'i' if row.signed else 'u'}{size}")
    if row.unit is Unit.SHARED:
        return lambda frame: frame.shared.view(kind)
    if row.unit is Unit.LOCAL:
        return lambda frame: frame.local.view(kind)
    return lambda frame: frame.memory.view(kind)


def _written(instruction: Instruction) -> list[values.Write]:
    """Return functions that write the words of a load's register."""
    target = dict(instruction.slots())["d"]
    assert isinstance(target, Register)
    words = 0 if target.index == RZ_INDEX else instruction.row.words
    return [values.word_writer(target.index + k) for k in range(words)]


def _constant(scope: Scope) -> Move:
    """Return a load of what the launch has put into a constant bank, whatever memory holds."""
    row, address = scope.instruction.row, scope.instruction.address()
    assert address is not None
    assert address.bank is not None
    places = [replace(address.bank, offset=address.bank.offset + WORD_BYTES * k) for k in range(row.words)]
    bits = 8 * min(WORD_BYTES, row.nbytes)
    held = [values.bank_constant(scope, place, bits) for place in places]
    signs = -1 << bits if row.signed and held[0] >> (bits - 1) else 0
    sources, writes = [values.uniform(word | signs, 32) for word in held], _written(scope.instruction)

    def constant(frame: Frame, group: Group, mask: Mask, _where: Places) -> None:
        for source, write in zip(sources, writes, strict=False):
            write(frame, group, mask, source(frame, group))

    return constant


def _load(instruction: Instruction) -> Move:
    row, held = instruction.row, _held(instruction.row)
    writes, wide = _written(instruction), np.int32 if row.signed else np.uint32
    shared = any(r >= FIRST_SCALAR for r in instruction.writes())  # by all lanes, whichever are active

    def load(frame: Frame, group: Group, mask: Mask, where: Places) -> None:
        lanes = values.of_warps(mask) if shared else mask
        where = where if lanes is None else np.where(lanes, where, 0)  # an inactive lane may point anywhere
        for k, write in enumerate(writes):
            write(frame, group, mask, held(frame).take(where + k).astype(wide, copy=False).view(np.uint32))

    return load


def _store(scope: Scope, instruction: Instruction) -> Move:
    """Return a store: if several lanes store to one place, the last lane of the last warp wins."""
    row, held = instruction.row, _held(instruction.row)
    value = dict(instruction.slots())["a"]
    sources = [stored_word(scope, value, k) for k in range(row.words)]

    def store(frame: Frame, group: Group, mask: Mask, where: Places) -> None:
        memory = held(frame)
        for k, source in enumerate(sources):
            stored = values.spread(source(frame, group), where).astype(memory.dtype, copy=False)
            if mask is None:
                memory[where + k] = stored
            else:
                memory[where[mask] + k] = stored[mask]

    return store


def stored_word(scope: Scope, value: Operand, k: int) -> Fetch:
    """Return a function giving word k of the stored value, little-endian."""
    if isinstance(value, Register):
        return values.register(value.index if value.index == RZ_INDEX else value.index + k, 32)
    if isinstance(value, Constant):
        return values.uniform(values.constant(scope, value.name) >> 32 * k, 32)
    assert isinstance(value, Immediate)
    return values.uniform(value.bits >> 32 * k, 32)


def _atomic(scope: Scope, instruction: Instruction) -> Move:
    """Return an atomic update: lanes that access the same place follow each other, by warp and lane."""
    row, held, memory = instruction.row, dict(instruction.slots()), _held(instruction.row)
    width, halves = min(row.width, 64), range(-(-row.width // 64))
    part = replace(row, width=width)
    sources = [[values.source(scope, _half(held.get(x), k), part) for x in "ab"] for k in halves]
    target, done = held.get("d"), held.get("P")
    writes = [values.writer(_half(target, k), width) for k in halves] if target is not None else []
    tell = values.writer(done, 32) if isinstance(done, Predicate) else None

    def atomic(frame: Frame, group: Group, mask: Mask, where: Places) -> None:
        given = [[values.spread(source(frame, group), where) for source in pair] for pair in sources]
        words, old = memory(frame), [np.zeros(where.shape, a.dtype) for a, _ in given]
        swapped = np.zeros(where.shape, np.bool_)
        for lanes in _turns(where, group.live if mask is None else mask):
            found = [_read(words, where[lanes] + 2 * k, width) for k in halves]
            for k, word in enumerate(_updated(row, [(a[lanes], b[lanes]) for a, b in given], found)):
                _write(words, where[lanes] + 2 * k, word, width)
                swapped[lanes] = found[k] == given[k][0][lanes]
                old[k][lanes] = swapped[lanes] if row.tested else found[k]
        for write, word in zip(writes, old, strict=False):
            write(frame, group, mask, word)
        if tell is not None:
            tell(frame, group, mask, swapped if "P" in row.tested else np.bool_(True))

    return atomic


def _half(operand: Operand | None, k: int) -> Any:
    """Return half k of an operand of 128 bits, which is a register or RZ; of a narrower one there is only half 0."""
    if isinstance(operand, Register) and operand.index != RZ_INDEX:
        return replace(operand, index=operand.index + 2 * k)
    return operand


def _updated(row: Row, given: list[tuple[Any, Any]], found: list[NDArray[Any]]) -> list[Any]:
    """Return what an atomic leaves of the words found, or the halves; a swap leaves both as they are, or neither."""
    assert row.update is not None
    new = [row.update(a, b, c) for (a, b), c in zip(given, found, strict=True)]
    if len(new) == 1 or row.update is not compare_and_swap:
        return new
    expected = np.logical_and(*(a == c for (a, _), c in zip(given, found, strict=True)))
    return [np.where(expected, word, c) for word, c in zip(new, found, strict=True)]


def _turns(where: Places, active: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Yield the active lanes in turns, as indices: of those at one place, the first, then the second, and so on."""
    lanes = np.nonzero(active)
    found = where[lanes]
    order = np.argsort(found, kind="stable")
    begins = np.flatnonzero(np.diff(found[order], prepend=-1))
    turn = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    for number in range(int(turn.max(initial=-1)) + 1):
        now = order[turn == number]
        yield tuple(index[now] for index in lanes)


def _read(words: NDArray[np.uint32], where: Places, width: int) -> NDArray[Any]:
    low = words[where]
    return low if width == 32 else low.astype(np.uint64) | (words[where + 1].astype(np.uint64) << UPPER)


def _write(words: NDArray[np.uint32], where: Places, value: Any, width: int) -> None:
    words[where] = value.astype(np.uint32)
    if width == 64:
        words[where + 1] = (value >> UPPER).astype(np.uint32)
