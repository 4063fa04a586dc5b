"""Effects with times: they land in the order of their times, and of their posting, on memory that all see."""

from hypothesis import given
from hypothesis import strategies as st

from gpusim.launch.launch import launch
from gpusim.machine.machine import load
from gpusim.sm.effects import effects
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import EFFECTS, NEVER
from isa.text.listing import read

WORDS = 4  # of shared memory that the effects write


def fresh():
    """Return the launch of a kernel of two warps that has effects, nothing of which has happened yet."""
    text = ".block 64\n.shared 64\n.buffer x u32 64\nLDGSTS [R0], [R1]\nEXIT"
    return launch(read(text), load("h200", {"chip.sms": 1}))


def post(prepared, g, number, place, value):
    """Post that warp slot g's access of that number will write a value to a word of shared memory."""
    effect = effects.post(prepared.sm, g, 0)
    effect.access, effect.words, effect.mask[0] = number, 1, 1
    effect.places[0, 0], effect.values[0, 0, 0] = prepared.sm.launch.shared_word + place, value


def shared(prepared):
    """Return the first words of shared memory."""
    first = int(prepared.sm.launch.shared_word)
    return prepared.memory[first : first + WORDS].tolist()


POSTED = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, WORDS - 1), st.integers(1, 9), st.booleans()), min_size=1, max_size=12
)


@given(POSTED, st.data())
def test_effects_land_by_time_and_then_by_posting(posted, data):
    """At each time memory holds what the effects due by then leave in the order (time, posting); others don't show."""
    prepared = fresh()
    for number, (g, place, _, _) in enumerate(posted, 1):
        post(prepared, g, number, place, number)
    known = [(when, number, g, place) for number, (g, place, when, told) in enumerate(posted, 1) if told]
    for when, number, g, _ in data.draw(st.permutations(known)):
        effects.done(prepared.sm, g, number, when)
    expected, left = [0] * WORDS, sorted(known)
    while left:
        now = left[0][0]
        assert prepared.sm.agenda[prepared.sm.effects_agent] == now
        effects.land(prepared.sm, prepared.memory, now)
        while left and left[0][0] == now:
            _, number, _, place = left.pop(0)
            expected[place] = number
        assert shared(prepared) == expected
    assert prepared.sm.agenda[prepared.sm.effects_agent] == NEVER
    assert sum(warp.effects for warp in prepared.sm.warps[:2]) == len(posted) - len(known)


def test_a_lane_that_is_not_active_writes_nothing():
    """Of an effect's lanes those in its mask write."""
    prepared = fresh()
    post(prepared, 0, 1, 0, 5)
    effect = prepared.sm.effects[0, 0]
    effect.places[0, 1], effect.values[0, 0, 1] = effect.places[0, 0] + 1, 6
    effects.done(prepared.sm, 0, 1, 3)
    effects.land(prepared.sm, prepared.memory, 3)
    assert shared(prepared) == [5, 0, 0, 0]


def test_too_many_effects_of_a_warp_are_a_fault():
    """A warp has room for so many effects; the instruction that would post one more is at fault."""
    prepared = fresh()
    for number in range(EFFECTS):
        assert effects.has_room(prepared.sm, 1, 0)
        post(prepared, 1, number + 1, 0, 0)
    assert not effects.has_room(prepared.sm, 1, 0)
    assert (prepared.sm.fault.code, prepared.sm.fault.warp) == (Fault.CROWDED, 1)
