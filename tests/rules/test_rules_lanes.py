"""Compiled value functions: bit for bit those of the instruction table."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import REPEATABLE, patterns32, patterns64
from timing import plain_machine

from gpusim.engines.simulate import run_sm
from gpusim.rule import COMPILED
from isa.interpret import interpret
from isa.kernel import Buffer
from isa.listing import read
from isa.table import ROWS

COMPUTED = [row for row in ROWS if row.value is not None]


def text_of(row) -> str:
    """A listing that applies the row to three loaded operands of each lane and stores what comes out."""
    suffix, words = ("", 1) if row.width == 32 else (".64", 2)
    names = {"d": "R16", "P": "P0", "Q": "P1", "a": "R4", "b": "R8", "c": "R12"}
    operands = ", ".join(names[letter] for letter in row.form)
    loads = "\n".join(f"    LDG{suffix} R{4 * i + 4}, [R0+{128 * words * i}]" for i in range(3))
    result = "    SEL R16, 1, RZ, P0" if row.form[0] == "P" else ""
    return f"""
.buffer x u32 {96 * words}
.buffer y u32 {32 * words}
    S2R R0, LANEID
    ISETP.LT P1, R0, 16
    SHL R1, R0, {1 + words}
    IADD R0, R1, c[x]
    IADD R1, R1, c[y]
{loads}
    {row.mnemonic} {operands}
{result}
    STG{suffix} [R1], R16
    EXIT
"""


@pytest.mark.parametrize("row", COMPUTED, ids=lambda row: row.mnemonic)
@settings(REPEATABLE, max_examples=15 if COMPILED else 2)
@given(data=st.data())
def test_each_instruction_computes_the_same_bits(row, data):
    """96 patterns, special cases among them, give in every lane what program order gives."""
    pattern = patterns32() if row.width == 32 else patterns64()
    bits = np.array(data.draw(st.lists(pattern, min_size=96, max_size=96)), np.uint32 if row.width == 32 else np.uint64)
    kernel = read(text_of(row))
    operands = Buffer("x", "<u4", kernel.buffers[0].elements, lambda i: bits.view(np.uint32)[i])
    kernel = replace(kernel, buffers=(operands, kernel.buffers[1]))
    assert np.array_equal(run_sm(kernel, plain_machine()).memory, interpret(kernel).memory)
