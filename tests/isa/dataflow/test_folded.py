"""Results of known words: those of machine code that reads predicates which are always true or false, and pairs."""

from dataclasses import replace

import pytest

from isa.dataflow.moving import Value
from isa.dataflow.words.folded import folded, number_of
from isa.instruction import Instruction
from isa.operands.operand import PT, RZ, Immediate, Predicate, Register
from isa.table import machine_row

FALSE = replace(PT, negated=True)


def rounded(bits, carry=FALSE):
    """Return the LEA.HI that adds the upper bits of a sign to a number, as divisions do before they shift."""
    row = machine_row("LEA.HI")
    assert row is not None
    return Instruction(row, (Register(5), PT, Register(5), Register(4), RZ, Immediate(bits, "int"), carry))


@pytest.mark.parametrize(("size", "by"), [(4096, 4), (100, 8), (-7, 4), (-8, 8)])
def test_signed_divisions_of_known_numbers_are_known(size, by):
    """A number divided by a power of two as compilers do it, towards zero, is known."""
    sign, bits = 0xFFFFFFFF if size < 0 else 0, by.bit_length() - 1
    found = folded(rounded(bits), [sign, size % 2**32, 0])
    assert found is not None
    assert (found - 2**32 * (found >> 31)) >> bits == int(size / by)


def test_a_predicate_that_varies_gives_nothing():
    """With a carry from P0, or an unknown word, nothing is known of the sum."""
    assert folded(rounded(2), [0, 8, 0]) == 8
    assert folded(rounded(2, carry=Predicate(0)), [0, 8, 0]) is None
    assert folded(rounded(2), [0, None, 0]) is None


def test_pairs_of_known_words_are_one_number():
    """A source of two words has the second in the register behind the first; the zero register is zero in both."""
    row = machine_row("IMAD.HI.U32")
    assert row is not None
    product = Instruction(row, (Register(0), PT, Register(1), Register(2), Register(4), FALSE))
    assert number_of(product, "c", 3, {"R5": Value(fixed=7)}) == 7 * 2**32 + 3
    assert number_of(product, "c", 3, {"R5": Value()}) is None
    assert number_of(product, "a", 3, {}) == 3
    assert folded(product, [2, 4096, 4096 << 32]) == 4096
    wide = replace(product, row=machine_row("IMAD.WIDE.U32"))
    assert folded(wide, [2, 4096, 4096 << 32]) == (4096 << 32) + 8192
    zero = replace(product, operands=(*product.operands[:4], RZ, FALSE))
    assert number_of(zero, "c", 0, {}) == 0
