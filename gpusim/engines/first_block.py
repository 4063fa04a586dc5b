"""The first block's profile, which the bound, a sample and the choice of an SM take from one walk."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusim.engines import program_order
from gpusim.launch.feed import ADDRESS_ONLY
from gpusim.machine.machine import Machine
from isa.execute.profile import Profile, profile
from isa.kernel import Kernel
from isa.once import once


@dataclass(frozen=True)
class Walk:
    """How a first block is walked through. All walks find the same profile, so the first result is kept for all.

    With a machine the walk is compiled code, for a launch on it; compiling takes ten seconds once per installation.
    Without one the interpreter walks. `limit` is in warp instructions.
    """

    limit: int = field(compare=False)
    machine: Machine | None = field(default=None, compare=False)


def first_profile(light: Kernel, limit: int, machine: Machine | None = None) -> Profile:
    """Return the profile of the first block of a kernel without contents.

    Raises LimitError beyond `limit` warp instructions, also where a larger limit has let it through before.
    """
    found = _walked(light, Walk(limit, machine))
    return found if found.counts.sum() <= limit else profile(light, limit=limit)


@once
def _walked(light: Kernel, walk: Walk) -> Profile:
    found = None
    if walk.machine and program_order.profiles(light):
        found = program_order.profile(program_order.walker(light, walk.machine, feed=ADDRESS_ONLY), 0, walk.limit)
    return found or profile(light, limit=walk.limit)
