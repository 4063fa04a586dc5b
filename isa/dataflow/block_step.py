"""Find how far a program's addresses move from one block of the grid to its neighbour.

A forward data flow over steps: a step is the amount by which a register grows, in every lane and on every path, when
the block's index grows by one in x, y or z. Sums, and products with uniform values, are linear modulo 2**32; a
comparison of two values that move together stays the same while neither wraps around. Any other computation from a
moving value gives up.

Of numbers with several words, only the lowest is followed: its step depends on no carry. That is enough for addresses
of 64 bits, since all that lie in the kernel's window have the same upper word; one beyond it is a fault in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from isa.dataflow.flow import overwrites, reads, writes
from isa.dataflow.forward import forward
from isa.dataflow.moving import (
    MASK,
    SOMETHING,
    STILL,
    UNKNOWN,
    WORD,
    ZERO,
    Step,
    Value,
    either,
    passes,
    plus,
    product,
    times,
)
from isa.dataflow.words.folded import known_result
from isa.dataflow.words.spilled import moved_words, spilled_words, unwritten
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, constants
from isa.nvidia.rows.move import copy
from isa.operands.operand import (
    MACHINE_SPECIALS,
    PT_INDEX,
    RZ_INDEX,
    Address,
    BankConstant,
    Constant,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Special,
)
from isa.operands.special import fixed
from isa.program import WORD_BYTES
from isa.row import GLOBAL_UNITS, Unit
from isa.support.once import once
from isa.values import integer, logic, semantics
from isa.values.semantics import icompare, ucompare

_BLOCK = {"CTAID.X": (1, 0, 0), "CTAID.Y": (0, 1, 0), "CTAID.Z": (0, 0, 1)}


_State = dict[str, Value]
_DIVERTING = frozenset(
    {Unit.CONTROL, Unit.BARRIER}
)  # what they read decides which way lanes go, and how long they wait


@once
def block_steps(kernel: Kernel) -> Mapping[int, Step] | None:
    """Return, by pc, the step of each access to global memory and of each comparison whose operands move together.

    Steps are bytes, or units of the operands, per block in x, y and z, modulo 2**32.

    None if a guard, a branch, or an address of shared or local memory may depend on the block's index in another way,
    or if a global address does not depend on it linearly: then one block does not determine the others.
    """
    steps: dict[int, Step] = {}
    for pc, state in enumerate(states(kernel)):
        instruction = kernel.program.instructions[pc]
        if state is None:
            continue
        step = _moves(instruction, state)
        row = instruction.row
        near = bool({Unit.SHARED, Unit.LOCAL} & kernel.program.memories(row))
        if step is None or (step != STILL and near):
            return None
        if row.unit in GLOBAL_UNITS or step != STILL:
            steps[pc] = step
    return steps


@once
def texture_steps(kernel: Kernel) -> Mapping[int, tuple[Step, Step]] | None:
    """Return, by pc, the steps of column and row of each texture fetch that moves, in elements and rows.

    None if a coordinate does not depend linearly on the block's index, or if blocks lie parts of a sector apart.
    """
    instructions = kernel.program.instructions
    if not any(instruction.row.unit is Unit.TEXTURE for instruction in instructions):
        return {}
    known, steps = constants(kernel), {}
    for pc, state in enumerate(states(kernel)):
        if state is None or instructions[pc].row.unit is not Unit.TEXTURE:
            continue
        found = _coordinate_steps(instructions[pc], state, known, kernel)
        if found is None:
            return None
        if found != (STILL, STILL):
            steps[pc] = found
    return steps


def _coordinate_steps(
    fetch: Instruction, state: _State, known: Mapping[str, int], kernel: Kernel
) -> tuple[Step, Step] | None:
    """Return the steps of a fetch's column and row; None if they are unknown, or move by parts of a sector."""
    if fetch.row.texel is not None:
        return (STILL, STILL) if _is_still(state, reads(fetch)) else None
    sources = {letter: _source(operand, state, known, kernel) for letter, operand in fetch.slots() if letter in "abc"}
    column, row, pitch = (sources.get(letter, ZERO) for letter in "abc")
    if column.step is None or row.step is None or pitch.step != STILL:
        return None
    if row.step != STILL and pitch.fixed is None:
        return None
    row_bytes = max(1, pitch.fixed or 0) * fetch.row.nbytes
    moved = [fetch.row.nbytes * part for part in column.step] + [row_bytes * part for part in row.step]
    return None if any(part % SECTOR_BYTES for part in moved) else (column.step, row.step)


