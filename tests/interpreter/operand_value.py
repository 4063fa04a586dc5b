"""Operands of an instruction as functions on the frame of a block, which read sources and write results.

Values that are equal in all lanes have shape (1, 1) and broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interpreter.frame import Frame, Group
from isa.executing import faults
from isa.instruction import PREDICATES_READ, Instruction
from isa.kernel import Kernel
from isa.operands.operand import (
    FIRST_SCALAR,
    FIRST_UNIFORM,
    PT_INDEX,
    RZ_INDEX,
    BankConstant,
    Constant,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
)
from isa.operands.operand_change import Change, apply, change_of
from isa.program import CODE_BYTES
from isa.row import Row

Mask = NDArray[np.bool_] | None
Fetch = Callable[[Frame, Group], Any]
Write = Callable[[Frame, Group, Mask, Any], None]
Observe = Callable[[int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]], None]
NEXT = np.uint64(1 << 32)


@dataclass(frozen=True, slots=True)
class Scope:
    """The context of a translation: the instruction's place and the meaning of its names."""

    kernel: Kernel
    pc: int
    constants: Mapping[str, int]
    observe: Observe | None

    @property
    def instruction(self) -> Instruction:
        """Return the instruction being translated."""
        return self.kernel.program.instructions[self.pc]


def uniform(bits: int, width: int) -> Fetch:
    """Return a function giving the low `width` bits in every lane."""
    dtype = np.uint64 if width == 64 else np.uint32
    value = np.full((1, 1), bits & ((1 << width) - 1), dtype)
    return lambda _frame, _group: value


def constant(scope: Scope, name: str) -> int:
    """Return the pattern of c[name]; raises ExecutionError if the kernel does not define it."""
    if name not in scope.constants:
        raise faults.undefined_name(scope.kernel, scope.pc, "c", name, scope.constants)
    return scope.constants[name]


def source(scope: Scope, operand: Operand | None, row: Row) -> Fetch:
    """Return a function giving a source operand: uint32, or uint64 at width 64."""
    if isinstance(operand, Register):
        return changed(register(operand.index, row.width), change_of(operand, row), row.width)
    if isinstance(operand, BankConstant):
        bits = bank_constant(scope, operand, row.width)
        return changed(uniform(bits, row.width), change_of(operand, row), row.width)
    if isinstance(operand, Immediate):
        return uniform(operand.bits, row.width)
    if isinstance(operand, Constant):
        return uniform(constant(scope, operand.name), row.width)
    return uniform(0, row.width)


def wide_source(scope: Scope, operand: Operand | None, row: Row, letter: str) -> Fetch:
    """Return a function giving a source as `result` functions take it (isa.values.general): uint64."""
    width = 32 * row.words_of(letter)
    if isinstance(operand, Register):
        fetch, change = register(operand.index, width), change_of(operand, row)
    elif isinstance(operand, BankConstant):
        fetch, change = uniform(bank_constant(scope, operand, width), width), change_of(operand, row)
    else:
        bits = operand.bits if isinstance(operand, Immediate) else 0
        bits = constant(scope, operand.name) if isinstance(operand, Constant) else bits
        bits = CODE_BYTES * scope.kernel.program.labels[operand.name] if isinstance(operand, Label) else bits
        fetch, change = uniform(bits, width), Change.NONE
    if width == 64:
        return changed(fetch, change, width)
    if change == Change.NEGATIVE:
        return lambda frame, group: NEXT - fetch(frame, group).astype(np.uint64)
    kept = changed(fetch, change, width)
    return lambda frame, group: kept(frame, group).astype(np.uint64)


def truths(held: Mapping[str, Operand]) -> Fetch:
    """Return a function giving the word of the predicates that a row reads, by their bit in PREDICATES_READ."""
    read = [(place, predicate(held[letter])) for place, letter in enumerate(PREDICATES_READ) if letter in held]
    if not read:
        return uniform(0, 32)

    def fetch(frame: Frame, group: Group) -> Any:
        return sum(((bits(frame, group) << np.uint32(place)) for place, bits in read), np.uint32(0))

    return fetch


