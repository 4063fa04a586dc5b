"""`gpusim explain`: why a warp did not issue in a cycle."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from rich.table import Column, Table

from gpusim.commands.arguments import (
    MOST_WHOLE,
    Architecture,
    CodeOptions,
    Force,
    Json,
    LaunchFile,
    MachineOfKernel,
    MaxCycles,
    NvccFlags,
    Overrides,
    Parameters,
    Policy,
    Strict,
)
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.commands.timelines import DOCUMENTS, KernelOrTimeline, timeline_of
from gpusim.support.document import KernelKey, MachineKey, OfSettings, doc
from gpusim.views.explain import Step, needed
from gpusim.views.explain import explain as steps_of

DEPTH = 12


class ExplainDocument(OfSettings, frozen=True):
    """Why a warp did not issue in a cycle: the chain of waits, back to the cause."""

    kernel: KernelKey
    machine: MachineKey
    warp: Annotated[int, doc("Slot of the SM.")]
    cycle: Annotated[int, doc("Shader cycles since the launch.")]
    steps: Annotated[list[Step], doc("From the given warp back to the cause.")]


def explain(
    kernel: KernelOrTimeline,
    *,
    warp: Annotated[int, typer.Option("--warp", min=0, max=MOST_WHOLE, help="Slot of the SM.")],
    cycle: Annotated[int, typer.Option("--cycle", min=0, max=MOST_WHOLE, help="Cycle since the launch.")],
    machine: MachineOfKernel = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    policy: Policy = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=MOST_WHOLE, help="Steps back at most.")] = DEPTH,
    max_cycles: MaxCycles = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    force: Force = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Tell why a warp did not issue in a cycle: follow the chain of waits back to the cause.

    Example: gpusim explain examples/reduce.asm --machine gtx580 --warp 1 --cycle 60
    """
    of_cycles = partial(
        timeline_of,
        kernel,
        machine=machine,
        parameters=parameter or (),
        settings=setting or (),
        policy=policy,
        warps=None,
        max_cycles=max_cycles,
        code=CodeOptions(architecture, launch, nvcc_flags, force, strict),
    )
    kept = kernel.endswith(DOCUMENTS)
    document = of_cycles(cycles=None if kept else f"0:{cycle + 1}")
    end, unfelt = needed(document, warp, cycle), document.ineffective or ()
    if document.end < end and not kept:
        document = of_cycles(cycles=f"0:{end}", quiet=True)
    steps = steps_of(document, warp, cycle, depth + 1)
    further, steps = steps[depth:], steps[:depth]
    if json:
        write_json(ExplainDocument(document.kernel, document.machine, warp, cycle, steps), unfelt)
    else:
        show(
            f"{document.kernel} on {document.machine}, {document.policy}: {_answer(steps[0])}",
            "",
            _table(steps, document.numbering),
        )
        if further:
            show("", f"further back with --depth {2 * depth}")


def _answer(step: Step) -> str:
    """The first step as an answer."""
    where = f"warp {step.warp} in cycle {step.cycle}"
    if step.what == "selected":
        return f"{where} issues"
    return f"{where} does not issue: {step.what}"


def _table(steps: list[Step], numbering: str) -> Table:
    words = Column("instruction", max_width=30), Column("what")
    table = new_table(*right("cycle", "warp", numbering), *words)
    for step in steps:
        span = f" ({step.what}, {step.start} to {step.end})" if step.end >= 0 else ""
        table.add_row(str(step.cycle), str(step.warp), step.number, step.instruction, f"{step.words}{span}")
    return table
