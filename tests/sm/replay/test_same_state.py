"""The comparison of two kept states: each difference that matters is noticed, the others are let through.

The first tests ask single comparisons, with words written by hand; the others (plain Python only) change a real launch
word by word.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.sm.jit.rule import COMPILED, NEVER
from gpusim.sm.replay.fast_forward import same_state
from gpusim.sm.state import recurrence
from gpusim.sm.state.room import sizes
from gpusim.sm.unit.declare import Role
from gpusim.sm.unit.stall import SHARED

WORDS = {word.path: word.field for word in recurrence.words("sm", sizes({}))}


def paths(role):
    """Paths of the fields of a role; of numbers, those that always matter."""
    return [path for path, field in WORDS.items() if field.role is role and not field.awaited]


SINGLE_RULES = pytest.mark.skipif(COMPILED, reason="calls single rules, which compiled code alone can call")
SM = SimpleNamespace(machine=SimpleNamespace(interval=2, schedulers=2, channel_parts=64), warp_slots=0)


def states(before: list[int], here: list[int], roles: list[int]) -> SimpleNamespace:
    """Two kept states, at cycles 100 and 148; role i has the columns from roles[i] up to roles[i + 1].

    The last word stands for the memory channel, in 64ths of a cycle.
    """
    nothing, columns = np.zeros(0, np.int64), [len(before) - 1] * 17
    kept, notes = np.array([before, here]), np.array([[100, 0, 0], [148, 0, 0]])
    return SimpleNamespace(kept=kept, notes=notes, roles=roles, columns=columns, source=nothing, renewal=nothing)


@pytest.mark.parametrize(
    ("same", "time", "channel", "agrees"),
    [(7, 158, 0, True), (8, 158, 0, False), (7, 157, 0, False), (7, 158, 148 * 64 + 1, False)],
)
def test_states_agree_if_times_are_as_far_ahead(same, time, channel, agrees):
    """States agree if a word stays 7, a time is 10 ahead of 148 as 110 is of 100, and the channel is free."""
    r = states([7, 110, 0], [same, time, channel], roles=[0, 1, 2, 2, 2, 2, 2])
    assert same_state.agree(SM, r, 0, 1) == agrees


@pytest.mark.parametrize(("time", "far"), [(90, 0), (100, 0), (117, 17), (NEVER, NEVER)])
def test_all_times_that_have_passed_are_0_ahead(time, far):
    """At 100 both 90 and 100 are 0 ahead, and 117 is 17 ahead; an unknown time stays unknown."""
    assert same_state.ahead(time, 100) == far


@pytest.mark.parametrize(("cycle", "agrees"), [(148, True), (146, False), (147, False)])
def test_a_period_is_whole_rounds_of_the_schedulers(cycle, agrees):
    """Two schedulers with slots every 2 cycles take turns to be first: periods are multiples of 4 cycles."""
    r = states([7, 0], [7, 0], roles=[0, 1, 1, 1, 1, 1, 1])
    r.notes[1, same_state.WHEN] = cycle
    assert same_state.agree(SM, r, 0, 1) == agrees


@pytest.mark.parametrize(
    ("seen", "now", "agrees"), [(90, 138, True), (90, 90, True), (98, 98, True), (99, 99, False), (90, 130, False)]
)
def test_a_moment_moves_with_the_clock_or_is_old(seen, now, agrees):
    """From 100 to 148 a moment moves by 48; it may stay if it was a slot of 2 cycles or more before 100."""
    r = states([seen, 0], [now, 0], roles=[0, 0, 0, 1, 1, 1, 1])
    assert same_state._moments_agree(SM, r, 0, 1) == agrees


@SINGLE_RULES
def test_the_state_comes_back(recurring):
    """The unchanged state equals the earlier one, although one warp has waited at its barrier throughout."""
    assert recurring.agrees()


@pytest.mark.every
@SINGLE_RULES
@pytest.mark.parametrize("path", [*paths(Role.SAME), *paths(Role.MOMENT), *paths(Role.NUMBER)])
def test_one_more_is_noticed(recurring, path):
    """One more is noticed in any word that must be the same, any moment, and any earlier value of a total."""
    assert recurring.unnoticed(path, lambda word: word + 1) == []


@SINGLE_RULES
@pytest.mark.parametrize(("held", "agrees"), [(0, True), (NEVER, False)])
def test_a_reader_counts_while_it_has_not_read(recurring, held, agrees):
    """The last reader of a register matters until it has been served, and no longer."""
    roles, reader = recurring.roles, int(np.flatnonzero(recurring.roles.awaited >= 0)[0])
    roles.kept[[recurring.before, recurring.here], roles.awaited[reader]] = held
    roles.kept[recurring.here, roles.roles[same_state.NUMBER] + reader] += 1
    assert same_state._numbers_agree(roles, recurring.before, recurring.here) == agrees


@SINGLE_RULES
@pytest.mark.parametrize("path", paths(Role.STAMP))
def test_a_stamp_may_differ(recurring, path):
    """A word that only the next retirement reads, after writing it, may differ."""
    places = recurring.places[path].tolist()
    assert recurring.unnoticed(path, lambda word: word + 1) == places


@pytest.mark.every
@SINGLE_RULES
@pytest.mark.parametrize("path", paths(Role.TIME))
def test_another_time_ahead_is_noticed(recurring, path):
    """A time that is now seven cycles ahead is noticed."""
    assert recurring.unnoticed(path, lambda _: recurring.now + 7) == []


@SINGLE_RULES
def test_another_release_time_is_noticed(recurring):
    """A release one cycle after its warp was settled is noticed, even in the past: the stalls would be different."""
    since = recurring.sm.warps["since"][: recurring.sm.warp_slots].max()
    assert recurring.unnoticed("warps.release_at", lambda _: since + 1) == []


@SINGLE_RULES
def test_a_busier_channel_is_noticed(recurring):
    """A memory channel that is busy for a 64th of a cycle more is noticed."""
    assert recurring.unnoticed("load_store.channel", lambda _: recurring.now * 64 + 1) == []


@SINGLE_RULES
def test_a_moment_that_stays_must_be_old(recurring):
    """A moment less than a slot of 2 cycles before the earlier state may still hold other schedulers, and must move."""
    roles, when = recurring.roles, recurring.roles.notes[recurring.before, same_state.WHEN]
    moments = slice(roles.roles[same_state.MOMENT], roles.roles[same_state.STAMP])
    at = moments.start + int(
        np.flatnonzero(roles.kept[recurring.here, moments] == roles.kept[recurring.before, moments])[0]
    )
    for age, agrees in ((2, True), (1, False)):
        roles.kept[[recurring.here, recurring.before], at] = when - age
        assert same_state._moments_agree(recurring.sm, roles, recurring.before, recurring.here) == agrees


@SINGLE_RULES
def test_a_number_taken_anew_must_keep_its_distance(recurring):
    """The sums at the first empty slot may stay only if no later slot has become the first empty one."""
    roles, (before, here) = recurring.roles, recurring.roles.kept[[recurring.before, recurring.here]]
    at = next(i for i, moment in enumerate(roles.renewal) if moment >= 0 and before[moment] != here[moment])
    number, total, moment = roles.roles[same_state.NUMBER] + at, roles.source[at], roles.renewal[at]
    roles.kept[recurring.here, [number, total]] = before[[number, total]] + [0, 5]
    assert not same_state._numbers_agree(roles, recurring.before, recurring.here)
    roles.kept[recurring.before, moment] = here[moment]
    assert same_state._numbers_agree(roles, recurring.before, recurring.here)


@SINGLE_RULES
@pytest.mark.parametrize("name", [same_state.AGE, same_state.ORDER])
@pytest.mark.parametrize(("seen", "now", "agrees"), [((3, 4), (3, 7), True), ((4, 3), (4, 6), False)])
def test_a_warp_that_stays_must_be_the_older_one_throughout(recurring, name, seen, now, agrees):
    """A warp may not overtake another by age or yield: `cggty` or `gto` would choose otherwise in the next period."""
    kept, ages = recurring.roles.kept, recurring.column(name)
    kept[recurring.before, ages : ages + 3] = *seen, 0
    kept[recurring.here, ages : ages + 3] = *now, 0
    assert same_state._order_agrees(recurring.sm, recurring.roles, name, recurring.before, recurring.here) == agrees


@SINGLE_RULES
@pytest.mark.parametrize(("ready_at", "more", "agrees"), [(0, 5, True), (9, 0, True), (9, 5, False)])
def test_the_sums_that_a_ready_warp_keeps_must_keep_their_distance(recurring, ready_at, more, agrees):
    """Sums that grow by 5 agree for a warp that has been ready throughout, not for one that has become ready again."""
    kept, unit = recurring.roles.kept, int(recurring.sm.warps[0].unit)
    kept[recurring.before] = kept[recurring.here]
    kept[recurring.here, recurring.column(same_state.READY_AT)] += ready_at
    kept[recurring.here, recurring.column(same_state.REFUSALS, unit * SHARED)] += more
    assert same_state._sums_agree(recurring.sm, recurring.roles, recurring.before, recurring.here, 0) == agrees