def bank_constant(scope: Scope, operand: BankConstant, width: int) -> int:
    """Return the pattern of c[bank][offset]; raises ExecutionError beyond the end of the bank."""
    held = scope.kernel.banks.get(operand.bank, b"")
    if operand.offset + width // 8 > len(held):
        raise faults.outside_bank(scope.kernel, scope.pc, operand.bank, operand.offset, len(held))
    return int.from_bytes(held[operand.offset : operand.offset + width // 8], "little")


def register(index: int, width: int) -> Fetch:
    """Return a function giving a register, or the pair that starts there at width 64; RZ is 0."""
    if index == RZ_INDEX:
        return uniform(0, width)
    if width == 64:
        return lambda frame, group: _pair(
            frame.registers[index, group.select], frame.registers[index + 1, group.select]
        )
    return lambda frame, group: frame.registers[index, group.select]


def _pair(low: NDArray[np.uint32], high: NDArray[np.uint32]) -> NDArray[np.uint64]:
    words = np.empty((*low.shape, 2), np.uint32)
    words[..., 0], words[..., 1] = low, high
    return words.view(np.uint64)[..., 0]


def changed(fetch: Fetch, change: Change, width: int) -> Fetch:
    """Return a function giving a source with what its text puts before and around it: see `operands.operand_change`."""
    if change == Change.NONE:
        return fetch
    return lambda frame, group: apply(fetch(frame, group), change, width)


def words(scope: Scope, operand: Operand, row: Row, letter: str) -> list[Fetch]:
    """Return a function for each 32-bit word of a source, which gives it as uint32."""
    count = row.words_of(letter)
    if isinstance(operand, Register) and operand.index != RZ_INDEX:
        return [register(operand.index + word, 32) for word in range(count)]
    whole = wide_source(scope, operand, row, letter) if count == 2 else uniform(0, 64)
    return [_word_of(whole, word) for word in range(count)]


def _word_of(whole: Fetch, word: int) -> Fetch:
    """Return a function giving the word of that number of a uint64."""
    return lambda frame, group: (whole(frame, group) >> np.uint64(32 * word)).astype(np.uint32)


def registers(first: Operand, value: Any) -> Iterator[tuple[Register, Any]]:
    """Yield each register of a result [words, warp, lane], and its word; RZ takes none."""
    assert isinstance(first, Register)
    for word, part in enumerate(value if first.index != RZ_INDEX else ()):
        yield Register(first.index + word), part


def predicate(operand: Operand) -> Fetch:
    """Return a function giving a predicate read as an operand: uint32 0 or 1."""
    assert isinstance(operand, Predicate)
    index, negated = operand.index, operand.negated
    return lambda frame, group: (frame.predicates[index, group.select] ^ negated).astype(np.uint32)


def writer(operand: Operand, width: int) -> Write:
    """Return a function that stores a result in its register, register pair or predicate; RZ and PT drop it."""
    if isinstance(operand, Predicate):
        return _write_predicate(operand.index)
    assert isinstance(operand, Register)
    if operand.index == RZ_INDEX:
        return lambda _frame, _group, _mask, _value: None
    return _write_pair(operand.index) if width == 64 else word_writer(operand.index)


def word_writer(index: int) -> Write:
    """Return a function that stores a 32-bit result in a register."""

    def write(frame: Frame, group: Group, mask: Mask, value: Any) -> None:
        frame.versions[index] += 1
        _assign(frame.registers[index], group, of_warps(mask) if index >= FIRST_SCALAR else mask, value)

    return write


def _write_pair(index: int) -> Write:
    low, high = word_writer(index), word_writer(index + 1)

    def write(frame: Frame, group: Group, mask: Mask, value: Any) -> None:
        words = np.ascontiguousarray(value, np.uint64)[..., None].view(np.uint32)
        low(frame, group, mask, words[..., 0])
        high(frame, group, mask, words[..., 1])

    return write


def _write_predicate(index: int) -> Write:
    def write(frame: Frame, group: Group, mask: Mask, value: Any) -> None:
        if index != PT_INDEX:
            _assign(frame.predicates[index], group, of_warps(mask) if index >= FIRST_UNIFORM else mask, value)

    return write


def of_warps(mask: Mask) -> Mask:
    """Return all lanes of the warps of which any is in the mask: what all share is written for all of them."""
    return None if mask is None else np.broadcast_to(mask.any(axis=-1, keepdims=True), mask.shape)


def spread(value: Any, like: NDArray[Any]) -> Any:
    """Return the value with a copy for each warp and lane; broadcast_to alone costs as much as the rest of a load."""
    return value if value.shape == like.shape else np.broadcast_to(value, like.shape)


def _assign(target: Any, group: Group, mask: Mask, value: Any) -> None:
    target[group.select] = value if mask is None else np.where(mask, value, target[group.select])
