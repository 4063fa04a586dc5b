"""`gpusim space`: the points of a search space that meet its constraints on a machine, and their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from typer import Argument, Option

from gpusim.analysis.search.space_file import ENDING
from gpusim.commands.catalog.kernels import Takes, takes
from gpusim.commands.frame.arguments import changes, machine_of, pairs, refuse
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.notices import unread
from gpusim.commands.frame.options import Numbers, Overrides, among, machine, written
from gpusim.commands.frame.progress import shown
from gpusim.commands.search.space_code import space_code
from gpusim.machine.capability import capability as limits_of
from gpusim.support import whole_file
from gpusim.support.document import Document, OfSettings, Setting, Settings, doc
from isa.errors import UserError
from workloads.space import Limits, Point, Pruned, Space, Stage, as_points, prune, published_for, survives
from workloads.spaces import SPACES, find, make_space

MACHINE = "c2050"


def stages_from(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the stages, of the space on the command line, that begin so."""
    found = (one.name for word in ctx.args if word in SPACES for one in make_space(word, {}).constraints)
    return among(found)(incomplete)


LastStage = Annotated[
    str | None, Option("--stage", metavar="NAME", help="Stop after this stage.", autocompletion=stages_from)
]


@dataclass(frozen=True)
class SpaceEntry:
    """A search space, and the numbers of its constraints."""

    space: str
    description: str
    parameters: list[Takes]


class SpacesDocument(Document, frozen=True):
    """The search spaces, and the numbers of their constraints that can be chosen."""

    spaces: Annotated[list[SpaceEntry], doc("All of them.")]


@dataclass(frozen=True)
class Left:
    """How many points meet a constraint and all before it, and the published number.

    Beyond 2^53 `left` is a float; `deviation` is (left - published) / published.
    """

    stage: str
    kind: str
    rule: str
    left: int | float
    published: int | None
    deviation: float | None


class SpaceDocument(OfSettings, frozen=True):
    """Points of a search space that meet its constraints, on a machine or by the limits of a compute capability."""

    space: Annotated[str, doc("Name of the space.")]
    machine: Annotated[str | None, doc("The machine by its key; null where a compute capability was given.")]
    capability: Annotated[str | None, doc("The compute capability; null where a machine was given.")]
    set: Settings
    stages: Annotated[list[Left], doc("The constraints, in order.")]
    winner: Annotated[Mapping[str, int | bool] | None, doc("The published point, and whether it `survives`.")]
    points: Annotated[list[Point], doc("The points that are left, by parameter.")]


def space(
    name: Annotated[
        str,
        Argument(
            metavar="[SPACE]",
            help="A search space's name, or a space file ending in .toml.",
            autocompletion=among(SPACES),
        ),
    ] = "",
    *,
    machine: Annotated[str | None, machine(f". [default: {MACHINE}; of a space file, the compiler's]")] = None,
    parameter: Numbers = (),
    setting: Overrides = (),
    capability: Annotated[
        str | None, Option("--capability", metavar="X.Y", help="Limits of these chips: 1.0 to 1.3, or 2.x.")
    ] = None,
    stage: LastStage = None,
    file: Annotated[Path | None, written("--csv", "Write the points that are left to a file.")] = None,
) -> Answer:
    """List the search spaces, or count the points that each constraint leaves on a machine, beside published counts.

    Of a space file, which tunes a CUDA kernel, nothing is compiled.

    Example: gpusim space zgemm --machine c2050
    """
    if not name:
        rows = [
            (x.name, x.description, " ".join(f"{p.name}={p.default}" for p in x.parameters)) for x in SPACES.values()
        ]
        entries = [SpaceEntry(x.name, x.description, [takes(p) for p in x.parameters]) for x in SPACES.values()]
        return Answer(SpacesDocument(entries), [new_table("space", "what it is", "constraints", rows=rows)])
    if file:
        whole_file.check(file)
    given = pairs("-p", "name=value", parameter)
    if name.endswith(ENDING):
        refuse({"--capability": capability, "--stage": stage}, f"{name} is a space file; leave the option out")
        return space_code(Path(name), machine, setting, given, file)
    limits, where = _limits(machine, setting, capability)
    chosen = make_space(name, given)
    unfelt = unread(setting)
    with shown(f"space {name}"):
        pruned = prune(chosen, limits, stage)
    published = published_for(chosen, limits)
    if file:
        whole_file.write_table(file, chosen.axes, pruned.points.tolist())
    head = f"{name} on {where.machine or f'compute capability {capability}'}: {find(name).description}\n"
    document = _document(chosen, where, pruned, published)
    return Answer(document, [head, _table(document), *_notes(chosen, document)], unfelt)


@dataclass(frozen=True)
class _Where:
    """The source of limits: a machine and its replaced numbers, or a compute capability."""

    machine: str | None
    capability: str | None
    replaced: Mapping[str, Setting]


def _limits(machine: str | None, setting: Sequence[str], capability: str | None) -> tuple[Limits, _Where]:
    """The limits, and their source as the document names it."""
    if capability is None:
        where = machine_of(machine or MACHINE, setting, None)
        return where.limits, _Where(where.key, None, changes(where, setting))
    if machine:
        raise UserError(f"--capability {capability}: --machine {machine} has limits of its own; give one of the two")
    if setting:
        raise UserError(f"--set {setting[0]}: the limits of a compute capability are fixed; take --machine")
    return limits_of(capability), _Where(None, capability, {})


def in_words(space: Space, point: Point) -> str:
    """Return a point's numbers as its kernel's parameters are given: name=value, in order."""
    return " ".join(f"{name}={value}" for name, value in space.parameters(point).items() if name in space.axes)


def _table(found: SpaceDocument) -> Table:
    rows = [(one.stage, one.kind, _count(one.left), *_compared(one), one.rule) for one in found.stages]
    return new_table("stage", "kind", *right("points left", "published", "deviation"), "rule", rows=rows, tight=True)


def _compared(one: Left) -> tuple[str, str]:
    return ("", "") if one.deviation is None else (f"{one.published:,}", f"{100 * one.deviation:+.1f} %")


def _count(points: int | float) -> str:
    """A count in full, or to two digits if it is too long to read."""
    return f"{points:,}" if points < 10**13 else f"{points:.1e}"


def _notes(space: Space, found: SpaceDocument) -> list[str]:
    notes = [""]
    if space.published and any(one.published for one in found.stages):
        notes.append(f"published: {space.published.source}")
    if space.winner and found.winner:
        among_them = "is among them" if found.winner["survives"] else "is not among them"
        notes.append(f"published winner {in_words(space, space.winner)}: {among_them}")
    return notes


def _document(space: Space, where: _Where, pruned: Pruned, published: Mapping[str, int]) -> SpaceDocument:
    winner = space.winner and {**space.winner, "survives": survives(space, space.winner, pruned.points)}
    return SpaceDocument(
        space=space.name,
        machine=where.machine,
        capability=where.capability,
        set=where.replaced,
        stages=[_left(stage, published.get(stage.name)) for stage in pruned.stages],
        winner=winner,
        points=list(as_points(space, pruned.points)),
    )


def _left(stage: Stage, published: int | None) -> Left:
    ours = stage.left if stage.left < 2**53 else float(stage.left)  # beyond the integers of JSON readers
    deviation = None if published is None else stage.left / published - 1
    return Left(stage.name, stage.kind, stage.rule, ours, published, deviation)
