"""The groups of a warp whose lanes are independent: one runs, the others are ready or wait. A mask is an integer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

BARRIERS = 16
EVERY = (1 << 32) - 1
READY, YIELDED, AT_WARPSYNC, AT_COLLECTIVE, IN_COLLECTIVE, AT_BARRIER, AT_EXCLUSIVE, ALONE = range(8)


@dataclass(slots=True)
class Waiting:
    """Lanes that do not run, the pc at which they go on, and for what they wait; ALONE ones are ready, but join nobody.

    `barrier` is that of AT_BARRIER. `masks` are those of a WARPSYNC, lane by lane; `label` is where the lanes of a
    collective go on after it.
    """

    pc: int
    lanes: int
    state: int = READY
    barrier: int = -1
    masks: Sequence[int] = ()
    label: int = -1
    old: bool = False  # another group has parted since


@dataclass(slots=True)
class Groups:
    """The groups of a warp: the running one's pc and lanes, the others, who has exited, the barriers' masks.

    A barrier is plain if one BSSY alone has set it: then lanes that wait at other BSYNCs of it come along.
    """

    pc: int
    lanes: int
    gone: int
    others: list[Waiting] = field(default_factory=list)
    barriers: list[int] = field(default_factory=lambda: [0] * BARRIERS)
    plain: list[bool] = field(default_factory=lambda: [False] * BARRIERS)


def lanes_together(some: Iterable[Waiting]) -> int:
    """Return the lanes of some groups."""
    return sum(one.lanes for one in some)


def lanes_in(groups: Groups, *states: int) -> int:
    """Return the lanes of the groups in some states."""
    return lanes_together(one for one in groups.others if one.state in states)


def lowest(one: Waiting) -> int:
    """Return the lowest lane of a group, as a mask."""
    return one.lanes & -one.lanes


def joined(some: Sequence[Waiting]) -> list[Waiting]:
    """Return groups of which those at one pc are one, where the last of them is."""
    together = dict[int, Waiting]()
    for one in some:
        before = together.pop(one.pc, None)
        together[one.pc] = replace(one, lanes=one.lanes | before.lanes) if before else one
    return list(together.values())


def remove(groups: Groups, gone: Sequence[Waiting]) -> None:
    """Drop some of the groups that do not run."""
    groups.others = [one for one in groups.others if not any(one is other for other in gone)]


def lane_numbers(mask: int) -> list[int]:
    """Return the lanes of a mask."""
    return [lane for lane in range(mask.bit_length()) if mask >> lane & 1]
