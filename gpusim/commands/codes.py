"""`gpusim codes`: a program with the control codes that a machine obeys."""

from __future__ import annotations

from dataclasses import replace

from gpusim.assign_codes import with_codes
from gpusim.commands.arguments import Json, KernelName, MachineName, Overrides, Parameters, kernel_of, machine_of
from gpusim.commands.document import write, write_json
from gpusim.machine import Machine, by_codes
from isa import control, listing
from isa.errors import UserError
from isa.kernel import Kernel
from isa.printer import show, show_instruction
from isa.program import Program
from workloads.catalog import CATALOG


def codes(
    kernel: KernelName,
    *,
    machine: MachineName = "v100",
    parameter: Parameters = None,
    setting: Overrides = None,
    json: Json = False,
) -> None:
    """Print a program with control codes: its own, or those that it gets on a machine that obeys them.

    A listing is printed whole, as the other commands read it; of a kernel of the catalog the program alone.

    Example: gpusim codes examples/saxpy.asm --machine h200
    """
    chosen, where = kernel_of(kernel, parameter or ()), machine_of(machine, setting or (), None)
    program = obeyed(chosen, where)
    if json:
        write_json(_as_dict(chosen, where, program))
    else:
        write(show(program) if kernel in CATALOG else listing.write(replace(chosen, program=program)))


def obeyed(kernel: Kernel, machine: Machine) -> Program:
    """Return the program with its codes; raises UserError where the machine obeys none."""
    if not by_codes(machine):
        raise UserError(f"{machine.key}: it obeys no control codes; take v100 or h200")
    return with_codes(kernel.program, machine)


def _as_dict(kernel: Kernel, machine: Machine, program: Program) -> dict[str, object]:
    return {
        "kernel": kernel.name,
        "machine": machine.key,
        "assigned": program is not kernel.program,
        "instructions": [
            {
                "pc": pc,
                "line": instruction.line,
                "code": control.show(instruction.control) if instruction.control else None,
                "text": show_instruction(instruction),
            }
            for pc, instruction in enumerate(program.instructions)
        ],
    }
