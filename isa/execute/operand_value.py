"""Operands of an instruction as functions on the frame of a block, which read sources and write results.

Values that are equal in all lanes have shape (1, 1) and broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.execute import faults
from isa.execute.frame import Frame, Group
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operand import PT_INDEX, RZ_INDEX, Constant, Immediate, Operand, Predicate, Register
from isa.table import Row

Mask = NDArray[np.bool_] | None
Fetch = Callable[[Frame, Group], Any]
Write = Callable[[Frame, Group, Mask, Any], None]
Observe = Callable[[int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]], None]


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
        return (
            _negated(register(operand.index, row.width), row) if operand.negated else register(operand.index, row.width)
        )
    if isinstance(operand, Immediate):
        return uniform(operand.bits, row.width)
    if isinstance(operand, Constant):
        return uniform(constant(scope, operand.name), row.width)
    return uniform(0, row.width)


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


def _negated(fetch: Fetch, row: Row) -> Fetch:
    """Negate an operand: two's complement for integers, else the sign bit flipped."""
    if not row.is_float:
        return lambda frame, group: np.negative(fetch(frame, group))
    sign = np.uint64(1 << 63) if row.width == 64 else np.uint32(1 << 31)
    return lambda frame, group: fetch(frame, group) ^ sign


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
        _assign(frame.registers[index], group, mask, value)

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
            _assign(frame.predicates[index], group, mask, value)

    return write


def spread(value: Any, like: NDArray[Any]) -> Any:
    """Return the value with a copy for each warp and lane; broadcast_to alone costs as much as the rest of a load."""
    return value if value.shape == like.shape else np.broadcast_to(value, like.shape)


def _assign(target: Any, group: Group, mask: Mask, value: Any) -> None:
    target[group.select] = value if mask is None else np.where(mask, value, target[group.select])
