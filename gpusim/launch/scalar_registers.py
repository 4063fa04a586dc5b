"""Scalar registers in an SM: they follow the registers of a thread, or RZ, and every lane holds the same value.

So all rules that read, write, wait for and compare registers also handle them. A wave's lanes must then never diverge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpusim.machine.machine import Machine
from isa.dataflow.lanes.divergence import OWN, reconvergence_points
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import FIRST_SCALAR, RZ_INDEX, Address, Operand, Register, is_scalar, register_name
from isa.program import Program
from isa.row import Unit
from isa.table import takes_uniform


def in_place(kernel: Kernel, program: Program, machine: Machine) -> Sequence[Instruction]:
    """Return a program's instructions with scalar registers renumbered: each has its place in the SM's file.

    Raises UserError for a scalar register that the machine lacks, and if lanes may diverge.
    """
    if not program.scalars:
        return program.instructions
    if not kernel.banks:
        _check(kernel, program, machine)
    return [_with_renumbered(instruction, program) for instruction in program.instructions]


def name_of(program: Program, place: int) -> str:
    """Return the name of the register at that place of the SM's file: R3, s3."""
    beyond = place - _first(program)
    return register_name(place if beyond < 0 else FIRST_SCALAR + beyond)


def by_index(held: NDArray[np.uint32], program: Program) -> NDArray[np.uint32]:
    """Return [warp slot, register, lane] by the program's indices, from the same array by place."""
    if not program.scalars:
        return held
    found = np.zeros((len(held), program.register_rows, held.shape[-1]), np.uint32)
    found[:, : program.registers], found[:, FIRST_SCALAR:] = held[:, : program.registers], held[:, _first(program) :]
    return found


def places(program: Program) -> int:
    """Return the places of the SM's file that a thread's registers and the scalar ones take."""
    return _first(program) + program.scalars if program.scalars else program.registers


def _first(program: Program) -> int:
    """Return the place of the first scalar register: RZ's has none, and registers that are one number must not part."""
    follow = program.registers + program.scalars <= RZ_INDEX
    return program.registers if follow else RZ_INDEX + 1


def place_of(program: Program, index: int) -> int:
    """Return the place of the register of that index in the SM's file."""
    return index if index < FIRST_SCALAR else _first(program) + index - FIRST_SCALAR


def _with_renumbered(instruction: Instruction, program: Program) -> Instruction:
    """Return an instruction with its scalar registers renumbered; without any it is the same object."""
    if max((*instruction.reads(), *instruction.writes()), default=0) < FIRST_SCALAR:
        return instruction
    return replace(instruction, operands=tuple(_renumbered(o, program) for o in instruction.operands))


def _renumbered(operand: Operand, program: Program) -> Operand:
    if isinstance(operand, Address):
        uniform = _in_place(operand.uniform, program) if operand.uniform else None
        return replace(operand, base=_in_place(operand.base, program), uniform=uniform)
    return _in_place(operand, program) if isinstance(operand, Register) else operand


def _in_place(register: Register, program: Program) -> Register:
    return replace(register, index=place_of(program, register.index)) if is_scalar(register) else register


def _check_special(program: Program, pc: int) -> None:
    """Raise UserError for a scalar register that would have to hold a different number in each lane."""
    instruction = program.instructions[pc]
    if instruction.row.reads_special and is_scalar(instruction.operands[0]):
        name = str(getattr(instruction.operands[1], "name", ""))
        if name.startswith(OWN):
            cause = f"{name} differs between lanes, and a scalar register is one for all"
            raise UserError(f"{program.place(pc)}: {cause}; take a vector register")


def _check(kernel: Kernel, program: Program, machine: Machine) -> None:
    most, scalars = machine.scalar_file.per_warp if machine.scalar_file else 0, False
    for pc, instruction in enumerate(program.instructions):
        highest = max((*instruction.reads(), *instruction.writes()), default=-1)
        uniform = takes_uniform(instruction.row)
        scalars |= highest >= FIRST_SCALAR and not uniform
        if highest >= FIRST_SCALAR and uniform and Unit.UNIFORM not in machine.unit:
            cause = f"UR{highest - FIRST_SCALAR} is a uniform register, {machine.key} has none"
            raise UserError(f"{program.place(pc)}: {cause}; take a machine with them, such as h200")
        if highest >= FIRST_SCALAR + most and not uniform:
            has = f"{machine.key} has {most}, s0 to s{most - 1}" if most else f"{machine.key} has none"
            fix = "take a lower one" if most else "take a machine with them, such as mi60"
            raise UserError(f"{program.place(pc)}: {register_name(highest)} is a scalar register, {has}; {fix}")
        _check_special(program, pc)
    if scalars and reconvergence_points(program):
        cause = "its lanes may part at a guarded branch or exit, and scalar registers belong to all of them"
        raise UserError(f"{kernel.name}: {cause}; branch on SCC")
