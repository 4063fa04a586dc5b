"""Tests of the comparison behind fast-forward: whatever differs between two states is noticed (plain Python only)."""

from __future__ import annotations

import numpy as np
import pytest
from timing import plain_machine
from twins import differences

from gpusim.engines import compiled
from gpusim.engines.simulate import run_sm
from gpusim.jit.rule import COMPILED, NEVER
from gpusim.launch.launch import launch
from gpusim.rules import fast_forward, same_state
from gpusim.state import recurrence
from gpusim.units.declare import Extent, Role
from gpusim.units.stall import SHARED
from isa.errors import LimitError
from isa.text.listing import read

pytestmark = pytest.mark.skipif(COMPILED, reason="calls single rules, which compiled code alone can call")

# Two warps of a steady loop that keeps loads, a pipe and the queue busy, while a third waits at a barrier.
STEADY = """
.block 96
.shared 4096
.buffer x u32 1024
    S2R R0, LANEID
    SHL R1, R0, 3
    S2R R2, WARPID
    SHL R3, R0, 2
    IADD R3, R3, c[x]
    ISETP.EQ P0, R2, 2
    @P0 BRA meet
    MOV R4, 0
again:
    LDS.64 R6, [R1]
    DADD R8, R8, R6
    DADD R10, R10, R6
    LDG R5, [R3]
    STS [R1], R4
    FADD R12, R12, R5
    IADD R4, R4, 1
    ISETP.LT P1, R4, 60
    @P1 BRA again
meet:
    BAR.SYNC 0
    EXIT
"""
WORDS = {word.path: word.field for word in recurrence.words("sm", dict.fromkeys(recurrence.DIMENSIONS, 0))}


def paths(role):
    """Paths of the fields of a role; of numbers, those that matter at all times."""
    return [path for path, field in WORDS.items() if field.role is role and not field.awaited]


CHANGES = {"schedulers.count": 2, "load_store.queue": 2, "limits.blocks": 1, "double.exclusive": "issue"}


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


class Recurring:
    """A launch at the moment when its state has come back."""

    def __init__(self, monkeypatch):
        kernel = read(STEADY)
        self.started = launch(kernel, plain_machine(CHANGES), feed="trace-driven", fast_forward=True)
        self.sm, rows = self.started.sm, len(self.started.program)
        extent = Extent(self.sm, rows, kernel.program.registers)
        used = {size: size.used(extent) for size in recurrence.DIMENSIONS}
        self.places = {word.path: word.places for word in recurrence.words("sm", used)}
        self.roles = recurrence.recurrence(self.started.sms, rows, kernel.program.registers)
        monkeypatch.setattr(fast_forward, "_move", self.stop)
        with pytest.raises(StopIteration):
            compiled.run(self.started.sms, self.started.memory, self.roles, NEVER, NEVER)
        self.now = int(self.roles.notes[self.here, same_state.WHEN])

    def stop(self, _sm, _roles, before, here, *_):
        """Instead of taking periods, note from where to where they go, and stop."""
        self.before, self.here = before, here
        raise StopIteration

    def column(self, name, i=0):
        """The column of the i-th word of a name."""
        return self.roles.columns[name] + i

    def agrees(self):
        """Whether the state is held to be the earlier one."""
        self.roles.kept[self.here] = self.roles.words[self.roles.places]
        return same_state.agree(self.sm, self.roles, self.before, self.here)

    def unnoticed(self, path, change):
        """Indices of those words of a path that may be changed, one at a time, without being noticed."""
        missed, words = [], self.roles.words
        for place in self.places[path]:
            before = words[place]
            words[place] = change(before)
            if words[place] != before and self.agrees():
                missed.append(int(place))
            words[place] = before
        return missed


@pytest.fixture(scope="module")
def once():
    """A launch of STEADY whose state has come back."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return Recurring(monkeypatch)


@pytest.fixture
def recurring(once):
    """The same, for a test to change: every array is put back behind it."""
    before = [array.copy() for array in once.roles]
    yield once
    for array, kept in zip(once.roles, before, strict=True):
        array[:] = kept


def test_the_state_comes_back(recurring):
    """Unchanged, the state is the candidate's, though one warp has waited at its barrier all the while."""
    assert recurring.agrees()


@pytest.mark.parametrize("path", [*paths(Role.SAME), *paths(Role.MOMENT), *paths(Role.NUMBER)])
def test_one_more_is_noticed(recurring, path):
    """Whatever is the same, a moment, or a total's earlier value, can't be one more without being noticed."""
    assert recurring.unnoticed(path, lambda word: word + 1) == []


@pytest.mark.parametrize(("held", "agrees"), [(0, True), (NEVER, False)])
def test_a_reader_counts_while_it_has_not_read(recurring, held, agrees):
    """Which instruction reads a register last matters until it has been served, and no longer."""
    roles, reader = recurring.roles, int(np.flatnonzero(recurring.roles.awaited >= 0)[0])
    roles.kept[[recurring.before, recurring.here], roles.awaited[reader]] = held
    roles.kept[recurring.here, roles.roles[same_state.NUMBER] + reader] += 1
    assert same_state._numbers_agree(roles, recurring.before, recurring.here) == agrees


