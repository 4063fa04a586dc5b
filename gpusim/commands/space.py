"""`gpusim space`: the points of a search space that meet its constraints on a machine, and their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpusim.analysis.search.space_file import ENDING
from gpusim.commands.arguments import Json, Overrides, among, changes, machine_of, machines_from, pairs
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.commands.kernels import Takes, takes
from gpusim.commands.notices import unread
from gpusim.commands.progress import shown
from gpusim.commands.space_code import space_code
from gpusim.machine.capability import capability as limits_of
from gpusim.support import whole_file
from gpusim.support.document import Document, OfSettings, Setting, Settings, doc
from isa.errors import UserError
from workloads.space import Limits, Point, Pruned, Space, Stage, as_points, prune, published_for, survives
from workloads.spaces import SPACES, Entry, find, make_space

MACHINE = "c2050"


def stages_from(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the stages, of the space on the command line, that begin so."""
    found = (one.name for word in ctx.args if word in SPACES for one in make_space(word, {}).constraints)
    return among(found)(incomplete)


LastStage = Annotated[
    str | None,
    typer.Option("--stage", metavar="NAME", help="Stop after this stage.", autocompletion=stages_from),
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


SpaceName = Annotated[
    str,
    typer.Argument(
        metavar="[SPACE]",
        help="A search space's name, or a space file ending in .toml.",
        autocompletion=among(SPACES),
    ),
]
MachineOfSpace = Annotated[
    str | None,
    typer.Option(
        "--machine",
        help=f"A machine's name, or a file ending in .toml. [default: {MACHINE}; of a space file, the compiler's]",
        autocompletion=machines_from,
    ),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        metavar="NAME=VALUE",
        help="A number of the constraints; of a space file a size, or values to keep; repeatable.",
    ),
]


def space(
    name: SpaceName = "",
    *,
    machine: MachineOfSpace = None,
    parameter: Numbers = None,
    setting: Overrides = None,
    capability: Annotated[
        str | None, typer.Option("--capability", metavar="X.Y", help="Limits of these chips: 1.0 to 1.3, or 2.x.")
    ] = None,
    stage: LastStage = None,
    file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the points that are left to a file.")
    ] = None,
    json: Json = False,
) -> None:
    """List the search spaces, or count the points that each constraint leaves on a machine, beside published counts.

    Of a space file, which tunes a CUDA kernel, nothing is compiled.

    Example: gpusim space zgemm --machine c2050
    """
    if not name:
        _tell_all(json)
        return
    if file:
        whole_file.check(file)
    if name.endswith(ENDING):
        for option, value in {"--capability": capability, "--stage": stage}.items():
            if value:
                raise UserError(f"{option} {value}: {name} is a space file; leave the option out")
        space_code(Path(name), machine, setting or (), pairs("-p", "name=value", parameter or ()), file, json=json)
        return
    limits, where = _limits(machine, setting or (), capability)
    chosen = make_space(name, pairs("-p", "name=value", parameter or ()))
    unfelt = unread(setting or ())
    with shown(f"space {name}"):
        pruned = prune(chosen, limits, stage)
    published = published_for(chosen, limits)
    if file:
        whole_file.write_table(file, chosen.axes, pruned.points.tolist())
    if json:
        write_json(_document(chosen, where, pruned, published), unfelt)
    else:
        notes = _notes(chosen, pruned, published)
        on = where.machine or f"compute capability {capability}"
        show(f"{name} on {on}: {find(name).description}\n", _table(pruned, published), *notes)


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


def _tell_all(json: bool) -> None:
    if json:
        write_json(SpacesDocument([_entry(entry) for entry in SPACES.values()]))
        return
    table = new_table("space", "what it is", "constraints")
    for entry in SPACES.values():
        table.add_row(entry.name, entry.description, " ".join(f"{p.name}={p.default}" for p in entry.parameters))
    show(table)


def _entry(entry: Entry) -> SpaceEntry:
    return SpaceEntry(entry.name, entry.description, [takes(p) for p in entry.parameters])


def _deviation(stage: Stage, published: Mapping[str, int]) -> float | None:
    """(ours - published) / published; None where nothing is published."""
    return stage.left / published[stage.name] - 1 if stage.name in published else None


def _table(pruned: Pruned, published: Mapping[str, int]) -> Table:
    table = new_table("stage", "kind", *right("points left", "published", "deviation"), "rule", tight=True)
    for stage in pruned.stages:
        deviation = _deviation(stage, published)
        compared = ("", "") if deviation is None else (f"{published[stage.name]:,}", f"{100 * deviation:+.1f} %")
        table.add_row(stage.name, stage.kind, _count(stage.left), *compared, stage.rule)
    return table


def _count(points: int) -> str:
    """A count in full, or to two digits if it is too long to read."""
    return f"{points:,}" if points < 10**13 else f"{points:.1e}"


def _notes(space: Space, pruned: Pruned, published: Mapping[str, int]) -> list[str]:
    notes = []
    if space.published and published:
        notes.append(f"published: {space.published.source}")
    if space.winner:
        found = "is among them" if survives(space, space.winner, pruned.points) else "is not among them"
        notes.append(f"published winner {in_words(space, space.winner)}: {found}")
    return ["", *notes]


def _document(space: Space, where: _Where, pruned: Pruned, published: Mapping[str, int]) -> SpaceDocument:
    winner = space.winner and {**space.winner, "survives": survives(space, space.winner, pruned.points)}
    return SpaceDocument(
        space=space.name,
        machine=where.machine,
        capability=where.capability,
        set=where.replaced,
        stages=[_left(stage, published) for stage in pruned.stages],
        winner=winner,
        points=list(as_points(space, pruned.points)),
    )


def _left(stage: Stage, published: Mapping[str, int]) -> Left:
    ours, theirs = _exact(stage.left), published.get(stage.name)
    return Left(stage.name, stage.kind, stage.rule, ours, theirs, _deviation(stage, published))


def _exact(count: int) -> int | float:
    """A count, as a float where it is beyond the integers of JSON readers."""
    return count if count < 2**53 else float(count)
