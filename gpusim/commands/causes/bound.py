"""`gpusim bound`: the analytic bound of a kernel on a machine, or of any matrix product, without simulating it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from gpusim.commands.causes import gemm_bound
from gpusim.commands.causes.gemm_bound import Types
from gpusim.commands.frame.arguments import chosen, instructions_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.notices import ineffective_settings
from gpusim.commands.frame.options import (
    KERNEL,
    Caches,
    CodeOptions,
    Launch,
    MachineOfKernel,
    MaxInstructions,
    Overrides,
    Parameters,
    Plugins,
    Policy,
    kernels_from,
)
from gpusim.commands.frame.progress import begin_compiling, shown
from isa.errors import UserError


@dataclass(frozen=True)
class LaunchOrProduct:
    """A kernel on a machine, or any matrix product of a type on its tensor cores."""

    kernel: Annotated[str | None, Argument(help=f"{KERNEL} None with --gemm.", autocompletion=kernels_from)] = None
    parameter: Parameters = ()
    machine: MachineOfKernel = None
    setting: Overrides = ()
    policy: Policy = None
    caches: Caches = None
    plugin: Plugins = ()
    gemm: Annotated[
        Types | None,
        Option("--gemm", help="In place of a kernel: the best tiled matrix product of this type on tensor cores."),
    ] = None
    tile: Annotated[
        str | None, Option("--tile", metavar="ROWSxCOLUMNS", help="With --gemm: a block's tile, such as 128x256.")
    ] = None


def bound(launch: LaunchOrProduct, code: CodeOptions, max_instructions: MaxInstructions = None) -> Answer:
    """Bound a kernel's cycles from below: issue slots, pipes, load/store unit, bandwidth, dependence chain.

    Example: gpusim bound sgemm-lai --machine gtx580 -p lds=128
    """
    if launch.gemm:
        return _of_products(launch, launch.gemm)
    if launch.tile:
        raise UserError(f"--tile {launch.tile} is of --gemm; add it, such as --gemm f16")
    if launch.kernel is None:
        raise UserError("no kernel; name one, or bound a matrix product with --gemm f16")
    at = launch.machine, launch.setting, launch.policy, launch.caches, launch.plugin
    return _of_kernel(Launch(launch.kernel, launch.parameter, *at), code, max_instructions)


def _of_products(launch: LaunchOrProduct, kind: Types) -> Answer:
    """Return the best tilings; raises UserError for what only a kernel has."""
    given = {"KERNEL": launch.kernel, "-p": launch.parameter, "--policy": launch.policy, "--caches": launch.caches}
    for name, value in {**given, "--plugin": launch.plugin}.items():
        if value:
            raise UserError(f"{name}: --gemm bounds all tiled matrix products, of no kernel; leave out one of the two")
    return gemm_bound.answer(kind, launch.tile, launch.machine, launch.setting)


def _of_kernel(launch: Launch, code: CodeOptions, max_instructions: int | None) -> Answer:
    found = chosen(launch, code)
    from gpusim.analysis.account import report, run_document  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.bounds import bounds  # noqa: PLC0415
    from gpusim.machine.occupancy import occupancy  # noqa: PLC0415

    limit, changes = instructions_of(launch.kernel, max_instructions, bounds.LIMIT), found.changes
    unfelt, at = ineffective_settings(found), (found.kernel, found.machine)
    begin_compiling("walk")
    with shown(found.kernel.name):
        facts = *at, bounds.bound(*at, limit=limit), occupancy(*at), changes
    return Answer(lambda: run_document.bound_document(*facts), lambda: [report.bound_screen(*facts)], unfelt)
