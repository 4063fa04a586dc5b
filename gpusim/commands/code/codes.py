"""`gpusim codes`: a program with the control codes that a machine obeys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from gpusim.commands.code.code_lines import lines
from gpusim.commands.frame.arguments import chosen, is_listing
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.notices import ineffective_settings
from gpusim.commands.frame.options import OBEYS, CodeOptions, LaunchOfCodes
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.machine.architecture import check_architecture
from gpusim.machine.machine import Machine
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.support.document import KernelKey, MachineKey, OfSettings, Pc, SourceLine, Text, doc
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia import control
from isa.nvidia.file.names import plain
from isa.program import Program
from isa.reading.literals import is_integer
from isa.text import listing
from isa.text.printer import show, text_of


@dataclass(frozen=True)
class Coded:
    """An instruction and its control code, null where it has none."""

    pc: Pc
    offset: Annotated[int | None, doc("Its byte in the function; null where the program is no machine code.")]
    line: SourceLine
    code: str | None
    text: Text


class CodesDocument(OfSettings, frozen=True):
    """A program with the control codes that a machine obeys."""

    kernel: KernelKey
    machine: MachineKey
    assigned: Annotated[bool, doc("True if gpusim assigned the codes, as the program has none of its own.")]
    instructions: Annotated[list[Coded], doc("The program.")]


def codes(launch: LaunchOfCodes, code: CodeOptions) -> Answer:
    """Print a program with control codes: its own, or those that gpusim assigns for the machine.

    A listing is printed whole, as the other commands read it; of a kernel of the catalog only the program is. Machine
    code is printed as `gpusim sass` does.

    Example: gpusim codes examples/saxpy.asm --machine h200
    """
    at = chosen(launch, code, OBEYS)
    check_architecture(at.kernel, at.machine)
    program = obeyed(at.kernel, at.machine)
    unfelt, coded = ineffective_settings(at), replace(at.kernel, program=program)
    return Answer(
        lambda: _document(at.kernel, at.machine, program), _text(coded, whole=is_listing(launch.kernel)), unfelt
    )


def obeyed(kernel: Kernel, machine: Machine) -> Program:
    """Return the program with its codes; raises UserError where the machine obeys none."""
    if not by_codes(machine):
        raise UserError(f"{machine.key}: it obeys no control codes; take v100 or h200")
    return with_codes(kernel.program, machine)


def _text(kernel: Kernel, *, whole: bool) -> str:
    program = kernel.program
    if not program.origins:
        return listing.write(kernel) if whole else show(program)
    names: dict[int, list[str]] = {}
    for name, pc in program.labels.items():
        if pc < len(program) and not is_integer(name) and plain(name) != program.origins[pc].function:
            names.setdefault(program.origins[pc].offset, []).append(name)
    both = zip(program.origins, program.instructions, strict=True)
    return "".join(lines(((origin, one.control) for origin, one in both if one.control), names))


def _document(kernel: Kernel, machine: Machine, program: Program) -> CodesDocument:
    return CodesDocument(
        kernel=kernel.name,
        machine=machine.key,
        assigned=program is not kernel.program,
        instructions=[_coded(program, pc, i) for pc, i in enumerate(program.instructions)],
    )


def _coded(program: Program, pc: int, one: Instruction) -> Coded:
    offset = program.origins[pc].offset if program.origins else None
    code = control.show(one.control) if one.control else None
    return Coded(pc, offset, program.source(pc)[1], code, text_of(program, pc))
