"""Words of spilled registers: the slots of local memory, followed as registers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isa.dataflow.memory.local_slots import local_slots
from isa.dataflow.moving import UNKNOWN, ZERO, Value, either
from isa.instruction import Instruction
from isa.operands.operand import PT, RZ_INDEX, Register
from isa.program import WORD_BYTES, Program
from isa.support.once import once


@once
def spilled_words(program: Program) -> Mapping[int, Sequence[str]]:
    """Return, by pc, the names of the words that each access to local memory moves, in order of its registers.

    Empty if its slots are not known, or if an access moves parts of words.
    """
    slots = local_slots(program)
    whole = all(int(names[0][1:]) % WORD_BYTES == len(names) % WORD_BYTES == 0 for names in slots.values())
    return {pc: names[::WORD_BYTES] for pc, names in slots.items()} if whole else {}


def unwritten(program: Program) -> dict[str, Value]:
    """Return what is known of all slots before the first instruction: nothing, as other blocks may have had them."""
    return dict.fromkeys((name for names in spilled_words(program).values() for name in names), UNKNOWN)


def moved_words(access: Instruction, slots: Sequence[str], state: Mapping[str, Value]) -> dict[str, Value]:
    """Return what is known of the slots, or registers, that an access writes; under a guard old words may remain."""
    registers = [f"R{r}" for r in _moved(access, len(slots))]
    ways = zip(registers, slots, strict=True) if access.row.is_store else zip(slots, registers, strict=True)
    new = {to: ZERO if source == _ZERO else state.get(source, ZERO) for source, to in ways if to != _ZERO}
    if access.guard == PT:
        return new
    return {to: either(value, state.get(to, ZERO)) for to, value in new.items()}


_ZERO = f"R{RZ_INDEX}"


def _moved(access: Instruction, words: int) -> Sequence[int]:
    """Return the registers that an access stores or loads."""
    first = next(o.index for x, o in access.slots() if x in "ad" and isinstance(o, Register))
    return [first] * words if first == RZ_INDEX else range(first, first + words)
