"""Each instruction as one function on the frame of a block: the translation that `interpret` runs.

An action gets (frame, group, mask): it computes for the group's warps and writes the lanes of `mask` (None: all).
Values that are equal in all lanes have shape (1, 1) and broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa import access, faults
from isa.frame import Frame, Group
from isa.instruction import Instruction
from isa.kernel import WARP_SIZE, Kernel
from isa.operand import PT_INDEX, RZ_INDEX, Address, Constant, Immediate, Operand, Predicate, Register, Special, Texture
from isa.table import MEMORY_UNITS, Row, Unit

Mask = NDArray[np.bool_] | None
Fetch = Callable[[Frame, Group], Any]
Write = Callable[[Frame, Group, Mask, Any], None]
Action = Callable[[Frame, Group, Mask], None]
Locate = Callable[[Frame, Group, Mask], NDArray[np.uint32]]
Observe = Callable[[int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]], None]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a translation needs to know: the instruction's place and what its names mean."""

    kernel: Kernel
    pc: int
    constants: Mapping[str, int]
    observe: Observe | None

    @property
    def instruction(self) -> Instruction:
        """The instruction being translated."""
        return self.kernel.program.instructions[self.pc]


def action(scope: Scope, compute: bool) -> Action | None:
    """Return the function of an instruction, None where there is nothing to do.

    Without `compute` only the addresses of memory instructions are worked out, checked and observed.
    """
    row = scope.instruction.row
    if row.unit in MEMORY_UNITS:
        return _memory(scope, compute)
    if not compute or row.unit in (Unit.BARRIER, Unit.CONTROL):
        return None
    if row.unit is Unit.SPECIAL:
        return _special(scope)
    return _arithmetic(scope) if row.across is None else _across(scope)


def guard(predicate: Predicate) -> Fetch | None:
    """Return a function giving the lanes [warps, 32] where the guard and the thread are true; None for a plain PT."""
    if predicate.index == PT_INDEX and not predicate.negated:
        return None
    index, negated = predicate.index, predicate.negated

    def fetch(frame: Frame, group: Group) -> Any:
        held = frame.predicates[index, group.select]
        held = ~held if negated else held
        return held if group.mask is None else held & group.mask

    return fetch


# --- operands ---------------------------------------------------------------------------------------------------------


def _uniform(bits: int, width: int) -> Fetch:
    dtype = np.uint64 if width == 64 else np.uint32
    value = np.full((1, 1), bits & ((1 << width) - 1), dtype)
    return lambda _frame, _group: value


def _constant(scope: Scope, name: str) -> int:
    if name not in scope.constants:
        raise faults.undefined_name(scope.kernel, scope.pc, "c", name, scope.constants)
    return scope.constants[name]


def _source(scope: Scope, operand: Operand | None, row: Row) -> Fetch:
    """Return a function giving a source operand: uint32, or uint64 at width 64."""
    if isinstance(operand, Register):
        return (
            _negated(_register(operand.index, row.width), row)
            if operand.negated
            else _register(operand.index, row.width)
        )
    if isinstance(operand, Immediate):
        return _uniform(operand.bits, row.width)
    if isinstance(operand, Constant):
        return _uniform(_constant(scope, operand.name), row.width)
    return _uniform(0, row.width)


def _register(index: int, width: int) -> Fetch:
    if index == RZ_INDEX:
        return _uniform(0, width)
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
    """Turn the sign of an operand: two's complement for integers, else the sign bit."""
    if not row.is_float:
        return lambda frame, group: np.negative(fetch(frame, group))
    sign = np.uint64(1 << 63) if row.width == 64 else np.uint32(1 << 31)
    return lambda frame, group: fetch(frame, group) ^ sign


def _predicate(operand: Operand) -> Fetch:
    """Return a function giving a predicate read as an operand: uint32 0 or 1."""
    assert isinstance(operand, Predicate)
    index, negated = operand.index, operand.negated
    return lambda frame, group: (frame.predicates[index, group.select] ^ negated).astype(np.uint32)


def _write(operand: Operand, width: int) -> Write:
    """Return a function that stores a result in its register, register pair or predicate; RZ and PT drop it."""
    if isinstance(operand, Predicate):
        return _write_predicate(operand.index)
    assert isinstance(operand, Register)
    if operand.index == RZ_INDEX:
        return lambda _frame, _group, _mask, _value: None
    return _write_pair(operand.index) if width == 64 else _write_word(operand.index)


