"""Machines without a unit for an instruction refuse it with what else to take."""

import pytest
from machine_code import saxpy

from gpusim.launch.ability import check
from gpusim.machine.machine import load
from isa.errors import UserError
from isa.instruction import Instruction
from isa.operands.operand import Address, BankConstant, Register
from isa.table import machine_row
from isa.text.assembler import assemble

LDC = Instruction(machine_row("LDC"), (Register(0), Address(Register(255), 0, bank=BankConstant(0, 0))))


def refusal(program, instruction, machine):
    """Return the message on the instruction at pc 0."""
    with pytest.raises(UserError) as caught:
        check(program, 0, instruction, load(machine))
    return str(caught.value)


def test_another_instruction_is_proposed_of_listings_only():
    """Who has written an instruction may write another; of machine code, another machine is what may be taken."""
    listing, code = assemble("EXIT\n"), saxpy().program
    uniform = Instruction(machine_row("UMOV"), (Register(8), Register(9)))
    assert refusal(listing, LDC, "v100").endswith("its file has no [constant_cache]; take LDG or another machine")
    assert refusal(code, LDC, "v100").endswith("its file has no [constant_cache]; take another machine")
    ending = "its file gives unit class uniform no pipe; take another"
    assert refusal(listing, uniform, "v100").endswith(f"{ending} instruction or another machine")
    assert refusal(code, uniform, "v100").endswith(f"{ending} machine")
    assert refusal(code, LDC, "v100").startswith("saxpy+0x0 LDC R1, c[0x0][0x28]")
