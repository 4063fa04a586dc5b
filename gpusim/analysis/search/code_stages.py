"""The points of a space file that are left after each restriction, and after what a machine can launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpusim.analysis.search.code_points import refusal
from gpusim.analysis.search.space_file import CodeSpace, Point, product_of
from gpusim.machine.machine import Machine

PRODUCT, LAUNCH = "product", "launch"


@dataclass(frozen=True)
class Restricted:
    """How many points are left after a stage and all before it: a restriction of the file, or the machine's limits."""

    stage: str
    rule: str
    left: int


def stages(space: CodeSpace, machine: Machine) -> tuple[Sequence[Restricted], Sequence[Point]]:
    """Return the stages, and the points that are left, of which registers and static shared memory are not known yet.

    Raises UserError for a restriction that can't be computed, and for too many points.
    """
    left = list(product_of(space))
    found = [Restricted(PRODUCT, f"of the values of {', '.join(space.values)}", len(left))]
    for number, text in enumerate(space.file.restrictions):
        key = f"restrictions.{number}"
        ask = space.ask(key, text, space.known)
        left = [point for point in left if space.computed(key, text, ask, {**point, **space.sizes})]
        found.append(Restricted(f"restriction {number + 1}", text, len(left)))
    left = [point for point in left if not refusal(space, point, [machine])]
    limits = machine.limits
    rule = f"{limits.threads_per_block} threads and {limits.shared_bytes} dynamic bytes of shared memory in a block"
    found.append(Restricted(LAUNCH, f"at most {rule}", len(left)))
    return found, left