def _moves(instruction: Instruction, state: _State) -> Step | None:
    """Return the step of the instruction's address or operands; None if it, or its guard, moves irregularly."""
    if depends_on_block(instruction, state):
        return None
    address = instruction.address()
    if address is not None:
        return step_of(address, state)
    return _common(instruction, state) or STILL


def depends_on_block(instruction: Instruction, state: _State) -> bool:
    """Tell whether its guard, or which lanes it is for, or where it goes, may depend on the block's index."""
    if instruction.guard.index != PT_INDEX and state.get(f"P{instruction.guard.index}", SOMETHING).step != STILL:
        return True
    if instruction.row.copies and not _is_still(state, {f"P{p}" for p in instruction.predicates_read()}):
        return True
    diverts = instruction.row.unit in _DIVERTING or instruction.row.steers or instruction.row.by_values
    return bool(diverts and not _is_still(state, reads(instruction)))


def step_of(address: Address, state: _State) -> Step | None:
    """Return an address's step, of one with 64 bits that of its lower word; None if it moves irregularly."""
    moved = times(_register(address.base, state), address.scale)
    return (plus(moved, _register(address.uniform, state)) if address.uniform else moved).step


def _is_still(state: _State, names: Iterable[str]) -> bool:
    """Tell whether all of these are the same in all blocks."""
    return all(state.get(name, SOMETHING).step == STILL for name in names)


def _common(instruction: Instruction, state: _State) -> Step | None:
    """Return the step that both operands of an integer comparison share, None if there is none."""
    if instruction.row.value not in (icompare, ucompare):
        return None
    a, b = (_step(operand, state) for letter, operand in instruction.slots() if letter in "ab")
    return a if a == b else None


def _step(operand: Operand, state: _State) -> Step | None:
    return _register(operand, state).step if isinstance(operand, Register) else STILL


@once
def states(kernel: Kernel) -> Sequence[_State | None]:
    """Return the state before each instruction; None if it is unreachable."""
    instructions, known, spilled = kernel.program.instructions, constants(kernel), spilled_words(kernel.program)

    def behind(pc: int, state: _State) -> _State:
        if pc in spilled:
            return state | moved_words(instructions[pc], spilled[pc], state)
        return _after(instructions[pc], state, known, kernel)

    return forward(kernel.program, unwritten(kernel.program), behind, _merged)


def _merged(known: _State | None, arriving: _State) -> _State | None:
    """Return the state that holds on both paths; None if nothing new has arrived."""
    if known is None:
        return arriving
    pairs = ((name, known.get(name, ZERO), arriving.get(name, ZERO)) for name in known.keys() | arriving.keys())
    both = {name: (old, either(old, new)) for name, old, new in pairs if old is not new}
    changed = {name: value for name, (old, value) in both.items() if value != old}
    return known | changed if changed else None


def _after(instruction: Instruction, state: _State, known: Mapping[str, int], kernel: Kernel) -> _State:
    """Return the state after the instruction; under a guard, the old state may remain."""
    written = writes(instruction)
    if not written:
        return state
    value = _result(instruction, state, known, kernel)
    old = {name: state.get(name, ZERO) for name in written}
    new = dict.fromkeys(written, _upper_words(instruction, value, state)) | dict.fromkeys(
        _first(instruction, written), value
    )
    new |= _second_word(instruction, state, known, kernel) | _further_constants(instruction, kernel)
    return state | {name: new[name] if overwrites(instruction) else either(new[name], old[name]) for name in written}


def _first(instruction: Instruction, written: Iterable[str]) -> Iterable[str]:
    """Return the name of the lowest word of the result, or of the predicate that is a row's only result."""
    registers = instruction.writes()
    if registers:
        return (f"R{registers[0]}",)
    return () if instruction.row.is_general else written