def _write_word(index: int) -> Write:
    def write(frame: Frame, group: Group, mask: Mask, value: Any) -> None:
        frame.versions[index] += 1
        _assign(frame.registers[index], group, mask, value)

    return write


def _write_pair(index: int) -> Write:
    low, high = _write_word(index), _write_word(index + 1)

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


def _spread(value: Any, like: NDArray[Any]) -> Any:
    """Return the value with a copy for each warp and lane; broadcast_to alone costs as much as the rest of a load."""
    return value if value.shape == like.shape else np.broadcast_to(value, like.shape)


def _assign(target: Any, group: Group, mask: Mask, value: Any) -> None:
    target[group.select] = value if mask is None else np.where(mask, value, target[group.select])


# --- instructions -----------------------------------------------------------------------------------------------------


def _arithmetic(scope: Scope) -> Action:
    row = scope.instruction.row
    held = dict(scope.instruction.slots())
    a, b, c = _sources(scope, held)
    write = _write(held["P"] if "P" in held else held["d"], row.width)
    number = held.get("n")
    value = partial(row.value, n=np.uint32(number.bits)) if row.value and isinstance(number, Immediate) else row.value
    assert value is not None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        write(frame, group, mask, value(a(frame, group), b(frame, group), c(frame, group)))

    return act


def _across(scope: Scope) -> Action:
    held, across = dict(scope.instruction.slots()), scope.instruction.row.across
    sources, write = _sources(scope, held), _write(held["d"], 32)
    assert across is not None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        write(frame, group, mask, across(*(_spread(source(frame, group), active) for source in sources), active))

    return act


def _sources(scope: Scope, held: Mapping[str, Operand]) -> tuple[Fetch, Fetch, Fetch]:
    row = scope.instruction.row
    a, b = (_source(scope, held.get(letter), row) for letter in "ab")
    return a, b, _third(scope, held, row)


def _third(scope: Scope, held: Mapping[str, Operand], row: Row) -> Fetch:
    if "Q" in held:
        return _predicate(held["Q"])
    return _source(scope, held["c"], row) if "c" in held else _uniform(row.code, 32)


def _special(scope: Scope) -> Action:
    target, name = scope.instruction.operands
    assert isinstance(name, Special)
    write, which = _write(target, 32), name.name
    return lambda frame, group, mask: write(frame, group, mask, frame.specials[which][group.select])


def _memory(scope: Scope, compute: bool) -> Action:
    row, pc, observe = scope.instruction.row, scope.pc, scope.observe
    locate = _locate(scope)
    index = _INDEX[row.unit]
    move = (_load(scope) if row.is_load else _store(scope)) if compute else None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        addresses = locate(frame, group, mask)
        if observe is not None:
            observe(pc, group.warps, addresses, group.live if mask is None else mask)
        if move is not None and (mask is None or mask.any()):
            move(frame, group, mask, index(frame, group, addresses))

    return act


def _locate(scope: Scope) -> Locate:
    """Return a function giving checked byte addresses [warps, 32]; they are kept while their register is unwritten."""
    pc = scope.pc
    base, fetch = _address(scope)
    check = _check(scope)

    def locate(frame: Frame, group: Group, mask: Mask) -> NDArray[np.uint32]:
        version = -1 if base == RZ_INDEX else frame.versions[base]
        known = frame.located.get(pc)
        if known is not None and known[0] == version and known[1] is group and mask is group.mask:
            return known[2]
        addresses: NDArray[np.uint32] = _spread(fetch(frame, group), group.live)
        check(frame, group, mask, addresses)
        if mask is group.mask:
            frame.located[pc] = (version, group, addresses)
        return addresses

    return locate


def _address(scope: Scope) -> tuple[int, Fetch]:
    """Return the register that addresses depend on, and the function that computes them."""
    if scope.instruction.row.unit is Unit.TEXTURE:
        return _texel(scope)
    operand = scope.instruction.address()
    assert isinstance(operand, Address)
    base = _register(operand.base.index, 32)
    offset = np.full((1, 1), operand.offset & 0xFFFFFFFF, np.uint32)
    return operand.base.index, lambda frame, group: base(frame, group) + offset