@pytest.mark.parametrize("path", paths(Role.STAMP))
def test_a_stamp_may_differ(recurring, path):
    """What only the next retirement reads, having written it, keeps no state from coming back."""
    places = recurring.places[path].tolist()
    assert recurring.unnoticed(path, lambda word: word + 1) == places


@pytest.mark.parametrize("path", paths(Role.TIME))
def test_another_time_ahead_is_noticed(recurring, path):
    """No time can lie seven cycles ahead that did not."""
    assert recurring.unnoticed(path, lambda _: recurring.now + 7) == []


def test_another_release_time_is_noticed(recurring):
    """No reason can let go one cycle after its warp was settled, past as that may be: its stalls would be others."""
    since = recurring.sm.warps["since"][: recurring.sm.warp_slots].max()
    assert recurring.unnoticed("warps.release_at", lambda _: since + 1) == []


def test_a_busier_channel_is_noticed(recurring):
    """The memory channel can't be taken for a 64th of a cycle more than it was."""
    assert recurring.unnoticed("load_store.channel", lambda _: recurring.now * 64 + 1) == []


def test_what_stayed_must_have_been_still(recurring):
    """A moment inside the last issue interval before the earlier state may hold other schedulers, and so must move."""
    roles, when = recurring.roles, recurring.roles.notes[recurring.before, same_state.WHEN]
    moments = slice(roles.roles[same_state.MOMENT], roles.roles[same_state.STAMP])
    at = moments.start + int(
        np.flatnonzero(roles.kept[recurring.here, moments] == roles.kept[recurring.before, moments])[0]
    )
    for age, agrees in ((2, True), (1, False)):
        roles.kept[[recurring.here, recurring.before], at] = when - age
        assert same_state._moments_agree(recurring.sm, roles, recurring.before, recurring.here) == agrees


def test_a_number_taken_anew_must_keep_its_distance(recurring):
    """The sums at the first empty slot may stay only as long as no slot was the first empty one again."""
    roles, (before, here) = recurring.roles, recurring.roles.kept[[recurring.before, recurring.here]]
    at = next(i for i, moment in enumerate(roles.renewal) if moment >= 0 and before[moment] != here[moment])
    number, total, moment = roles.roles[same_state.NUMBER] + at, roles.source[at], roles.renewal[at]
    roles.kept[recurring.here, [number, total]] = before[[number, total]] + [0, 5]
    assert not same_state._numbers_agree(roles, recurring.before, recurring.here)
    roles.kept[recurring.before, moment] = here[moment]
    assert same_state._numbers_agree(roles, recurring.before, recurring.here)


@pytest.mark.parametrize("name", [same_state.AGE, same_state.ORDER])
@pytest.mark.parametrize(("seen", "now", "agrees"), [((3, 4), (3, 7), True), ((4, 3), (4, 6), False)])
def test_a_warp_that_stays_must_be_the_older_one_throughout(recurring, name, seen, now, agrees):
    """A warp may not overtake another by age or yield: `cggty` or `gto` would choose otherwise in the next period."""
    kept, ages = recurring.roles.kept, recurring.column(name)
    kept[recurring.before, ages : ages + 3] = *seen, 0
    kept[recurring.here, ages : ages + 3] = *now, 0
    assert same_state._order_agrees(recurring.sm, recurring.roles, name, recurring.before, recurring.here) == agrees


@pytest.mark.parametrize(("ready_at", "more", "agrees"), [(0, 5, True), (9, 0, True), (9, 5, False)])
def test_what_a_ready_warp_remembers_must_keep_its_distance(recurring, ready_at, more, agrees):
    """Sums that grow by 5 are the same to a warp that has been ready all along, and not to one ready anew."""
    kept, unit = recurring.roles.kept, int(recurring.sm.warps[0].unit)
    kept[recurring.before] = kept[recurring.here]
    kept[recurring.here, recurring.column(same_state.READY_AT)] += ready_at
    kept[recurring.here, recurring.column(same_state.REFUSALS, unit * SHARED)] += more
    assert same_state._sums_agree(recurring.sm, recurring.roles, recurring.before, recurring.here, 0) == agrees


def test_old_states_are_thinned_out_and_recent_ones_stay(recurring):
    """When all rows are taken, older states stay at even distances, the latest all stay, in the order of time."""
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
    """What a launch with and without fast-forward disagree on; None if it does not end."""
    try:
        runs = [
            run_sm(read(text), plain_machine(CHANGES), feed="trace-driven", fast_forward=forward, max_cycles=100_000)
            for forward in (True, False)
        ]
    except LimitError:
        return None
    return differences(*runs)


@pytest.mark.parametrize(
    ("text", "rule", "mutant"),
    [
        (STEADY, "_rounds_left", lambda *_: NEVER),
        (STEADY, "_keeps_step", lambda *_: True),
        (STEADY, "_moved", lambda _before, now, _way, _distance: now),
        (STEADY, "_move_warp", lambda *_: None),
        (BLOCKS, "_blocks_alike", lambda *given: given[-1]),
    ],
    ids=lambda value: value if str(value).startswith("_") else "",
)
def test_a_wrong_rule_is_noticed(monkeypatch, text, rule, mutant):
    """Loops taken too far, words left behind, blocks not looked at: each gives another answer than going on does."""
    assert differ(text) == []
    monkeypatch.setattr(fast_forward, rule, mutant)
    assert differ(text) != []
