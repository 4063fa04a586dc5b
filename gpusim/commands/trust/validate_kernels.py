"""`gpusim validate MACHINE --kernels`: whole kernels as they were timed and profiled, beside their simulation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from gpusim.analysis.validate import kernels as whole
from gpusim.analysis.validate.agreement import (
    Sizes,
    StallMatch,
    StallSizes,
    counter_sizes,
    cycle_sizes,
    order,
    stall_match,
    stall_sizes,
)
from gpusim.analysis.validate.profiler import profiles
from gpusim.commands.frame.arguments import changes, overrides_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.options import repeated, written
from gpusim.commands.frame.progress import begin_compiling, told
from gpusim.commands.trust.validate_kernels_screen import markdown, screen
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.reproduction.pages import kernel_picture
from gpusim.support import whole_file
from gpusim.support.document import Document, KernelKey, MachineKey, Settings, doc
from isa.errors import UserError
from isa.kernel import Kernel
from workloads.measured.whole import clocks, launch, tables

CHIP, ARCHITECTURE = "h200", "sm_90"  # where the kernels were timed, and what executes them


@dataclass(frozen=True)
class KernelFigure:
    """A launch of a kernel: median cycles of a block (solo, persm) or an SM (resident, full), and what was counted.

    `error`: simulated/measured - 1. Stalls are shares of the warp-cycles by ncu's names. Counts are of the grid; what
    was not profiled on the chip has none.
    """

    kernel: KernelKey
    configuration: str
    measured: float
    simulated: float
    error: float
    milliseconds: Annotated[float, doc("As measured between two events, with the overhead of a launch.")]
    blocks_of_sm: Annotated[int, doc("Simulated blocks: those of the SM that gets the most.")]
    stalls: Mapping[str, float]
    measured_stalls: Mapping[str, float]
    match: Annotated[StallMatch | None, doc("The first stall reasons.")]
    counters: Mapping[str, float]
    measured_counters: Mapping[str, float]


class ValidateKernelsDocument(Document, frozen=True):
    """Whole kernels as they were timed and profiled on a chip, beside their simulation."""

    machine: MachineKey
    set: Settings
    measured: Annotated[MachineKey, doc("The machine on which the kernels were timed.")]
    launches: Annotated[list[KernelFigure], doc("The launches, by configuration.")]
    summary: Annotated[Mapping[str, Sizes], doc("Errors of cycles by configuration.")]
    order: Annotated[Mapping[str, float], doc("Spearman's rank correlation of the sgemm kernels by speed.")]
    stalls: Annotated[Mapping[str, StallSizes], doc("How stall reasons agree, by configuration.")]
    counters: Annotated[Mapping[str, Mapping[str, Sizes]], doc("Errors of counters by configuration and counter.")]


@dataclass(frozen=True)
class Wanted:
    """Which launches to simulate, by names of kernels, patterns and configurations, and the files to write."""

    only: Annotated[Sequence[str], repeated("--only", "NAME", "A kernel, sgemm* for several, or a configuration")] = ()
    plot: Annotated[Path | None, written("--plot", "Also draw the kernels' cycles and stall reasons.", "FILE.svg")] = (
        None
    )
    page: Annotated[Path | None, written("--markdown", "Also write the kernels' tables as a page.")] = None


def validate_kernels(name: str, setting: Sequence[str], wanted: Wanted) -> Answer:
    """Simulate launches on a machine, by name or file, over all cores."""
    given = overrides_of(setting, None)
    where = model.load(name, {path: value for path, value in whole.WARM.items() if path not in given} | given)
    _check(where, wanted)
    found = _compared(timed(wanted.only), where)
    if wanted.plot:
        kernel_picture.write(wanted.plot, found)
    if wanted.page:
        whole_file.write(wanted.page, markdown(where, found, _address(wanted)))
    return Answer(lambda: _document(where, changes(where, setting), found), lambda: screen(where, found, setting))


def timed(only: Sequence[str] = ()) -> list[whole.Timed]:
    """Return the timed launches that these names choose, by configuration; all without names.

    Raises UserError for a name that is no configuration and fits no kernel.
    """
    names = [name for name in only if name not in whole.CONFIGURATIONS]
    for name in names:
        if not any(fnmatchcase(kernel, name) for kernel in tables.compiled()):
            known = ", ".join((*whole.CONFIGURATIONS, *tables.compiled()))
            raise UserError(f"--only {name}: no timed kernel or configuration; choose among {known}")
    return [
        _timed(tables.launch(kernel, configuration))
        for configuration in whole.CONFIGURATIONS
        if configuration in only or len(names) == len(only)
        for kernel in tables.compiled()
        if not names or any(fnmatchcase(kernel, name) for name in names)
    ]


def kernel_of(one: whole.Timed) -> Kernel:
    """Return the kernel of a timed launch."""
    return launch.kernel(one.kernel, one.configuration)


def _check(machine: Machine, wanted: Wanted) -> None:
    """Raise UserError for a machine that can't be compared, and for files that can't be written."""
    if machine.architecture != ARCHITECTURE:
        raise UserError(f"no whole kernels were timed on {machine.key}; take {CHIP}, or a file of {ARCHITECTURE}")
    if wanted.plot:
        kernel_picture.check(wanted.plot)
    if wanted.page:
        whole_file.check(wanted.page)


def _timed(one: tables.Timed) -> whole.Timed:
    cycles = one.block_cycles if one.configuration in whole.OF_BLOCKS else one.sm_cycles
    return whole.Timed(one.kernel, one.configuration, cycles, one.milliseconds)


def _compared(launches: Sequence[whole.Timed], machine: Machine) -> list[whole.Compared]:
    """Return the launches with their simulation, in their order."""
    tables.machine_code()  # an error of its tool comes before others
    begin_compiling()
    every = whole.compared(launches, machine, profiles(CHIP), kernel_of, clocks.recorded)
    found = told(f"validate {machine.key}", every, len(launches), "kernel", alike=False)
    return sorted(found, key=lambda one: launches.index(one.timed))


def _address(wanted: Wanted) -> str:
    """Return the address of the picture from the page; empty without one."""
    if not (wanted.plot and wanted.page):
        return ""
    return Path(os.path.relpath(wanted.plot, wanted.page.parent)).as_posix()


def _document(machine: Machine, settings: Settings, found: Sequence[whole.Compared]) -> ValidateKernelsDocument:
    return ValidateKernelsDocument(
        machine=machine.key,
        set=settings,
        measured=CHIP,
        launches=[_figure(one) for one in found],
        summary=cycle_sizes(found),
        order=order(found),
        stalls=stall_sizes(found),
        counters=counter_sizes(found),
    )


def _figure(one: whole.Compared) -> KernelFigure:
    simulated, profile = one.simulated, one.profile
    return KernelFigure(
        kernel=one.timed.kernel,
        configuration=one.timed.configuration,
        measured=one.timed.cycles,
        simulated=simulated.cycles,
        error=one.error,
        milliseconds=one.timed.milliseconds,
        blocks_of_sm=simulated.blocks_of_sm,
        stalls=simulated.stalls,
        measured_stalls=profile.stalls if profile else {},
        match=stall_match(one),
        counters=simulated.counters,
        measured_counters=profile.counters if profile else {},
    )
