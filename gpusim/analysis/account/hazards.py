"""Hazards that wrong control codes, or wrong waits for counts, cause in a simulation with values.

They are exact for this run: an instruction reads a register before a result is written to it, a result is written over
a later one, or a source is overwritten before it is read (gpusim/sm/registers/in_flight/in_flight.py). Other data,
blocks or machines may show others. Scalar loads return in any order; their hazards are found from the program alone.
Those of copies and of matrix instructions of a warpgroup are found in program order, whatever the times
(gpusim/analysis/account/early/missing_waits.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from gpusim.analysis.account.early.hazard import Hazard, line_of
from gpusim.analysis.account.early.missing_waits import has_work, missing_waits
from gpusim.engines.simulate import run_noting
from gpusim.launch.codes.assign_codes import fixed_latency, with_codes
from gpusim.launch.scalar_registers import name_of
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.capacities import NEVER, REGISTERS
from gpusim.sm.unit.opcodes import NEARBY
from gpusim.support.document import KernelKey, MachineKey, OfSettings, doc
from gpusim.support.plural import plural
from isa.amd.waits import unsure_reads
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import register_name
from isa.row import Unit
from isa.text.printer import named

RAW, WAW, WAR = KINDS = ("RAW", "WAW", "WAR")
UNORDERED = "wait for lgkmcnt(0): scalar loads come back in any order"
LATTER = {RAW: "the writer", WAW: "the first writer", WAR: "the reader"}


@dataclass(frozen=True, slots=True)
class Found:
    """The hazards of so many blocks, in the order in which they occurred, and the error that ended the run, if any."""

    hazards: tuple[Hazard, ...]
    blocks: int
    error: UserError | None


class HazardsDocument(OfSettings, frozen=True):
    """Registers and shared memory used too early because of wrong control codes, missing waits or missing fences."""

    kernel: KernelKey
    machine: MachineKey
    blocks: Annotated[int, doc("Blocks that were run.")]
    hazards: Annotated[tuple[Hazard, ...], doc("In the order in which they occurred.")]
    ended: Annotated[str | None, doc("The error that ended the run; null if it ran to its end.")]


def hazards(kernel: Kernel, machine: Machine, *, max_cycles: int = NEVER) -> Found:
    """Run the blocks that fit on one SM at once, with values, and return the hazards.

    Programs must wait by themselves on the machine; one without codes gets assigned ones where the machine obeys them.
    Machine code is followed like a listing with codes. Raises UserError where kernel and machine don't fit.
    """
    fits = occupancy(kernel, machine)
    program = with_codes(kernel.program, machine) if by_codes(machine) else kernel.program
    coded = replace(kernel, program=program, target=None)  # with one, results would count as in time
    blocks = max(kernel.cluster_blocks, min(fits.blocks, -(-kernel.blocks // machine.chip.sms)))
    noted, error = run_noting(coded, machine, blocks=blocks, max_cycles=max_cycles)
    seen = [_noted(coded, machine, *map(int, row)) for row in noted]
    unsure = unsure_reads(kernel.program) if machine.wait_counters else ()
    known = {(hazard.pc, hazard.other) for hazard in seen}
    seen += [_unsure(kernel, *pair) for pair in unsure if pair not in known]
    if has_work(coded):
        missing, ended = missing_waits(coded, range(blocks))
        seen, error = seen + missing, error or ended
    return Found(tuple(seen), blocks, error)


def document(kernel: Kernel, machine: Machine, found: Found) -> HazardsDocument:
    """Return the hazards of a kernel on a machine as a document."""
    ended = str(found.error) if found.error else None
    return HazardsDocument(kernel.name, machine.key, found.blocks, found.hazards, ended)


def _unsure(kernel: Kernel, pc: int, load: int) -> Hazard:
    """Return the hazard of a scalar load that returned in time in this run only by chance."""
    code = kernel.program.instructions
    names = [register_name(r) for r in code[load].writes() if r in (*code[pc].reads(), *code[pc].writes())]
    register = names[0]
    deed = f"{named(kernel.program, pc)} may come before {named(kernel.program, load)} has written it"
    return Hazard(RAW, register, pc, line_of(kernel, pc), load, line_of(kernel, load), 0, deed, UNORDERED)


def _noted(kernel: Kernel, machine: Machine, kind: int, pc: int, name: int, other: int, times: int) -> Hazard:
    register = name_of(kernel.program, name) if name < REGISTERS else f"P{name - REGISTERS}"
    own, its = named(kernel.program, pc), named(kernel.program, other)
    deed = {
        RAW: f"{own} reads it before {its} has written it",
        WAW: f"{its} writes over the later result of {own}",
        WAR: f"{own} overwrites it before {its} has read it",
    }[KINDS[kind]]
    mend = _mend(KINDS[kind], kernel.program.instructions[other], machine)
    return Hazard(KINDS[kind], register, pc, line_of(kernel, pc), other, line_of(kernel, other), times, deed, mend)


def _count_for(other: Instruction) -> str:
    if other.row.unit is Unit.SMEM:
        return UNORDERED
    counter = "lgkmcnt" if other.row.unit in NEARBY else "vmcnt"
    return f"wait with S_WAITCNT until {counter} is no more than the accesses after it"


def _mend(kind: str, other: Instruction, machine: Machine) -> str:
    """Return the advice which code, or count, makes one instruction wait for the other."""
    if machine.wait_counters:
        return _count_for(other)
    latency = fixed_latency(other, machine) if kind != WAR else 0
    if latency:
        return f"raise stall counts until {plural(latency, 'cycle')} lie between the two"
    name, code = "read" if kind == WAR else "write", other.control
    barrier = (code.read_barrier if kind == WAR else code.write_barrier) if code else None
    if barrier is None:
        return f"give {LATTER[kind]} a {name} barrier, and let the other wait for it"
    return f"let the other wait for barrier {barrier}, the {name} barrier of {LATTER[kind]}"