def _texel(scope: Scope) -> tuple[int, Fetch]:
    _, texture, index = scope.instruction.operands
    assert isinstance(texture, Texture)
    buffers = {b.name: b for b in scope.kernel.buffers if b.nbytes >= 4}
    if texture.name not in buffers:
        raise faults.undefined_name(scope.kernel, scope.pc, "tex", texture.name, buffers)
    start, last = scope.constants[texture.name], buffers[texture.name].nbytes // 4 - 1
    fetch = _source(scope, index, scope.instruction.row)

    def locate(frame: Frame, group: Group) -> Any:
        element = np.clip(fetch(frame, group).view(np.int32), 0, last)
        return element.astype(np.uint32) * np.uint32(4) + np.uint32(start)

    return (index.index if isinstance(index, Register) else RZ_INDEX), locate


def _check(scope: Scope) -> Callable[[Frame, Group, Mask, NDArray[np.uint32]], None]:
    row = scope.instruction.row
    nbytes, allowed = row.width // 8, access.ranges(scope.kernel, row)

    def check(frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> None:
        used = addresses if mask is None else addresses[mask]
        if used.size and (access.misaligned(used, nbytes) or not access.inside(allowed, used, nbytes)):
            raise _fault(scope, frame, group, mask, addresses)

    return check


def _fault(scope: Scope, frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> Exception:
    """Return the error of the first lane whose address is bad, misalignment first."""
    nbytes, ranges = scope.instruction.row.width // 8, access.ranges(scope.kernel, scope.instruction.row)
    active = group.live if mask is None else mask
    crooked = active & ((addresses & np.uint32(nbytes - 1)) != 0)
    build = faults.misaligned if crooked.any() else faults.out_of_bounds
    bad = crooked if crooked.any() else active & access.outside(ranges, addresses, nbytes)
    row, lane = np.argwhere(bad)[0]
    return build(
        scope.kernel, scope.pc, frame.block, group.members[row], lane=int(lane), address=int(addresses[row, lane])
    )


def _word_index(_frame: Frame, _group: Group, addresses: NDArray[np.uint32]) -> NDArray[np.int64]:
    return (addresses >> np.uint32(2)).astype(np.int64)


def _local_index(frame: Frame, group: Group, addresses: NDArray[np.uint32]) -> NDArray[np.int64]:
    thread = group.warps[:, None] * WARP_SIZE + np.arange(WARP_SIZE)
    return thread * frame.local_words + _word_index(frame, group, addresses)


_INDEX = {
    Unit.SHARED: _word_index,
    Unit.GLOBAL: _word_index,
    Unit.TEXTURE: _word_index,
    Unit.LOCAL: _local_index,
}
_WORDS: dict[Unit, Callable[[Frame], NDArray[np.uint32]]] = {
    Unit.SHARED: lambda frame: frame.shared,
    Unit.GLOBAL: lambda frame: frame.memory,
    Unit.TEXTURE: lambda frame: frame.memory,
    Unit.LOCAL: lambda frame: frame.local,
}
Move = Callable[[Frame, Group, Mask, NDArray[np.int64]], None]


def _load(scope: Scope) -> Move:
    row, words = scope.instruction.row, _WORDS[scope.instruction.row.unit]
    target = scope.instruction.operands[0]
    assert isinstance(target, Register)
    dropped = target.index == RZ_INDEX
    writes = [] if dropped else [_write_word(target.index + k) for k in range(row.words)]

    def move(frame: Frame, group: Group, mask: Mask, index: NDArray[np.int64]) -> None:
        index = index if mask is None else np.where(mask, index, 0)  # a lane that is off may point anywhere
        for k, write in enumerate(writes):
            write(frame, group, mask, words(frame).take(index + k))

    return move


def _stored_word(scope: Scope, value: Operand, k: int) -> Fetch:
    """Return a function giving word k of what is stored, little-endian."""
    if isinstance(value, Register):
        return _register(value.index if value.index == RZ_INDEX else value.index + k, 32)
    if isinstance(value, Constant):
        return _uniform(_constant(scope, value.name) >> 32 * k, 32)
    assert isinstance(value, Immediate)
    return _uniform(value.bits >> 32 * k, 32)


def _store(scope: Scope) -> Move:
    """Where lanes store to one word, the last lane of the last warp stays."""
    row, words = scope.instruction.row, _WORDS[scope.instruction.row.unit]
    value = dict(scope.instruction.slots())["a"]
    sources = [_stored_word(scope, value, k) for k in range(row.words)]

    def move(frame: Frame, group: Group, mask: Mask, index: NDArray[np.int64]) -> None:
        for k, source in enumerate(sources):
            stored = _spread(source(frame, group), index)
            if mask is None:
                words(frame)[index + k] = stored
            else:
                words(frame)[index[mask] + k] = stored[mask]

    return move
