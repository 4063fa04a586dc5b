"""What copies take of the load/store unit: hand-worked times of the rule, and of loops of copies on an H200."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.sm.memory.async_copy import async_copy, copy_path
from gpusim.sm.memory.shared_memory.declaration import VOLTA
from isa.text.listing import read

H200 = load("h200", {"chip.sms": 1, "l2.filled": "1"})
MACHINE = SimpleNamespace(
    copy_cycles=2,
    behind_passes=4,
    pass_cost=16,
    line_again=128,
    passes_ahead=64,
    lines_ahead=250,
    port_parts=64,
    far_latency=[0] * 6 + [279],
)
WARPS = 32
MADE = SimpleNamespace(idle=0)  # an access that some lane makes


def sm(**has):
    """Return an SM whose load/store unit has served nothing."""
    unit = {"copied": 0, "brought": 0, "near_copies": 0, "late": 0, "port": [0, 0]} | has
    return SimpleNamespace(machine=MACHINE, load_store=SimpleNamespace(**unit))


def copy(*, near=1):
    """Return a copy's row, through the L1 or past it."""
    return SimpleNamespace(through_l1=near, far=6, port=6, port_cycles=2, copies=1, service=0, grouping=0)


@pytest.mark.parametrize(
    ("passes", "near", "kept"), [(1, 1, 2), (2, 1, 3), (3, 1, 4), (4, 1, 2), (32, 1, 2), (4, 0, 2)]
)
def test_a_copy_keeps_the_unit_for_few_passes_and_one_cycle_in_the_l1(passes, near, kept):
    """One to three passes and one cycle; from four passes on two cycles, through the L1 and past it."""
    assert copy_path.kept(MACHINE, copy(near=near), passes) == kept


def test_passes_of_copies_follow_one_another_and_the_unit_waits_when_it_is_too_far_ahead():
    """Each of four passes and a quarter of a cycle: 68 cycles behind 16 copies, so that the 17th waits until 4."""
    state, queue = sm(), SimpleNamespace(free=0, passed=0)
    for _ in range(16):
        assert copy_path.enter(state, copy(), 0) == 0
        copy_path.take(state, queue, copy(), SimpleNamespace(cycles=4, requests=4), 0)
    assert state.load_store.copied == 16 * (4 * 64 + 16)
    assert copy_path.enter(state, copy(), 0) == 68 - 64
    assert queue.passed == 16 * 4 * 2
    assert queue.free == 128 - 64


def test_lines_that_come_cost_two_cycles_each_once_the_unit_is_a_latency_ahead():
    """Copies of one pass take two cycles, and two for their line: the 63rd enters 2 cycles late, at 252 - 250."""
    state, queue = sm(late=1), SimpleNamespace(free=0, passed=0)
    for _ in range(63):
        copy_path.take(state, queue, copy(), SimpleNamespace(cycles=1, requests=1), 0)
    assert state.load_store.brought == 63 * (2 + 2) * 64
    state.load_store.copied = 0
    assert copy_path.enter(state, copy(), 0) == 2
    assert queue.free == 6


def test_a_copy_takes_a_pass_for_each_of_its_lines():
    """Eight rows of 64 bytes are eight lines: eight passes, though lanes write in four."""
    state = sm()
    copy_path.take(state, SimpleNamespace(free=0, passed=0), copy(), SimpleNamespace(cycles=4, requests=8), 0)
    assert state.load_store.copied == 8 * 64 + 16


def test_words_past_the_l1_are_there_when_those_before_have_passed():
    """Ten copies of eight passes each: the last is done a latency behind its 80 cycles."""
    state, queue = sm(), SimpleNamespace(free=0, passed=0)
    done = [copy_path.take(state, queue, copy(near=0), SimpleNamespace(cycles=8, requests=4), 0) for _ in range(10)]
    assert done == [279 + 8 * n for n in range(1, 11)]


def test_a_copy_past_the_l1_waits_for_the_channel_to_the_l2():
    """The unit is 64 cycles ahead of the channel at most, which is free at 100."""
    assert copy_path.enter(sm(port=[100 * 64, 0]), copy(near=0), 0) == 36
    assert copy_path.enter(sm(port=[100 * 64, 0]), copy(), 0) == 0


