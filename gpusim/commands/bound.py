"""`gpusim bound`: the analytic bound of a kernel on a machine, without simulating it."""

from __future__ import annotations

from gpusim.commands.arguments import (
    Architecture,
    CodeOptions,
    Force,
    Json,
    KernelName,
    LaunchFile,
    MachineOfKernel,
    MaxInstructions,
    NvccFlags,
    Overrides,
    Parameters,
    Policy,
    Strict,
    changes,
    instructions_of,
    kernel_of,
    machine_of,
    placed,
)
from gpusim.commands.document import show, write_json
from gpusim.commands.notices import ineffective_settings
from gpusim.commands.progress import shown


def bound(
    kernel: KernelName,
    *,
    machine: MachineOfKernel = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    policy: Policy = None,
    max_instructions: MaxInstructions = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Bound a kernel's cycles from below: issue slots, pipes, load/store unit, bandwidth, dependence chain.

    Example: gpusim bound sgemm-lai --machine gtx580 -p lds=128
    """
    chosen = kernel_of(kernel, parameter or (), CodeOptions(architecture, launch, nvcc_flags, force, strict), machine)
    machine, setting = placed(chosen, machine, setting or ())
    where = machine_of(machine, setting, policy)
    from gpusim.analysis.account import report, run_document  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.bounds import bounds  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.machine.occupancy import occupancy  # noqa: PLC0415

    limit, settings = instructions_of(kernel, max_instructions, bounds.LIMIT), changes(where, setting)
    unfelt = ineffective_settings(chosen, machine, setting, policy)
    with shown(chosen.name):
        facts = chosen, where, bounds.bound(chosen, where, limit=limit), occupancy(chosen, where), settings
    if json:
        write_json(run_document.bound_document(*facts), unfelt)
    else:
        show(report.bound_screen(*facts))
