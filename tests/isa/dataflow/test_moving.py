"""Words that move from block to block: each known step, content and zero bit is what all blocks of random code have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE
from strategies.machine_code import EVERY_ROW, REGISTERS, kernels

from isa.dataflow.block_step import block_steps, states
from isa.dataflow.moving import STILL, ZERO, Value, plus, product, times
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import FIRST_SCALAR, PT, RZ, Immediate, Register, Special
from isa.program import Program
from isa.table import TABLE, machine_row

GRID = 3, 2, 2
FALSE = replace(PT, negated=True)
# Rows whose steps are followed, and rows that make the words with which they may go wrong.
SUMS = (
    *(
        "IADD3",
        "IADD3.X",
        "IMAD",
        "IMAD.X",
        "IMAD.WIDE",
        "IMAD.WIDE.U32",
        "IMAD.WIDE.U32.X",
        "LEA",
        "LEA.HI",
        "LEA.HI.X",
    ),
    *("SHF.L.U32", "SHF.L.U64.HI", "SHF.R.S32.HI", "LOP3.LUT", "MOV", "SEL", "VIADD", "IMAD.HI.U32", "ISETP.LT.AND"),
    *(
        "UIADD3",
        "UIMAD",
        "UIMAD.WIDE.U32",
        "ULEA",
        "LEA.HI",
        "USHF.L.U32",
        "USHF.R.U32.HI",
        "ULOP3.LUT",
        "UMOV",
        "ULDC",
        "ULDC.64",
    ),
)
ROWS = st.sampled_from([row for row in map(machine_row, SUMS) if row is not None])


@st.composite
def grids(draw, some):
    """A launch of twelve blocks of straight code; some registers begin as multiples of a block's coordinates."""
    kernel = draw(kernels(some))
    *start, end = kernel.program.instructions
    length = 1 + 2 * REGISTERS
    places = []
    for axis in "XYZ":
        index, shift = draw(st.integers(0, REGISTERS - 1)), draw(st.integers(0, 12))
        place = Register(draw(st.sampled_from((index, FIRST_SCALAR + index % 4))))
        of = "S2UR" if place.index >= FIRST_SCALAR else "S2R"
        more = "UIMAD" if place.index >= FIRST_SCALAR else "IMAD"
        places.append(Instruction(machine_row(of) or TABLE[of], (place, Special(f"CTAID.{axis}"))))
        places.append(multiple(more, place, 1 << shift))
    program = replace(kernel.program, instructions=(*start[:length], *places, *start[length:], end))
    return replace(kernel, program=program, grid=GRID)


def multiple(mnemonic, place, factor):
    """The instruction that multiplies a register by a number."""
    row = machine_row(mnemonic)
    by_letter = {"d": place, "a": place, "b": Immediate(factor, "int"), "c": RZ, "Q": FALSE}
    return Instruction(row, tuple(by_letter[letter] for letter in row.form))


def contents(kernel, block):
    """What a block leaves in each register and predicate, by name, of all its threads."""
    left = interpret(kernel, blocks=[block])
    named = {f"R{index}": held for index, held in enumerate(left.registers)}
    named |= {f"P{index}": held for index, held in enumerate(left.predicates)}
    return {name: held.reshape(-1)[: kernel.threads].astype(np.int64) for name, held in named.items()}


def check(kernel):
    """Assert what is known of each name at the end, in all blocks; return how many names are known to move."""
    known = states(kernel)[-1]
    first = contents(kernel, 0)
    for block in range(kernel.blocks):
        at = block % GRID[0], block // GRID[0] % GRID[1], block // (GRID[0] * GRID[1])
        for name, now in contents(kernel, block).items():
            value = known.get(name, ZERO if name.startswith("R") else Value())
            if name == f"P{PT.index}" or value.step is None:
                continue
            distance = sum(step * place for step, place in zip(value.step, at, strict=True))
            assert not ((now - first[name] - distance) % 2**32).any(), (name, value)
            assert value.fixed is None or (now == value.fixed).all(), (name, value)
            assert not (now % (1 << value.zeros)).any(), (name, value)
    return sum(value.step not in (None, STILL) for value in known.values())


@settings(REPEATABLE, max_examples=draws(40, 6))
@given(grids(ROWS) | grids(EVERY_ROW))
def test_what_is_known_holds_in_every_block(kernel):
    """Unless guards differ between blocks, each known step, content and zero bit is that of all blocks' registers."""
    if block_steps(kernel) is not None:
        check(kernel)


@pytest.mark.parametrize("count", [0, 5, 31, 32])
def test_a_word_that_is_shifted_out_moves_no_more(count):
    """A block's index times two to the power of count moves by that modulo 2**32; shifted by 32 it is 0 everywhere."""
    row = machine_row("LEA")
    by_letter = {"d": Register(2), "P": PT, "a": Register(0), "b": RZ, "n": Immediate(count, "int"), "Q": FALSE}
    program = (
        Instruction(machine_row("S2R") or TABLE["S2R"], (Register(0), Special("CTAID.X"))),
        Instruction(row, tuple(by_letter[letter] for letter in row.form)),
        Instruction(machine_row("EXIT") or TABLE["EXIT"], ()),
    )
    kernel = Kernel("shifted", Program(program), grid=GRID, block=(32, 1, 1))
    check(kernel)
    assert states(kernel)[-1]["R2"].step == ((1 << count) % 2**32, 0, 0)


@pytest.mark.long
def test_random_code_has_words_that_move_and_words_that_are_unknown():
    """The random launches are a test: of 60 some leave words that move by a step, and some have irregular words."""
    moving = irregular = 0

    @settings(REPEATABLE, max_examples=60)
    @given(grids(ROWS))
    def count(kernel):
        nonlocal moving, irregular
        if block_steps(kernel) is not None:
            values = states(kernel)[-1].values()
            moving += any(value.step not in (None, STILL) for value in values)
            irregular += any(value.step is None for value in values)

    count()
    assert moving >= 20
    assert irregular >= 5


WORDS = st.integers(0, 2**32 - 1)


@given(WORDS, WORDS)
def test_fixed_words_are_computed(a, b):
    """Of fixed words sums and products are fixed, modulo 2**32, and so are their lowest zero bits."""
    one, other = Value(STILL, a), Value(STILL, b)
    for found, expected in ((plus(one, other), a + b), (product(one, other), a * b), (times(one, b), a * b)):
        assert (found.step, found.fixed) == (STILL, expected % 2**32)
        assert expected % (1 << found.zeros) == 0


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [
        (Value((1, 0, 0)), 64, Value((64, 0, 0), None, 6)),
        (Value((0, 3, 0), None, 2), 12, Value((0, 36, 0), None, 4)),
        (Value((1, 0, 0)), 0, Value(STILL, None, 32)),
        (Value(None), 64, Value(None)),
    ],
)
def test_a_product_has_the_zero_bits_of_its_factors(value, factor, expected):
    """Times 2**n there are n more zero bits below; times 0 all bits are zero; what is unknown stays unknown."""
    assert times(value, factor) == expected
