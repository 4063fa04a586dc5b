"""Special registers, negation and partly filled warps."""

import numpy as np
import pytest
from interpreter.interpret import interpret
from timing import run_text

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import PT, SPECIALS, Address, Immediate, Register
from isa.program import Program
from isa.table import TABLE, machine_row
from isa.text.listing import read

STORE = """
.grid 2 2 1
.block 6 4 3
.buffer y u32 384
    S2R R0, {special}
    S2R R1, CTAID.X
    S2R R2, CTAID.Y
    IMAD R1, R2, 2, R1
    S2R R3, WARPID
    IMAD R1, R1, 3, R3
    S2R R3, LANEID
    SHL R1, R1, 5
    IADD R1, R1, R3
    SHL R1, R1, 2
    IADD R1, R1, c[y]
    STG [R1], {value}
    EXIT
"""


@pytest.mark.parametrize("special", SPECIALS)
def test_special_registers_are_those_of_the_interpreter(special):
    """Each special register equals the interpreter's in every lane of every block of a launch in three dimensions."""
    text = STORE.format(special=special, value="R0")
    assert np.array_equal(run_text(text).memory, interpret(read(text)).memory)


def test_lanes_without_a_thread_are_never_active():
    """72 threads are two warps and 8 lanes of a third: each of 4 blocks counts 72 active threads in 3 issues."""
    run = run_text(STORE.format(special="LANEID", value="R0"))
    assert run.active[0] == 4 * 72
    assert run.issued[0] == 4 * 3


@pytest.mark.parametrize(
    "instruction", ["FADD R4, -R0, R0", "IADD R4, -R0, 5", "FFMA R4, R0, -R0, R0", "IADD R4, -RZ, R0"]
)
def test_a_minus_means_what_it_does_in_program_order(instruction):
    """A sign before a register turns a number's sign bit, or an integer's two's complement."""
    text = STORE.format(special="TID.X", value="R4").replace("    STG", f"    {instruction}\n    STG")
    assert np.array_equal(run_text(text).memory, interpret(read(text)).memory)


def test_a_register_that_no_function_gives_stays():
    """QSPC tells a predicate; the register that its form has is not what an instruction before it computed."""
    code = (
        Instruction(TABLE["IADD"], (Register(1), Immediate(7, "int"), Immediate(0, "int"))),
        Instruction(machine_row("QSPC.E.S"), (PT, Register(0), Address(Register(2), 0))),
        Instruction(TABLE["EXIT"], ()),
    )
    run = run_sm(Kernel("k", Program(code, {}), (1, 1, 1), (32, 1, 1)), load("h200"))
    assert run.registers[0, 0].tolist() == [0] * 32
    assert run.registers[0, 1].tolist() == [7] * 32
