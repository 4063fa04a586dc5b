"""`gpusim run`: simulate a kernel on a machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from gpusim.analysis.account import report
from gpusim.commands.frame.arguments import chosen, cycles_of, percent_of, sms_of, whole_number
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.notices import (
    ineffective_settings,
    tell_of_channels,
    tell_of_others,
    tell_of_trust,
    tell_of_turns,
)
from gpusim.commands.frame.options import CodeOptions, Estimated, Launch, among
from gpusim.commands.frame.progress import begin_compiling, of_run, shown
from gpusim.engines.estimated import tolerated
from gpusim.engines.simulate import ENGINES, write_trace
from gpusim.machine.machine import facts, seconds
from gpusim.machine.simulated_sms import count
from gpusim.simulation.asked import Sample
from gpusim.simulation.left import complete, printed_by_all
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from gpusim.sm.unit.capacities import NEVER
from gpusim.support import whole_file
from gpusim.support.document import Document, Setting
from isa.errors import UserError
from isa.executing.faults import LIMIT

if TYPE_CHECKING:
    from gpusim.analysis.account.rates.energy import Spent

WRONG_VALUES = 1  # exit code


def run(
    launch: Launch,
    code: CodeOptions,
    how: Estimated,
    engine: Annotated[
        str, Option("--engine", help="compiled, or reference (SimPy, slow).", autocompletion=among(ENGINES))
    ] = "compiled",
    fast_forward: Annotated[
        bool, Option("--fast-forward/--no-fast-forward", help="Skip whole periods of a steady state, exactly.")
    ] = True,
    sample: Annotated[
        str | None, Option("--sample", help="Estimate time from so many blocks; or all: compute all values.")
    ] = None,
    trace: Annotated[
        Path | None, Option("--trace", help="Write a trace of one SM, record by record, to a .npy file (large).")
    ] = None,
    energy: Annotated[
        bool, Option("--energy", help="Compute energy from words at each level and [energy] of the machine.")
    ] = False,
) -> Answer:
    """Simulate a kernel: values checked, cycles, bound, and where the lost cycles went. Wrong values end with code 1.

    Machine code and CUDA C run with the launch file beside them, which gpusim launch writes; docs/sass.md says more.

    Example: gpusim run sgemm-lai --machine gtx580-1566 -p layout=nt -p lds=64
    """
    percent, at, which = percent_of(how.estimate), chosen(launch, code), sms_of(how.sms)
    kernel, machine, settings = at.kernel, at.machine, at.changes
    count(machine, which, kernel)
    if trace:
        tolerated(percent, engine=engine, sample=None, sms=1, trace=True, fast_forward=True)
        whole_file.check(trace)
    if energy:
        from gpusim.analysis.account.rates.energy import known  # noqa: PLC0415  (start-up time)

        known(machine, kernel.warp_size)
    unfelt = ineffective_settings(at, energy=energy, sms=which)
    tell_of_channels(launch.kernel, machine, which)
    begin_compiling()
    limit = cycles_of(launch.kernel, how.max_cycles)
    simulated = partial(simulate, kernel, machine, engine=engine, max_cycles=limit, sms=which, threads=how.threads)
    with shown(kernel.name) as tell:
        result = simulated(sample=_sample(sample), progress=of_run(tell), fast_forward=fast_forward, estimate=percent)
        if trace:
            write_trace(kernel, machine, trace, engine=engine, max_cycles=limit or NEVER, progress=tell)
        joules = _spent(result, at.name) if energy else None
        result = complete(result, how.threads) if printed_by_all(result) else result
    tell_of_turns(result.run, how.threads)
    tell_of_others(result, kernel, which)
    tell_of_trust(result, at)
    return Answer(
        lambda: _document(result, settings, joules),
        lambda: [report.screen(result, settings, joules)],
        unfelt,
        WRONG_VALUES if result.verification.wrong else 0,
        printed=result.printed,
    )


def _document(result: Result, settings: Mapping[str, Setting], joules: Spent | None) -> Document:
    from gpusim.analysis.account import run_document  # noqa: PLC0415  (start-up time)

    return run_document.document(result, settings, joules)


def _spent(result: Result, machine: str) -> Spent:
    """Return the energy of the launch in the time that was simulated; `machine` names the file of its energies."""
    from gpusim.analysis.account.rates.energy import known, spent  # noqa: PLC0415  (start-up time)
    from gpusim.engines.walks.traffic import traffic  # noqa: PLC0415

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
