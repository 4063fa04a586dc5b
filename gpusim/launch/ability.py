"""Find instructions that a machine can't execute."""

from __future__ import annotations

from gpusim.machine.machine import Machine
from gpusim.machine.schema import PIPE_UNITS
from isa.errors import UserError
from isa.instruction import Instruction
from isa.table import Unit


def check(pc: int, instruction: Instruction, machine: Machine) -> None:
    """Raise UserError, with the place, for an instruction for which the machine has no unit, register or barrier."""
    limit, unit = machine.limits.registers_per_thread, instruction.row.unit
    if unit is Unit.BARRIER:
        _check_barrier(pc, instruction, machine)
    if unit in PIPE_UNITS and unit not in machine.unit:
        raise UserError(
            f"{instruction.place(pc)}: {machine.key} has no {instruction.row.mnemonic}: its file gives unit class "
            f"{unit} no pipe; take another instruction or another machine"
        )
    if unit is Unit.CONSTANT and machine.constant_cache is None:
        raise UserError(
            f"{instruction.place(pc)}: {machine.key} has no {instruction.row.mnemonic}: its file has no "
            "[constant_cache]; take LDG or another machine"
        )
    highest = max((*instruction.reads(), *instruction.writes()), default=-1)
    if highest >= limit:
        raise UserError(
            f"{instruction.place(pc)}: R{highest} needs {highest + 1} registers per thread, "
            f"{machine.key} has {limit} (R0 to "
            f"R{limit - 1}); use fewer registers or a machine with more"
        )


def _check_barrier(pc: int, instruction: Instruction, machine: Machine) -> None:
    barrier, threads = instruction.barrier()
    if barrier >= machine.limits.barriers:
        raise UserError(
            f"{instruction.place(pc)}: barrier {barrier} is beyond the {machine.limits.barriers} of {machine.key}; "
            "use a lower one"
        )
    if threads and threads % machine.limits.warp_size:
        raise UserError(
            f"{instruction.place(pc)}: {threads} threads are no whole warps; take a multiple of "
            f"{machine.limits.warp_size}"
        )
