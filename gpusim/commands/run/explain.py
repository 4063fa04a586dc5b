"""`gpusim explain`: why a warp did not issue in a cycle."""

from __future__ import annotations

from typing import Annotated

from rich.table import Column, Table

from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.options import CodeOptions, LaunchOrTimeline, MaxCycles, Part, many, whole
from gpusim.commands.run.timelines import DOCUMENTS, timeline_of
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
    launch: LaunchOrTimeline,
    code: CodeOptions,
    warp: Annotated[int, whole("--warp", help="Slot of the SM.")],
    cycle: Annotated[int, whole("--cycle", help="Cycle since the launch.")],
    depth: Annotated[int, many("--depth", help="Steps back at most.")] = DEPTH,
    max_cycles: MaxCycles = None,
) -> Answer:
    """Tell why a warp did not issue in a cycle: follow the chain of waits back to the cause.

    Example: gpusim explain examples/reduce.asm --machine gtx580 --warp 1 --cycle 60
    """
    kept = launch.kernel.endswith(DOCUMENTS)
    document = timeline_of(launch, code, Part(cycles=None if kept else f"0:{cycle + 1}"), max_cycles)
    end, unfelt = needed(document, warp, cycle), document.ineffective or ()
    if document.end < end and not kept:
        document = timeline_of(launch, code, Part(cycles=f"0:{end}"), max_cycles, quiet=True)
    every = steps_of(document, warp, cycle, depth + 1)
    steps, further = every[:depth], ["", f"further back with --depth {2 * depth}"] if every[depth:] else []
    head = f"{document.kernel} on {document.machine}, {document.policy}: {_answer(steps[0])}"
    screen = head, "", _table(steps, document.numbering), *further
    return Answer(ExplainDocument(document.kernel, document.machine, warp, cycle, steps), screen, unfelt)


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
