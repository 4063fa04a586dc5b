"""Results of words that are the same in all blocks and known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from isa.dataflow.moving import WORD, ZERO, Value
from isa.instruction import PREDICATES_READ, Instruction
from isa.operands.operand import PT_INDEX, RZ_INDEX, BankConstant, Predicate, Register


def folded(instruction: Instruction, words: Sequence[int | None]) -> int | None:
    """Return the result, of one or two words, of these numbers a, b and c, of a row that reads them without signs.

    None if one is unknown, or if a predicate is read that is neither always true nor always false.
    """
    row, read = instruction.row, truths(instruction)
    signed = any(isinstance(o, Register | BankConstant) and o.negated for o in instruction.operands)
    if row.result is None or row.words_of("d") > 2 or signed or None in words or read is None:
        return None
    with np.errstate(all="ignore"):
        result = row.result(*(np.uint64(x or 0) for x in words), np.uint32(read), np.uint64(instruction.number()))
    return int(result) & ((1 << WORD * row.words_of("d")) - 1)


def known_result(
    instruction: Instruction, lowest: Mapping[str, int | None], registers: Mapping[str, Value]
) -> int | None:
    """Return the result, of one or two words, by the lowest words of its sources and what registers hold."""
    return folded(instruction, [number_of(instruction, x, lowest[x], registers) if x in lowest else 0 for x in "abc"])


def number_of(instruction: Instruction, letter: str, lowest: int | None, registers: Mapping[str, Value]) -> int | None:
    """Return the number that a source of one or two words holds, by what its lowest word and the registers hold.

    None if it is not known, or of a source of two words that is no register.
    """
    words = instruction.row.words_of(letter)
    if words == 1 or lowest is None:
        return lowest
    operand = next((o for x, o in instruction.slots() if x == letter), None)
    if words > 2 or not isinstance(operand, Register):
        return None
    if operand.index == RZ_INDEX:
        return 0
    upper = registers.get(f"R{operand.index + 1}", ZERO).fixed
    return None if upper is None else upper << WORD | lowest


def truths(instruction: Instruction) -> int | None:
    """Return the word of truths that a row gets, if it reads PT and its negation only; else None."""
    found = 0
    for letter, operand in instruction.slots():
        if letter in PREDICATES_READ:
            if not isinstance(operand, Predicate) or operand.index != PT_INDEX or operand.whole:
                return None
            found |= (not operand.negated) << PREDICATES_READ.index(letter)
    return found
