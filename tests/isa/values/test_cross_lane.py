"""Cross-lane instructions: the value and the predicate that each lane gets from others."""

import math
import operator
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.launches import patterns32, patterns64

from isa.table import TABLE, machine_row
from isa.values import cross_lane
from isa.values.cross_lane import by_lane_group

WORDS = st.lists(patterns32(), min_size=32, max_size=32)
FEW_WORDS = st.lists(st.sampled_from((0, 1, 5, 1 << 31, (1 << 32) - 1)), min_size=32, max_size=32)
FEW_PAIRS = st.lists(st.sampled_from((0, 5, 1 << 32, (1 << 32) + 5, 1 << 63)), min_size=32, max_size=32)
LANES = st.lists(st.booleans(), min_size=32, max_size=32)
ZERO = [0] * 32


def across(row, a, b, c, active, name="across"):
    """Return the result of a row's function in every lane of one warp, as Python ints or bools."""
    words = [np.array(a, np.uint64) >> np.uint64(32 * word) for word in range(row.words_of("a"))]
    first = np.array([[each] for each in words], np.uint64).astype(np.uint32)
    others = (np.array([[each]], np.uint32) for each in (b, c))
    found = by_lane_group(getattr(row, name), first, *others, np.array([active]))
    return (found[0, 0] if name == "across" else found[0]).tolist()


def shuffled(mode, lane, b, c):
    """Return the lane that one lane names, its own if it may not, and whether it may: as the PTX ISA has shfl.sync."""
    mask, b = c >> 8 & 31, b % 32
    last, first = (lane & mask) | (c & 31 & ~mask), lane & mask
    named = {"UP": lane - b, "DOWN": lane + b, "BFLY": lane ^ b, "IDX": first | (b & ~mask)}[mode]
    in_range = named >= last if mode == "UP" else named <= last
    return (named if in_range else lane), in_range


@pytest.mark.parametrize("mode", ["UP", "DOWN", "BFLY", "IDX"])
@given(a=WORDS, b=WORDS, c=st.sampled_from((31, 0, 7, 0x181F, 0x1C03, 0x1F00, 0x1E1F)) | patterns32(), active=LANES)
def test_a_shuffle_takes_the_value_of_the_lane_named(mode, a, b, c, active):
    """Lane i gets a of the lane that the PTX ISA names within its segment; its own where none is, 0 if that is idle.

    The predicate tells whether it is in range, whether or not it takes part.
    """
    row, c = machine_row(f"SHFL.{mode}"), [c] * 32
    where = [shuffled(mode, i, b[i], c[i]) for i in range(32)]
    assert across(row, a, b, c, active) == [a[j] if active[j] else 0 for j, _ in where]
    assert across(row, a, b, c, active, "across_truth") == [ok for _, ok in where]


@pytest.mark.parametrize(
    ("mnemonic", "source"), [("SHFL.IDX", lambda _, b: b % 32), ("SHFL.BFLY", lambda i, b: i ^ b % 32)]
)
@given(a=WORDS, b=WORDS, active=LANES)
def test_a_shuffle_of_a_listing_reaches_the_whole_warp(mnemonic, source, a, b, active):
    """Lane i gets a of lane b, or of lane i xor b, modulo 32; 0 where that lane takes no part."""
    where = [source(i, b[i]) for i in range(32)]
    row = TABLE[mnemonic]
    assert across(row, a, b, [row.code] * 32, active) == [a[j] if active[j] else 0 for j in where]


@pytest.mark.parametrize("row", [TABLE["VOTE.BALLOT"], machine_row("VOTE.ANY"), machine_row("VOTEU.ALL")])
@given(a=WORDS, flags=LANES, active=LANES)
def test_a_ballot_has_a_bit_for_each_lane_that_says_yes(row, a, flags, active):
    """A vote's word has bit i set where lane i takes part and its predicate holds, alike in every lane."""
    votes = sum(1 << i for i in range(32) if flags[i] and active[i])
    assert across(row, a, a, flags, active) == [votes] * 32


@pytest.mark.parametrize(("mode", "agreed"), [("ANY", any), ("ALL", all), ("EQ", lambda said: len(set(said)) < 2)])
@given(flags=LANES | st.sampled_from(([True] * 32, [False] * 32)), active=LANES)
def test_a_vote_tells_whether_the_lanes_that_take_part_agree(mode, agreed, flags, active):
    """VOTE.ANY, ALL and EQ tell whether any, every or each lane alike says yes, in every lane."""
    said = [flag for flag, on in zip(flags, active, strict=True) if on]
    assert across(machine_row(f"VOTE.{mode}"), ZERO, ZERO, flags, active, "across_truth") == [agreed(said)] * 32


def signed(x):
    """Return a pattern as a signed number."""
    return x - (1 << 32) if x >> 31 else x


