"""Tests of fast-forward's checks: which states are kept, and that a wrong rule is noticed (plain Python only)."""

from __future__ import annotations

import numpy as np
import pytest
from recurring import CHANGES, STEADY
from timing import plain_machine
from twins import differences

from gpusim.engines.simulate import run_sm
from gpusim.sm.jit.rule import COMPILED, NEVER
from gpusim.sm.replay.fast_forward import fast_forward, moved_state, same_state
from gpusim.sm.state import recurrence
from isa.errors import LimitError
from isa.text.listing import read

pytestmark = pytest.mark.skipif(COMPILED, reason="calls single rules, which compiled code alone can call")

BLOCKS = """
.grid 12
.buffer x u32 4096
    S2R R0, CTAID.X
    S2R R1, LANEID
    SHL R1, R1, 2
    ISETP.GE P0, R0, 9
    @P0 SHL R1, R1, 1
    IADD R1, R1, c[x]
    LDG R2, [R1]
    FADD R2, R2, R2
    EXIT
"""


def test_old_states_are_thinned_out_and_recent_ones_stay(recurring):
    """When all rows are used, the latest states all stay and older ones are thinned out, in the order of time."""
    roles, events = recurring.roles, same_state.EVENT
    for number in range(1000):
        row = fast_forward._keep(recurring.sm, roles, recurring.now)
        roles.notes[row, events] = number
    numbers = roles.notes[roles.order[: roles.counts[fast_forward.COUNT]], events]
    old, recent = numbers[: -recurrence.RECENT], numbers[-recurrence.RECENT :]
    assert recent.tolist() == list(range(1000 - recurrence.RECENT, 1000))
    assert len(old) > recurrence.RECENT
    assert (np.diff(old) > 0).all()
    assert sorted(roles.order) == list(range(roles.order.size))


def differ(text):
    """Names of what differs between a launch with and without fast-forward; None if it does not end."""
    try:
        runs = [
            run_sm(read(text), plain_machine(CHANGES), feed="trace-driven", fast_forward=forward, max_cycles=100_000)
            for forward in (True, False)
        ]
    except LimitError:
        return None
    return differences(*runs)


@pytest.mark.parametrize(
    ("text", "room", "rule", "mutant"),
    [
        (STEADY, fast_forward, "_rounds_left", lambda *_: NEVER),
        (STEADY, fast_forward, "_keeps_step", lambda *_: True),
        (STEADY, moved_state, "_moved", lambda _before, now, _way, _distance: now),
        (STEADY, moved_state, "_move_warp", lambda *_: None),
        (BLOCKS, fast_forward, "_blocks_alike", lambda *given: given[-1]),
    ],
    ids=lambda value: value if str(value).startswith("_") else "",
)
def test_a_wrong_rule_is_noticed(monkeypatch, text, room, rule, mutant):
    """Loops taken too far, words not moved, blocks not compared: each wrong rule changes the result."""
    assert differ(text) == []
    monkeypatch.setattr(room, rule, mutant)
    assert differ(text) != []