def _upper_words(instruction: Instruction, lowest: Value, state: _State) -> Value:
    """Return what is known about the upper words and carries of a result."""
    row = instruction.row
    alone = row.is_load or row.reads_special or not row.is_general
    still = _is_still(state, reads(instruction)) or (alone and lowest.step == STILL)
    return SOMETHING if still else UNKNOWN


def _result(instruction: Instruction, state: _State, known: Mapping[str, int], kernel: Kernel) -> Value:
    """Return what is known about the lowest word of a result."""
    row = instruction.row
    if row.reads_special:
        return _special(instruction, kernel)
    if row.is_load:
        return _loaded(instruction, kernel)
    sources = {x: _source(operand, state, known, kernel) for x, operand in instruction.slots() if x in "abcD"}
    linear = _general(instruction, sources, state) if row.is_general else _linear(row.value, sources)
    linear = linear or _combined(instruction, sources) or _folded(instruction, sources, state)
    if linear is not None:
        return linear
    still = _is_still(state, reads(instruction)) or _common(instruction, state) is not None
    return SOMETHING if still else UNKNOWN


def _loaded(instruction: Instruction, kernel: Kernel) -> Value:
    """Return what is known about a loaded word: of a fixed place of a constant bank, its content."""
    address = instruction.address()
    if address is None or address.bank is None or not instruction.loads_constant():
        return UNKNOWN
    return _banked(address.bank, kernel) if instruction.row.nbytes >= WORD_BYTES else SOMETHING


def _further_constants(instruction: Instruction, kernel: Kernel) -> _State:
    """Return the words behind the first of several that come from a fixed place of a constant bank."""
    address, bank = instruction.address(), None
    if address is not None and instruction.loads_constant():
        bank = address.bank
    elif instruction.row.result is copy:
        bank = next((o for o in instruction.operands if isinstance(o, BankConstant)), None)
    if bank is None:
        return {}
    places = {f"R{r}": WORD_BYTES * i for i, r in enumerate(instruction.writes()) if i > 0}
    return {name: _banked(replace(bank, offset=bank.offset + ahead), kernel) for name, ahead in places.items()}


def _banked(operand: BankConstant, kernel: Kernel) -> Value:
    """Return the content of the lowest word of a bank's constant."""
    if operand.absolute or operand.inverted or operand.part:
        return SOMETHING
    held = kernel.banks.get(operand.bank, b"")[operand.offset : operand.offset + WORD_BYTES]
    value = Value(STILL, int.from_bytes(held, "little"))
    return times(value, -1) if operand.negated else value


def _general(instruction: Instruction, sources: Mapping[str, Value], state: _State) -> Value | None:
    """Return the lowest word of a linear result of machine code; None for any other."""
    row = instruction.row
    if row.result is integer.shift:
        return _shifted(row.code, sources)
    if row.result is integer.shifted_add:
        count = next(o.bits for letter, o in instruction.slots() if letter == "n" and isinstance(o, Immediate))
        total = plus(times(sources["a"], 1 << min(count, WORD)), sources["b"])
    elif row.result in _SUMS:
        total = _SUMS[row.result](sources)
    else:
        return None
    carries = [
        o for letter, o in instruction.slots() if letter in "Qq" and isinstance(o, Predicate) and o.index != PT_INDEX
    ]
    if not row.code & integer.X or not carries:
        return total if not row.code & integer.X else plus(total, SOMETHING)
    still = all(state.get(f"P{one.index}", SOMETHING).step == STILL for one in carries)
    return plus(total, SOMETHING) if still else UNKNOWN


def _combined(instruction: Instruction, sources: Mapping[str, Value]) -> Value | None:
    """Return bits of a moving word above bits that are the same in all blocks; None for any other combination.

    Each bit is either one of those that are 0 in all blocks, or is the moving word's whatever the other sources are.
    """
    if instruction.row.value is not semantics.lop3 and instruction.row.result is not logic.bitwise:
        return None
    words = [sources[letter] for letter in "abc"]
    moving = [place for place, word in enumerate(words) if word.step != STILL]
    if len(moving) != 1 or words[moving[0]].step is None:
        return None
    (table,) = [o.bits for letter, o in instruction.slots() if letter == "n" and isinstance(o, Immediate)]
    return Value(words[moving[0]].step) if passes(table, moving[0], words) else None


