"""Compiled value functions: bit for bit those of the instruction table."""

from dataclasses import replace

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, patterns32, patterns64
from timing import plain_machine

from gpusim.engines.simulate import run_sm
from gpusim.sm.jit.rule import COMPILED
from isa.amd.text import show_register
from isa.kernel import Buffer
from isa.table import ROWS
from isa.text.listing import read
from isa.text.operand_text import takes_negation

COMPUTED = [row for row in ROWS if (row.value or row.across) and not row.mnemonic.startswith("S_")]  # not of lanes


def text_of(row, signs=("", "", ""), zeros=()) -> str:
    """A listing that applies the row to three loaded operands of each lane, or RZ, and stores the results."""
    (suffix, words), (to, stored) = (("", 1) if width == 32 else (".64", 2) for width in (row.source.width, row.width))
    names = {"d": "R16", "P": "P0", "Q": "P1", "a": "R4", "b": "R8", "c": "R12", "n": "0xca"}
    names |= {
        letter: sign + ("RZ" if letter in zeros else names[letter]) for letter, sign in zip("abc", signs, strict=True)
    }
    if row.is_gcn:
        places = {"d": 16, "D": 16, "a": 4, "b": 8, "c": 12}
        signed = dict(zip("abc", signs, strict=True))
        names |= {letter: signed.get(letter, "") + show_register(n, words) for letter, n in places.items()}
    operands = ", ".join(names[letter] for letter in row.form)
    operands = {"P": f"VCC, {operands}", "Q": f"{operands}, VCC"}.get("".join(x for x, _ in row.implied), operands)
    loads = "\n".join(f"    LDG{suffix} R{4 * i + 4}, [R0+{128 * words * i}]" for i in range(3))
    result = f"    SEL R16, 1, RZ, {'P5' if row.is_gcn else 'P0'}" if row.compares else ""
    return f"""
.buffer x u32 {96 * words}
.buffer y u32 {32 * stored}
    S2R R0, LANEID
    ISETP.LT P1, R0, 16
    ISETP.LT P5, R0, 16
    SHL R1, R0, {1 + words}
    SHL R2, R0, {1 + stored}
    IADD R0, R1, c[x]
    IADD R1, R2, c[y]
{loads}
    {row.mnemonic} {operands}
{result}
    STG{to} [R1], R16
    EXIT
"""


@pytest.mark.parametrize("row", COMPUTED, ids=lambda row: row.mnemonic)
@settings(REPEATABLE, max_examples=draws(15 if COMPILED else 2, 1))
@given(data=st.data())
def test_each_instruction_computes_the_same_bits(row, data):
    """96 patterns, special cases among them, give in every lane what program order gives."""
    bits = data.draw(operands(row))
    check_against_program_order(read(text_of(row)), bits)


@pytest.mark.parametrize("row", [row for row in COMPUTED if takes_negation(row)], ids=lambda row: row.mnemonic)
@settings(REPEATABLE, max_examples=draws(12 if COMPILED else 3, 1))
@given(data=st.data())
def test_a_minus_means_what_it_does_in_program_order(row, data):
    """A sign before any source, register or RZ, turns a number's sign bit or an integer's two's complement."""
    signs = data.draw(st.tuples(*[st.sampled_from(("", "-"))] * 3))
    zeros = data.draw(st.sets(st.sampled_from("abc")))
    bits = data.draw(operands(row))
    check_against_program_order(read(text_of(row, signs, zeros)), bits)


def operands(row):
    """Three operands for each lane, as a strategy: patterns as wide as the row's sources."""
    pattern, kind = (patterns32(), np.uint32) if row.source.width == 32 else (patterns64(), np.uint64)
    return st.lists(pattern, min_size=96, max_size=96).map(lambda bits: np.array(bits, kind))


def check_against_program_order(kernel, bits) -> None:
    """Assert that the engine's memory equals the interpreter's, with `bits` as operands."""
    operands = Buffer("x", "<u4", kernel.buffers[0].elements, lambda i: bits.view(np.uint32)[i])
    kernel = replace(kernel, buffers=(operands, kernel.buffers[1]))
    assert np.array_equal(run_sm(kernel, plain_machine()).memory, interpret(kernel).memory)
