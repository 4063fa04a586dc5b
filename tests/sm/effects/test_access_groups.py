"""Groups of accesses: when so many are under way at most, by definition."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpusim.sm.effects import groups
from gpusim.sm.unit.capacities import GROUPED, NEVER
from gpusim.sm.unit.stall import OWN, Stall
from isa.row import CLOSES, JOINS, WAITS

STEPS = st.lists(st.one_of(st.sampled_from(["join", "close"]), st.integers(1, 99)), max_size=60)


def released(warp, most):
    """Return when an instruction may issue that lets so many groups be under way."""
    warp.release_at[:] = 0
    groups.earliest(warp, SimpleNamespace(grouping=WAITS, open_groups=most))
    return int(warp.release_at[Stall.LONG_SCOREBOARD])


@given(STEPS, st.integers(0, GROUPED - 2))
def test_a_wait_ends_when_all_groups_but_the_last_ones_are_done(steps, most):
    """All accesses of the groups before the last n are done, in the order of issue; NEVER while one is not known."""
    words = np.zeros(GROUPED, np.int64), np.zeros(GROUPED, np.int64), np.zeros(OWN, np.int64)
    warp = SimpleNamespace(ahead_of=words[0], done_by=words[1], release_at=words[2])
    groups.clear(warp)
    issued, closed, done = 0, [], []
    for step in steps:
        if step == "join":
            groups.commit(warp, SimpleNamespace(grouping=JOINS))
            issued += 1
        elif step == "close":
            groups.commit(warp, SimpleNamespace(grouping=CLOSES))
            closed.append(issued)
        elif len(done) < issued:
            groups.done(warp, step)
            done.append(step)
        last = closed[-1 - most] if len(closed) > most else 0
        expected = NEVER if last > len(done) else max(done[:last], default=0)
        lost = any(end <= len(done) for end in closed[: len(closed) - most])  # an empty group takes the time so far
        assert released(warp, most) == expected or (lost and expected <= released(warp, most) <= max(done))