def test_what_is_served_behind_copies_passes_behind_them():
    """A load of two passes behind 10 cycles of copies passes at 10, the next one at 12; without copies at once."""
    load_ = SimpleNamespace(copies=0, service=0, grouping=0)
    state = sm(copied=10 * 64, brought=10 * 64)
    assert [copy_path.follow(state, load_, MADE, 2, 0) for _ in range(2)] == [10, 12]
    assert state.load_store.brought == 14 * 64
    assert copy_path.follow(sm(), load_, MADE, 2, 5) == 5


def test_what_has_no_passes_takes_some_behind_copies_through_the_l1_alone():
    """LDGDEPBAR, three cycles, behind 10 cycles of copies: the next passes at 13 behind those in the L1, else at 10."""
    close, load_ = (SimpleNamespace(copies=0, service=n, grouping=g) for n, g in ((3, 2), (0, 0)))
    for near, then in ((1, 13), (0, 10)):
        state = sm(copied=10 * 64, brought=10 * 64, near_copies=near)
        assert [copy_path.follow(state, close, MADE, 3, 0), copy_path.follow(state, load_, MADE, 1, 0)] == [10, then]


def cycles(*lines, warps=WARPS, engine=ENGINES[0]):
    """Return the cycles of a block whose warps have places of their own (R1, words R6) and one source (R3, R7)."""
    head = f"""
.block {32 * warps}
.shared {64 * 1024}
.buffer x u32 65536
    S2R R0, TID.X
    SHL R1, R0, 4
    IADD R2, R1, c[x]
    LOP.AND R5, R0, 31
    SHL R4, R5, 4
    IADD R3, R4, c[x]
    SHL R6, R0, 2
    SHL R7, R5, 2
    IADD R7, R7, c[x]
"""
    return run_sm(read(head + "\n".join(lines) + "\nEXIT"), H200, engine=engine).cycles


def each(lines, count, **also):
    """Return how many cycles a further round of these lines takes."""
    return (cycles(*lines * (2 * count), **also) - cycles(*lines * count, **also)) / count


@pytest.mark.parametrize("engine", ENGINES)
def test_a_group_without_copies_takes_three_cycles_of_the_sm_and_some_forty_of_a_warp(engine):
    """As an H200 does: 96.2 cycles for each by 32 warps, and 41.6 by one, whose wait follows 37 behind the service."""
    pair = ["LDGDEPBAR", "DEPBAR.LE SB0, 0"]
    assert each(pair, 8, engine=engine) == pytest.approx(96.2, rel=0.02)
    assert each(pair, 8, warps=1, engine=engine) == pytest.approx(41.6, abs=4)


@pytest.mark.jit
def test_copies_that_hit_take_what_they_take_on_an_h200():
    """By 32 warps: of 4 bytes 2 cycles, of 16 bytes 4.25, with three for each LDGDEPBAR, once the L1 has the lines."""
    copies = ["LDGSTS [R6], [R7]"] * 8, ["LDGSTS.128 [R1], [R3]"] * 8
    close = ["LDGDEPBAR", "DEPBAR.LE SB0, 1"]
    small, large = (each([*some, *close], 4) / WARPS for some in copies)
    assert small == pytest.approx(8 * 2 + 3, rel=0.12)
    assert large == pytest.approx(8 * 4.25 + 3, rel=0.05)