REDUCTIONS = {
    "REDUX.SUM": lambda taken: sum(taken) % 2**32,
    "REDUX.SUM.S32": lambda taken: sum(taken) % 2**32,
    "REDUX.MIN": min,
    "REDUX.MAX": max,
    "REDUX.MIN.S32": lambda taken: min(taken, key=signed),
    "REDUX.MAX.S32": lambda taken: max(taken, key=signed),
    "REDUX": lambda taken: reduce(operator.and_, taken),
    "REDUX.OR": lambda taken: reduce(operator.or_, taken),
    "REDUX.XOR": lambda taken: reduce(operator.xor, taken),
}


@pytest.mark.parametrize("mnemonic", REDUCTIONS)
@given(a=WORDS | FEW_WORDS, active=LANES.filter(any))
def test_a_reduction_joins_the_lanes_that_take_part(mnemonic, a, active):
    """REDUX is the sum, minimum, maximum, and, or, exclusive or of a over the active lanes, in every lane."""
    taken = [x for x, on in zip(a, active, strict=True) if on]
    assert across(machine_row(mnemonic), a, a, a, active) == [REDUCTIONS[mnemonic](taken)] * 32


SINGLES = patterns32() | st.sampled_from([0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000, 0xBF800000])


def reduced(words, operation):
    """Return the least or greatest single, or size, of some: NaN of NaN alone, or if the text says so of any."""
    name, *modes = operation.split(".")
    numbers = [(float(np.uint32(x).view(np.float32)), x) for x in words]
    if "ABS" in name:
        numbers = [(abs(x), word & 0x7FFFFFFF) for x, word in numbers]
    kept = [(x, word < 1 << 31, word) for x, word in numbers if not math.isnan(x)]
    if not kept or ("NAN" in modes and len(kept) < len(numbers)):
        return 0x7FFFFFFF
    return (min if name.startswith("MIN") else max)(kept)[2]


@pytest.mark.parametrize("operation", cross_lane.SINGLES)
@given(a=st.lists(SINGLES, min_size=32, max_size=32), active=LANES.filter(any))
def test_a_reduction_of_singles(operation, a, active):
    """CREDUX of singles is their least or greatest, by number or size, -0 below +0, in every lane."""
    taken = [x for x, on in zip(a, active, strict=True) if on]
    found = across(machine_row(f"CREDUX.{operation}"), a, a, a, active)
    assert found == [reduced(taken, operation)] * 32


@pytest.mark.parametrize(("suffix", "words"), [("", FEW_WORDS), (".U64", FEW_PAIRS)])
@given(data=st.data(), active=LANES)
def test_a_match_finds_the_lanes_with_the_same_value(suffix, words, data, active):
    """MATCH.ANY gives each lane the mask of the active lanes with its value, MATCH.ALL that of all if all have one."""
    a = data.draw(words | st.just([7] * 32) | (st.lists(patterns64(), min_size=32, max_size=32) if suffix else WORDS))
    masks = [sum(1 << j for j in range(32) if active[j] and a[j] == a[i]) for i in range(32)]
    assert across(machine_row(f"MATCH.ANY{suffix}"), a, ZERO, ZERO, active) == masks
    alike = len({x for x, on in zip(a, active, strict=True) if on}) < 2
    every = sum(1 << i for i in range(32) if active[i])
    row = machine_row(f"MATCH.ALL{suffix}")
    assert across(row, a, ZERO, ZERO, active) == [every if alike else 0] * 32
    assert across(row, a, ZERO, ZERO, active, "across_truth") == [alike] * 32


@given(WORDS, LANES)
def test_what_a_warp_shares_comes_from_its_first_lane(a, active):
    """R2UR gives every lane the value of the first lane that takes part."""
    first = active.index(True) if any(active) else None
    assert across(machine_row("R2UR"), a, a, a, active) == [a[first] if first is not None else 0] * 32


@given(FEW_WORDS, st.lists(st.integers(0, 1), min_size=32, max_size=32), LANES.filter(any))
def test_lanes_are_told_that_they_have_another_value_than_the_first(a, before, active):
    """R2UR's predicate tells a lane that its value is not the first lane's, or what R2UR.OR gets already told it."""
    first = a[active.index(True)]
    told = across(machine_row("R2UR.OR"), a, a, before, active, "across_truth")
    assert told == [x != first or bool(old) for x, old in zip(a, before, strict=True)]


def test_halves_of_a_wide_warp_do_not_see_each_other():
    """Of 64 lanes, each half gets the sum of its own."""
    a = np.arange(64, dtype=np.uint32)[None, None]
    total = by_lane_group(TABLE["REDUX.SUM"].across, a, a, a, np.ones((1, 64), np.bool_))[0, 0].tolist()
    assert total == [sum(range(32))] * 32 + [sum(range(32, 64))] * 32
