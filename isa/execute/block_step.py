"""Find how far a program's addresses move from one block of the grid to its neighbour.

A forward data flow over steps: a step is the amount by which a register grows, in every lane and on every path, when
the block's index grows by one in x, y or z. Sums, and products with uniform values, are linear modulo 2**32; a
comparison of two values that move together stays the same while neither wraps around. Any other computation from a
moving value gives up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from isa.dataflow.flow import overwrites, reads, successors, writes
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, constants
from isa.operand import PT_INDEX, RZ_INDEX, Constant, Immediate, Operand, Register, Special
from isa.table import GLOBAL_UNITS, Unit
from isa.values import semantics
from isa.values.semantics import icompare, ucompare

Step = tuple[int, int, int]
STILL: Step = (0, 0, 0)
_BLOCK = {"CTAID.X": (1, 0, 0), "CTAID.Y": (0, 1, 0), "CTAID.Z": (0, 0, 1)}
_MASK = 0xFFFFFFFF
WORD = 32  # bits


@dataclass(frozen=True, slots=True)
class _Value:
    """The known facts about a register: its step, None if it moves irregularly, and its content if that is fixed."""

    step: Step | None = STILL
    fixed: int | None = None


_UNKNOWN, _SOMETHING, _ZERO = _Value(None), _Value(), _Value(STILL, 0)
_State = dict[str, _Value]


def block_steps(kernel: Kernel) -> dict[int, Step] | None:
    """Return, by pc, the step of each access to global memory and of each comparison whose operands move together.

    Steps are bytes, or units of the operands, per block in x, y and z, modulo 2**32.

    None if a guard, a branch, or an address of shared or local memory may depend on the block's index in another way,
    or if a global address does not depend on it linearly: then one block does not determine the others.
    """
    steps: dict[int, Step] = {}
    for pc, state in enumerate(_states(kernel)):
        instruction = kernel.program.instructions[pc]
        if state is None:
            continue
        step = _moves(instruction, state)
        if step is None or (step != STILL and instruction.row.unit in (Unit.SHARED, Unit.LOCAL)):
            return None
        if instruction.row.unit in GLOBAL_UNITS or step != STILL:
            steps[pc] = step
    return steps


def texture_steps(kernel: Kernel) -> dict[int, tuple[Step, Step]] | None:
    """Return, by pc, the steps of column and row of each texture fetch that moves, in elements and rows.

    None if a coordinate does not depend linearly on the block's index, or if blocks lie parts of a sector apart.
    """
    instructions = kernel.program.instructions
    if not any(instruction.row.unit is Unit.TEXTURE for instruction in instructions):
        return {}
    known, steps = constants(kernel), {}
    for pc, state in enumerate(_states(kernel)):
        if state is None or instructions[pc].row.unit is not Unit.TEXTURE:
            continue
        found = _coordinate_steps(instructions[pc], state, known)
        if found is None:
            return None
        if found != (STILL, STILL):
            steps[pc] = found
    return steps


def _coordinate_steps(fetch: Instruction, state: _State, known: Mapping[str, int]) -> tuple[Step, Step] | None:
    """Return the steps of a fetch's column and row; None if they are unknown, or move by parts of a sector."""
    sources = {letter: _source(operand, state, known) for letter, operand in fetch.slots() if letter in "abc"}
    column, row, pitch = (sources.get(letter, _ZERO) for letter in "abc")
    if column.step is None or row.step is None or pitch.step != STILL:
        return None
    if row.step != STILL and pitch.fixed is None:
        return None
    row_bytes = max(1, pitch.fixed or 0) * fetch.row.nbytes
    moved = [fetch.row.nbytes * part for part in column.step] + [row_bytes * part for part in row.step]
    return None if any(part % SECTOR_BYTES for part in moved) else (column.step, row.step)


def _moves(instruction: Instruction, state: _State) -> Step | None:
    """Return the step of the instruction's address or operands; None if it, or its guard, moves irregularly."""
    if instruction.guard.index != PT_INDEX and state.get(f"P{instruction.guard.index}", _SOMETHING).step != STILL:
        return None
    address = instruction.address()
    if address is not None:
        return _register(address.base, state).step
    return _common(instruction, state) or STILL


def _common(instruction: Instruction, state: _State) -> Step | None:
    """Return the step that both operands of an integer comparison share, None if there is none."""
    if instruction.row.value not in (icompare, ucompare):
        return None
    a, b = (_step(operand, state) for letter, operand in instruction.slots() if letter in "ab")
    return a if a == b else None


def _step(operand: Operand, state: _State) -> Step | None:
    return _register(operand, state).step if isinstance(operand, Register) else STILL


def _states(kernel: Kernel) -> list[_State | None]:
    """Return the state before each instruction; None if it is unreachable."""
    instructions, onward = kernel.program.instructions, successors(kernel.program)
    before: list[_State | None] = [None] * len(instructions)
    known = constants(kernel)
    todo = [(0, _State())] if instructions else []
    while todo:
        pc, arriving = todo.pop()
        merged = _merged(before[pc], arriving)
        if merged is None:
            continue
        before[pc] = merged
        after = _after(instructions[pc], merged, known, kernel)
        todo += [(target, after) for target in onward[pc]]
    return before