def _folded(instruction: Instruction, sources: Mapping[str, Value], state: _State) -> Value | None:
    """Return the lowest word of a result of known words; None if one is not known."""
    found = known_result(instruction, {x: word.fixed for x, word in sources.items()}, state)
    return None if found is None else Value(STILL, found & MASK)


def _second_word(instruction: Instruction, state: _State, known: Mapping[str, int], kernel: Kernel) -> _State:
    """Return the upper word of a result of two that is known."""
    written = instruction.writes()
    if instruction.row.result is None or instruction.row.words_of("d") != 2 or len(written) != 2:
        return {}
    sources = {x: _source(operand, state, known, kernel) for x, operand in instruction.slots() if x in "abc"}
    found = known_result(instruction, {x: word.fixed for x, word in sources.items()}, state)
    return {} if found is None else {f"R{written[1]}": Value(STILL, found >> WORD)}


def _shifted(code: int, sources: Mapping[str, Value]) -> Value | None:
    """Return the lower word of a pair that is shifted left by a known count; None for any other shift."""
    count = sources["b"].fixed
    if code & (integer.RIGHT | integer.HIGH) or count is None or count >= WORD:
        return None
    return times(sources["a"], 1 << count)


def _special(instruction: Instruction, kernel: Kernel) -> Value:
    name = instruction.operands[1]
    assert isinstance(name, Special)
    sizes = {f"NTID.{axis}": size for axis, size in zip("XYZ", kernel.block, strict=True)}
    sizes |= {f"NCTAID.{axis}": size for axis, size in zip("XYZ", kernel.grid, strict=True)}
    known = fixed(kernel, name.name)
    if known is not None:
        return Value(STILL, known)
    if name.name in MACHINE_SPECIALS:  # the time, for one
        return UNKNOWN
    return Value(_BLOCK.get(name.name, STILL), sizes.get(name.name))


def _source(operand: Operand, state: _State, known: Mapping[str, int], kernel: Kernel) -> Value:
    match operand:
        case Register():
            return _register(operand, state)
        case Immediate():
            return Value(STILL, operand.bits & MASK)
        case Constant():
            return Value(STILL, known[operand.name] & MASK)
        case BankConstant():
            return _banked(operand, kernel)
        case Label():
            return SOMETHING
    raise AssertionError(operand)


def _register(register: Register, state: _State) -> Value:
    value = ZERO if register.index == RZ_INDEX else state.get(f"R{register.index}", ZERO)
    if register.absolute or register.inverted or register.part:
        return SOMETHING if value.step == STILL else UNKNOWN
    return times(value, -1) if register.negated else value


def _linear(value: object, sources: Mapping[str, Value]) -> Value | None:
    """Return the result of an instruction that is linear in its sources, None for any other."""
    linear = _LINEAR.get(value)
    if linear is not None:
        return linear(sources)
    count = sources["b"].fixed if value in (semantics.shl, semantics.funnel_left) else None
    if value is semantics.shl and count is not None and count < WORD:
        return times(sources["a"], 1 << count)
    if value is semantics.funnel_left and count is not None and "a" not in sources:
        return times(sources["c"], 1 << count % WORD)
    return None


_LINEAR: Mapping[object, Callable[[Mapping[str, Value]], Value]] = {
    semantics.mov: lambda s: s["a"],
    semantics.iadd: lambda s: plus(s["a"], s["b"]),
    semantics.isub: lambda s: plus(s["a"], times(s["b"], -1)),
    semantics.iadd3: lambda s: reduce(plus, s.values()),
    semantics.imul: lambda s: product(s["a"], s["b"]),
    semantics.imad: lambda s: plus(product(s["a"], s["b"]), s.get("c", ZERO)),
}
_SUMS: Mapping[object, Callable[[Mapping[str, Value]], Value]] = {  # lowest words, without the carries read
    copy: lambda s: s["a"],
    integer.add3: lambda s: reduce(plus, s.values()),
    integer.add_pairs: lambda s: plus(s["a"], s["b"]),
    **dict.fromkeys((integer.multiply_add, integer.wide_signed, integer.wide_unsigned), _LINEAR[semantics.imad]),
}
