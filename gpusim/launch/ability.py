"""Find instructions that a machine can't execute."""

from __future__ import annotations

from gpusim.machine.machine import Machine
from gpusim.machine.schema import PIPE_UNITS
from isa.errors import UserError
from isa.instruction import Instruction
from isa.program import Program
from isa.row import Row, Unit


def check(program: Program, pc: int, instruction: Instruction, machine: Machine) -> None:
    """Raise UserError, with the place, for an instruction for which the machine has no unit, register or barrier.

    `instruction` is the program's own at pc, its registers numbered as the machine has them: those that a warp shares
    follow a thread's.
    """
    check_row(program, pc, instruction.row, machine)
    check_operands(program, pc, instruction, machine)


def check_row(program: Program, pc: int, form: Row, machine: Machine) -> None:
    """Raise UserError, with the place, for a row of the table for which the machine has no unit."""
    unit = form.unit
    if unit in PIPE_UNITS and unit not in machine.unit:
        raise UserError(
            f"{program.place(pc)}: {machine.key} has no {form.mnemonic}: its file gives unit class "
            f"{unit} no pipe; {_fix(program, 'another instruction')}"
        )
    if unit is Unit.SYNC and (machine.mbarrier is None or machine.copy_engine is None):
        raise UserError(
            f"{program.place(pc)}: {machine.key} has no {form.mnemonic}: its file has no [mbarrier] or no "
            f"[copy_engine]; {_fix(program, 'another instruction')}"
        )
    if form.matrix and form.matrix not in machine.matrix:
        raise UserError(
            f"{program.place(pc)}: {machine.key} has no {form.mnemonic}: its file has no "
            f"[matrix.{form.matrix}]; {_fix(program, 'another instruction')}"
        )
    if unit is Unit.CONSTANT and machine.constant_cache is None:
        raise UserError(
            f"{program.place(pc)}: {machine.key} has no {form.mnemonic}: its file has no "
            f"[constant_cache]; {_fix(program, 'LDG')}"
        )
    if unit is Unit.WARPGROUP and machine.warpgroup is None:
        raise UserError(
            f"{program.place(pc)}: {machine.key} has no {form.mnemonic}: its file has no [warpgroup]; "
            f"{_fix(program, 'another instruction')}"
        )


def check_operands(program: Program, pc: int, instruction: Instruction, machine: Machine) -> None:
    """Raise UserError, with the place, for a register or barrier that the machine does not have."""
    limit = machine.limits.registers_per_thread
    if instruction.row.unit is Unit.BARRIER:
        _check_barrier(program, pc, instruction, machine)
    if program.registers <= limit:
        return
    highest = max((r for r in (*instruction.reads(), *instruction.writes()) if r < program.registers), default=-1)
    if highest >= limit:
        raise UserError(
            f"{program.place(pc)}: R{highest} needs {highest + 1} registers per thread, "
            f"{machine.key} has {limit} (R0 to "
            f"R{limit - 1}); use fewer registers or a machine with more"
        )


def _fix(program: Program, other: str) -> str:
    """Return what to take: instructions of machine code are the compiler's choice."""
    return "take another machine" if program.origins else f"take {other} or another machine"


def _check_barrier(program: Program, pc: int, instruction: Instruction, machine: Machine) -> None:
    barrier, threads = instruction.barrier()
    if barrier >= machine.limits.barriers:
        raise UserError(
            f"{program.place(pc)}: barrier {barrier} is beyond the {machine.limits.barriers} of {machine.key}; "
            "use a lower one"
        )
    if threads and not program.has_independent_lanes and threads % machine.limits.warp_size:
        raise UserError(
            f"{program.place(pc)}: {threads} threads are no whole warps; take a multiple of {machine.limits.warp_size}"
        )