def _merged(known: _State | None, arriving: _State) -> _State | None:
    """Return the state that holds on both paths; None if nothing new has arrived."""
    if known is None:
        return arriving
    pairs = ((name, known.get(name, _ZERO), arriving.get(name, _ZERO)) for name in known.keys() | arriving.keys())
    either = {name: (old, _either(old, new)) for name, old, new in pairs if old is not new}
    changed = {name: value for name, (old, value) in either.items() if value != old}
    return known | changed if changed else None


def _either(a: _Value, b: _Value) -> _Value:
    if a == b:
        return a
    if a.step != b.step:
        return _UNKNOWN
    return _Value(a.step, a.fixed if a.fixed == b.fixed else None)


def _after(instruction: Instruction, state: _State, known: Mapping[str, int], kernel: Kernel) -> _State:
    """Return the state after the instruction; under a guard, the old state may remain."""
    written = writes(instruction)
    if not written:
        return state
    value = _result(instruction, state, known, kernel)
    old = {name: state.get(name, _ZERO) for name in written}
    return state | {name: value if overwrites(instruction) else _either(value, old[name]) for name in written}


def _result(instruction: Instruction, state: _State, known: Mapping[str, int], kernel: Kernel) -> _Value:
    row = instruction.row
    if row.unit is Unit.SPECIAL:
        return _special(instruction, kernel)
    if row.is_load:
        return _UNKNOWN
    sources = {letter: _source(operand, state, known) for letter, operand in instruction.slots() if letter in "abcD"}
    linear = _linear(row.value, sources)
    if linear is not None:
        return linear
    sources_still = all(state.get(name, _SOMETHING).step == STILL for name in reads(instruction))
    still = sources_still or _common(instruction, state) is not None
    return _SOMETHING if still else _UNKNOWN


def _special(instruction: Instruction, kernel: Kernel) -> _Value:
    name = instruction.operands[1]
    assert isinstance(name, Special)
    sizes = {f"NTID.{axis}": size for axis, size in zip("XYZ", kernel.block, strict=True)}
    sizes |= {f"NCTAID.{axis}": size for axis, size in zip("XYZ", kernel.grid, strict=True)}
    return _Value(_BLOCK.get(name.name, STILL), sizes.get(name.name))


def _source(operand: Operand, state: _State, known: Mapping[str, int]) -> _Value:
    match operand:
        case Register():
            return _register(operand, state)
        case Immediate():
            return _Value(STILL, operand.bits & _MASK)
        case Constant():
            return _Value(STILL, known[operand.name] & _MASK)
    raise AssertionError(operand)


def _register(register: Register, state: _State) -> _Value:
    value = _ZERO if register.index == RZ_INDEX else state.get(f"R{register.index}", _ZERO)
    return _times(value, -1) if register.negated else value


def _linear(value: object, sources: Mapping[str, _Value]) -> _Value | None:
    """Return the result of an instruction that is linear in its sources, None for any other."""
    linear = _LINEAR.get(value)
    if linear is not None:
        return linear(sources)
    count = sources["b"].fixed if value in (semantics.shl, semantics.funnel_left) else None
    if value is semantics.shl and count is not None and count < WORD:
        return _times(sources["a"], 1 << count)
    if value is semantics.funnel_left and count is not None and "a" not in sources:
        return _times(sources["c"], 1 << count % WORD)
    return None


def _plus(a: _Value, b: _Value) -> _Value:
    if a.step is None or b.step is None:
        return _UNKNOWN
    x, y, z = ((p + q) & _MASK for p, q in zip(a.step, b.step, strict=True))
    fixed = None if a.fixed is None or b.fixed is None else (a.fixed + b.fixed) & _MASK
    return _Value((x, y, z), fixed)


def _product(a: _Value, b: _Value) -> _Value:
    if b.fixed is not None:
        return _times(a, b.fixed)
    if a.fixed is not None:
        return _times(b, a.fixed)
    return _SOMETHING if a.step == b.step == STILL else _UNKNOWN


def _times(value: _Value, factor: int) -> _Value:
    if value.step is None:
        return _UNKNOWN
    x, y, z = ((s * factor) & _MASK for s in value.step)
    return _Value((x, y, z), None if value.fixed is None else value.fixed * factor & _MASK)


_LINEAR: Mapping[object, Callable[[Mapping[str, _Value]], _Value]] = {
    semantics.mov: lambda s: s["a"],
    semantics.iadd: lambda s: _plus(s["a"], s["b"]),
    semantics.isub: lambda s: _plus(s["a"], _times(s["b"], -1)),
    semantics.iadd3: lambda s: reduce(_plus, s.values()),
    semantics.imul: lambda s: _product(s["a"], s["b"]),
    semantics.imad: lambda s: _plus(_product(s["a"], s["b"]), s["c"]),
}
