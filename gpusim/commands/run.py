"""`gpusim run`: simulate a kernel on a machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gpusim.analysis.account import report, run_document
from gpusim.analysis.account.energy import Spent, known, spent
from gpusim.asked import Sample
from gpusim.commands.arguments import (
    Architecture,
    CodeOptions,
    Estimate,
    Force,
    Json,
    KernelName,
    LaunchFile,
    MachineOfKernel,
    MaxCycles,
    NvccFlags,
    Overrides,
    Parameters,
    Policy,
    SmsOption,
    Strict,
    Threads,
    among,
    changes,
    cycles_of,
    kernel_of,
    machine_of,
    percent_of,
    placed,
    sms_of,
    whole_number,
)
from gpusim.commands.document import show, write_json
from gpusim.commands.notices import ineffective_settings, tell_of_channels, tell_of_others, tell_of_turns
from gpusim.commands.progress import begin_compiling, shown
from gpusim.engines.estimated import tolerated
from gpusim.engines.simulate import ENGINES, write_trace
from gpusim.machine.machine import facts, seconds
from gpusim.machine.simulated_sms import count
from gpusim.simulation import Result, simulate
from gpusim.support import whole_file
from gpusim.units.cache import tagged
from gpusim.units.capacities import NEVER
from gpusim.walks.traffic import traffic
from isa.errors import UserError
from isa.executing.faults import LIMIT

WRONG_VALUES = 1  # exit code
Engine = Annotated[
    str, typer.Option("--engine", help="compiled, or reference (SimPy, slow).", autocompletion=among(ENGINES))
]


def run(
    kernel: KernelName,
    *,
    machine: MachineOfKernel = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    policy: Policy = None,
    engine: Engine = "compiled",
    max_cycles: MaxCycles = None,
    fast_forward: Annotated[
        bool, typer.Option("--fast-forward/--no-fast-forward", help="Skip whole periods of a steady state, exactly.")
    ] = True,
    sample: Annotated[
        str | None, typer.Option("--sample", help="Estimate time from so many blocks; or all: compute all values.")
    ] = None,
    estimate: Estimate = None,
    sms: SmsOption = "1",
    threads: Threads = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Write a trace of one SM, record by record, to a .npy file (large).")
    ] = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    energy: Annotated[
        bool, typer.Option("--energy", help="Compute energy from words at each level and [energy] of the machine.")
    ] = False,
    json: Json = False,
) -> None:
    """Simulate a kernel: values checked, cycles, bound, and where the lost cycles went. Wrong values end with code 1.

    Machine code and CUDA C run with the launch file beside them, which gpusim launch writes; docs/sass.md says more.

    Example: gpusim run sgemm-lai --machine gtx580-1566 -p layout=nt -p lds=64
    """
    percent = percent_of(estimate)
    chosen = kernel_of(kernel, parameter or (), CodeOptions(architecture, launch, nvcc_flags, force, strict), machine)
    machine, setting = placed(chosen, machine, setting or ())
    where = machine_of(machine, setting, policy)
    settings, which = changes(where, setting), sms_of(sms)
    count(where, which)
    if trace:
        tolerated(percent, engine=engine, sample=None, sms=1, trace=True, fast_forward=True)
        whole_file.check(trace)
    if energy:
        known(where, chosen.warp_size)
    unfelt = ineffective_settings(chosen, machine, setting, policy, energy=energy, sms=which)
    tell_of_channels(kernel, where, which)
    begin_compiling(engine, which, in_turn=tagged(where))
    limit = cycles_of(kernel, max_cycles)
    simulated = partial(simulate, chosen, where, engine=engine, max_cycles=limit, sms=which, threads=threads)
    with shown(chosen.name) as tell:
        result = simulated(sample=_sample(sample), progress=tell, fast_forward=fast_forward, estimate=percent)
        if trace:
            write_trace(chosen, where, trace, engine=engine, max_cycles=limit or NEVER, progress=tell)
        joules = _spent(result, machine) if energy else None
    tell_of_turns(result.run, threads)
    tell_of_others(result, chosen, which)
    if json:
        write_json(run_document.document(result, settings, joules), unfelt)
    else:
        show(report.screen(result, settings, joules))
    if result.verification.wrong:
        raise typer.Exit(WRONG_VALUES)


def _spent(result: Result, machine: str) -> Spent:
    """Return the energy of the launch in the time that was simulated; `machine` names the file of its energies."""
    forwarding = bool(known(result.machine).forwarding)
    limit = max(LIMIT, result.run.warp_instructions)
    moved = traffic(result.kernel, forwarding=forwarding, limit=limit)
    methods = {path.removeprefix("energy."): fact.method for path, fact in facts(machine).items()}
    return spent(moved, result.machine, seconds(result.machine, result.cycles), methods)


def _sample(text: str | None) -> Sample:
    if text is None or text == "all":
        return text
    if not (blocks := whole_number(text)):
        raise UserError(f"--sample {text}: give a number of blocks, or all")
    return blocks
