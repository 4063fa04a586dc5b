"""`gpusim space` of a space file: the points of a CUDA kernel that each restriction leaves, before any is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.code.code_stages import Restricted, stages
from gpusim.analysis.search.space_file import read, with_given
from gpusim.commands.frame.arguments import changes, machine_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.notices import unread
from gpusim.machine.architecture import executing, machine_for
from gpusim.support import whole_file
from gpusim.support.document import MachineKey, OfSettings, Settings, doc
from gpusim.support.plural import plural
from isa.architecture import Target
from isa.nvidia.compiler.compile import ARCHITECTURE

LATER = "registers and static shared memory are known once a point is compiled: gpusim tune tells which don't fit"


class SpaceCodeDocument(OfSettings, frozen=True):
    """Points of a space file that meet its restrictions, and that a machine can launch as far as is known of them."""

    file: Annotated[str, doc("The space file.")]
    machine: MachineKey
    set: Settings
    sizes: Annotated[dict[str, int | float], doc("Sizes of the problem.")]
    stages: Annotated[list[Restricted], doc("The restrictions, in order; last what the machine can launch.")]
    points: Annotated[list[dict[str, Value]], doc("The points that are left, by parameter.")]
    refused: Annotated[dict[str, int], doc("Of the points that meet the restrictions, those refused, by reason.")]


def space_code(
    path: Path, machine: str | None, setting: Sequence[str], given: Mapping[str, str], file: Path | None
) -> Answer:
    """Return the points that are left after each restriction; raises UserError."""
    space = with_given(read(path), given)
    name = machine or machine_for(Target("nvidia", ARCHITECTURE)).key
    where = executing(machine_of(name, setting, None), f"--machine {name}")
    unfelt = unread(setting)
    found = stages(space, where)
    if file:
        whole_file.write_table(file, space.values, (point.values() for point in found.points))
    document = SpaceCodeDocument(
        file=str(space.path),
        machine=where.key,
        set=changes(where, setting),
        sizes=dict(space.sizes),
        stages=list(found.stages),
        points=list(found.points),
        refused=found.refused,
    )
    rows = [(one.stage, f"{one.left:,}", one.rule) for one in found.stages]
    table = new_table("stage", *right("points left"), "rule", rows=rows)
    sizes = " ".join(f"{name}={size}" for name, size in space.sizes.items())
    why = [f"not launched: {plural(count, 'point')}: {reason}" for reason, count in found.refused.items()]
    head = f"{path} on {where.key}: {space.source.name}{f', {sizes}' if sizes else ''}\n"
    return Answer(document, [head, table, "", *why, LATER], unfelt)