def pieces(length, pitch, *, swizzled=False, first=0):
    """Return the passes of a copy past the L1 of rows of so many bytes, a KB apart, to rows so many bytes apart."""
    lanes = 16 * np.arange(32)
    row, byte = lanes // length, lanes % length
    places = (first + row) * pitch + (byte ^ (row % (length // 16) * 16) if swizzled else byte)
    state = SimpleNamespace(
        machine=SimpleNamespace(groups=1, banks=32, line_bytes=128, pass_cycles=1),
        launch=SimpleNamespace(cluster=1),
        warps=[SimpleNamespace(pc=0)],
        program=[SimpleNamespace(to_offset=0, to_pointer=0, to_scale=1, to_uniform=-1)],
        lanes=[SimpleNamespace(registers=places.reshape(1, 32))],
        scratch=SimpleNamespace(address=row * 1024 + byte),
    )
    return async_copy._pieces(state, 0, 2**32 - 1)


@pytest.mark.parametrize(
    ("length", "pitch", "passes", "measured"),
    [
        (128, 128, 4, 3.87),
        (128, 160, 1 + 2 + 2 + 2, 6.65),
        (128, 192, 1 + 2 + 1 + 2, 5.85),
        (64, 64, 8, 7.65),
        (64, 96, 10, 9.84),
        (64, 80, 15, 14.8),
    ],
)
def test_lines_past_the_l1_pass_by_rows_of_banks_and_halves_of_sectors(length, pitch, passes, measured):
    """A line passes once for each 128 bytes of shared memory, and twice there if its sectors are split between two.

    Rows 80 bytes apart: at 0, 32 and 64 one pass, at 96 two (crossing), at 16 and 48 two (split), at 80 and 112 three.
    Measured on an H200, 2026-11-29: cycles of the SM for each further copy of 8 warps.
    """
    assert pieces(length, pitch) == passes
    assert passes == pytest.approx(measured, rel=0.06)


def test_split_rows_of_a_whole_line_pass_in_three_or_four():
    """Rows 144 bytes apart: 1, 3, 2, 4 passes for those at 0, 16, 32, 48, then 2, 4, 2, 3.

    Measured on an H200, 2026-11-29: 10.3 cycles of the SM for each copy of 8 warps.
    """
    both = pieces(128, 144), pieces(128, 144, first=4)
    assert both == (1 + 3 + 2 + 4, 2 + 4 + 2 + 3)
    assert sum(both) / 2 == pytest.approx(10.25, rel=0.03)


@pytest.mark.parametrize("length", [64, 128])
def test_swizzled_rows_pass_once(length):
    """Halves that change places inside a sector, and sectors inside 128 bytes, cost nothing (measured on an H200)."""
    assert pieces(length, length, swizzled=True) == 512 // length


@pytest.mark.parametrize(
    ("source", "place", "words", "passes"),
    [
        (lambda lane: 4 * lane, lambda lane: 4 * lane, 1, 1),  # a line to a row
        (lambda lane: 16 * lane, lambda lane: 16 * lane, 4, 4),  # four lines to four rows, a quarter-warp each
        (lambda lane: 128 * lane, lambda lane: 4 * lane, 1, 32),  # a word of each of 32 lines, without conflicts
        (lambda lane: 4 * lane, lambda lane: 128 * lane, 1, 32),  # a line to one bank
        (lambda lane: 16 * (lane % 16) + 512 * (lane // 16), lambda lane: 512 * (lane % 16) + lane // 16 * 4, 1, 32),
    ],
)
def test_words_of_a_line_pass_apart_from_those_of_others(source, place, words, passes):
    """A copy through the L1 takes, for each line of its source, the passes of a store of that line's words.

    The last one is a tile of 4-byte numbers that is transposed: four lines, of which eight words go to one bank each.
    """
    lanes = np.arange(32)
    state = SimpleNamespace(
        machine=SimpleNamespace(
            groups=1, banks=32, line_bytes=128, pass_cycles=1, copy_cycles=2, shared_rule=VOLTA, shared_ideal=0
        ),
        launch=SimpleNamespace(cluster=1),
        outcome=SimpleNamespace(written=1),
        lanes=[SimpleNamespace(registers=place(lanes).reshape(1, 32))],
        scratch=SimpleNamespace(
            address=source(lanes).astype(np.uint32),
            source=np.zeros(32, np.uint32),
            seen=np.zeros((32, 32), np.int64),
            depth=np.zeros(32, np.int64),
        ),
    )
    row = SimpleNamespace(through_l1=1, words=words, to_offset=0, to_pointer=0, to_scale=1, to_uniform=-1)
    assert async_copy.written(state, row, 0, 2**32 - 1) == passes
    assert list(state.scratch.address) == list(source(lanes))
