"""The points of a space file that are left after each restriction, and after what a machine can launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from gpusim.analysis.search.code.code_points import refusal
from gpusim.analysis.search.space_file import CodeSpace, Point, restricted
from gpusim.machine.machine import Machine
from gpusim.support.document import doc

PRODUCT, LAUNCH = "product", "launch"


@dataclass(frozen=True)
class Restricted:
    """How many points are left after a stage and all before it: a restriction of the file, or what can be launched."""

    stage: str
    rule: str
    left: int


@dataclass(frozen=True)
class Stages:
    """The stages, the points that are left, and why the others can't be launched."""

    stages: Sequence[Restricted]
    points: Sequence[Point]
    refused: Annotated[dict[str, int], doc("Points that meet the restrictions by the reason why none can be launched.")]


def stages(space: CodeSpace, machine: Machine) -> Stages:
    """Return what is left; registers and static shared memory of points are not known before they are compiled.

    Raises UserError for a restriction that can't be computed, and for too many points.
    """
    found, left = [], list[Point]()
    values = f"of the values of {', '.join(space.values)}"
    for number, (text, left) in enumerate(restricted(space)):
        found.append(Restricted(f"restriction {number}" if number else PRODUCT, text or values, len(left)))
    reasons = [refusal(space, point, [machine]) for point in left]
    points = [point for point, reason in zip(left, reasons, strict=True) if not reason]
    found.append(Restricted(LAUNCH, f"what {machine.key} can launch", len(points)))
    return Stages(found, points, dict(Counter(reason for reason in reasons if reason)))
