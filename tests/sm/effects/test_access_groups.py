"""Groups of work under way: when so many are at most, by definition."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.sm.effects import groups
from gpusim.sm.unit.capacities import GROUP_KINDS, GROUPED, NEVER
from gpusim.sm.unit.stall import OWN, Stall
from isa.row import CLOSES, JOINS, WAITS, Groups

ACTS = st.one_of(st.sampled_from(["join", "close", "join and close"]), st.integers(1, 99))
STEPS = st.lists(st.tuples(st.sampled_from(Groups), ACTS), max_size=60)
TOGETHER = {Groups.COPIES: (Groups.COPIES, Groups.BULK), Groups.MATRIX: (Groups.MATRIX,)}
FLAGS = {"join": JOINS, "close": CLOSES, "join and close": JOINS | CLOSES}


def fresh():
    """Return a new warp, as far as groups look at it."""
    shape = GROUP_KINDS, GROUPED
    numbers = {name: np.zeros(shape, np.int64) for name in ("ahead_of", "done_by")}
    warp = SimpleNamespace(**numbers, closed=np.zeros(GROUP_KINDS, np.int64), release_at=np.zeros(OWN, np.int64))
    groups.clear(warp)
    return warp


def act(warp, kind, flags, most=0):
    """Let an instruction issue, or ask whether it may."""
    instruction = SimpleNamespace(grouping=flags, groups=int(kind), open_groups=most)
    (groups.earliest if flags == WAITS else groups.commit)(warp, instruction)


def released(warp, kind, most):
    """Return when an instruction may issue that lets so many groups be under way."""
    warp.release_at[:] = 0
    act(warp, kind, WAITS, most)
    return int(warp.release_at[Stall.BARRIER if kind is Groups.MATRIX else Stall.LONG_SCOREBOARD])


@pytest.mark.parametrize("waited", TOGETHER)
@given(steps=STEPS, most=st.integers(0, GROUPED - 2))
def test_a_wait_ends_when_all_groups_but_so_many_are_done(waited, steps, most):
    """Of the kinds that it counts, each of them done in the order of issue; NEVER while too many are not known."""
    warp, issued, done, closed = fresh(), [0] * GROUP_KINDS, [[] for _ in Groups], [[] for _ in Groups]
    for kind, step in steps:
        if isinstance(step, str):
            act(warp, kind, FLAGS[step])
            issued[kind] += "join" in step
            closed[kind] += [issued[kind]] * ("close" in step)
        elif len(done[kind]) < issued[kind]:
            groups.done(warp, int(kind), step)
            done[kind].append(step)
        ends = [
            max(done[one][:end], default=0) if end <= len(done[one]) else NEVER
            for one in TOGETHER[waited]
            for end in closed[one]
        ]
        expected = sorted(ends, reverse=True)[most] if len(ends) > most else 0
        assert released(warp, waited, most) == expected
