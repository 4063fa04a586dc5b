"""`gpusim hazards`: registers read or written too early because of wrong control codes or missing waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gpusim.commands.arguments import (
    MOST_WHOLE,
    OBEYS,
    Architecture,
    CodeOptions,
    Force,
    Json,
    KernelName,
    LaunchFile,
    MachineOfCodes,
    NvccFlags,
    Overrides,
    Parameters,
    Strict,
    kernel_of,
    machine_of,
    placed,
)
from gpusim.commands.codes import obeyed
from gpusim.commands.document import write, write_json
from gpusim.commands.notices import ineffective_settings
from gpusim.commands.progress import shown
from gpusim.machine.machine import Machine
from gpusim.support.plural import plural
from isa.kernel import Kernel

if TYPE_CHECKING:
    from gpusim.analysis.account.hazards import Found

FOUND = 1  # exit code
MOST = 10_000_000  # cycles: wrong values may keep a loop from ending
MaxCycles = Annotated[int, typer.Option("--max-cycles", min=1, max=MOST_WHOLE, help="Stop after so many cycles.")]


def hazards(
    kernel: KernelName,
    *,
    machine: MachineOfCodes = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    max_cycles: MaxCycles = MOST,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Find registers that are read or written too early because codes or waits are wrong. A hazard ends with code 1.

    The command runs the blocks that fit on one SM at once, with values.

    Example: gpusim hazards examples/saxpy.asm --machine h200
    """
    chosen = kernel_of(kernel, parameter or (), CodeOptions(architecture, launch, nvcc_flags, force, strict), machine)
    machine, setting = placed(chosen, machine, setting or (), OBEYS)
    where = machine_of(machine, setting, None)
    if where.wait_counters is None:
        obeyed(chosen, where)
    unfelt = ineffective_settings(chosen, machine, setting, None)
    from gpusim.analysis.account import hazards as analysis  # noqa: PLC0415  (--help waits for no compiler)

    with shown(chosen.name):
        found = analysis.hazards(chosen, where, max_cycles=max_cycles)
    if found.error and not found.hazards:
        raise found.error
    if json:
        write_json(analysis.document(chosen, where, found), unfelt)
    else:
        write(_text(chosen, where, found))
    if found.hazards:
        raise typer.Exit(FOUND)


def _text(kernel: Kernel, machine: Machine, found: Found) -> str:
    scope = f"{plural(found.blocks, 'block')} on {machine.key}"
    if not found.hazards:
        return f"{kernel.name}: no hazard in {scope}\n"
    head = f"{kernel.name}: {plural(len(found.hazards), 'hazard')} in {scope}"
    ended = [f"then the run ended, as wrong values may make it: {found.error}"] if found.error else []
    return "".join(f"{line}\n" for line in (head, *found.hazards, *ended))
