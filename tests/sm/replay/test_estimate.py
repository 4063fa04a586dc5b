"""Estimates on request: within the error that was asked for, at a cost that longer loops do not raise."""

from __future__ import annotations

import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, launches, looping_kernels

from gpusim.engines.simulate import run_sm
from gpusim.launch import feed
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.sm.state.every import EVERY
from gpusim.sm.unit.declare import Role
from isa.errors import LimitError, UserError
from isa.text.listing import read
from workloads.catalog import make

HALF = 5000  # parts in a million: 0.5 %
DRIFTING = {  # launches of which no state comes back, or too late, with their machines
    "two blocks of sg4": ("sg4", {"k": "8192"}, "wide"),
    "two blocks of lai": ("sgemm-lai", {"m": "384", "n": "480", "k": "9600"}, "gtx580"),
    "lai on wide": ("sgemm-lai", {"m": "384", "n": "480", "k": "4800"}, "wide"),
    "lai with loads of 32 bits": ("sgemm-lai", {"m": "384", "n": "480", "k": "9600", "lds": "32"}, "gtx580"),
    "a stencil's product": ("gemm-stencil", {"m": "768", "n": "768", "k": "4096"}, "gtx580"),
}


TAGGED = {  # launches whose caches keep tags
    "sg4": ("sg4", {"k": "4096"}, "h200"),
    "lai": ("sgemm-lai", {"m": "384", "n": "480", "k": "9600"}, "rtx3090"),
}
STAYING = {  # what estimates leave as it is, of what states leave out: neither a time nor a total
    "waited", "held_line", "held_sectors", "held_next", "ahead", "began", "late", "late_last", "returns", "slice_line",
    "updates", "near_copies", "requests", "from_others", "differing", "sharers", "waves_apart", "later", "stands",
    "room_before", "room_of_wave", "wave", "stored", "owed", "lockstep", "dram_asked", "dram_before",
}  # fmt: skip
WINDOWS = {"dram_window", "dram_turns"}  # numbers of the DRAM's windows of time, which moved_memory.py moves


# A line is loaded in each of 400 rounds, which have 16 rounds of a loop inside.
NESTED = """
.grid 328
.block 128
.buffer x u32 131072
    S2R R0, LANEID
    SHL R0, R0, 2
    S2R R1, CTAID.X
    SHL R1, R1, 9
    IADD R0, R0, R1
    IADD R0, R0, c[x]
    MOV R3, 0
outer:
    LDG R2, [R0]
    IADD R0, R0, 128
    MOV R4, 0
inner:
    FFMA R5, R5, R5, R5
    FFMA R6, R6, R6, R5
    IADD R4, R4, 1
    ISETP.LT P0, R4, 16
    @P0 BRA inner
    IADD R3, R3, 1
    ISETP.LT P1, R3, 400
    @P1 BRA outer
    EXIT
"""


def simulated(run):
    """Cycles that were simulated one by one."""
    return run.cycles - run.skipped - run.estimated


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("name", DRIFTING)
def test_cycles_and_counts_are_within_the_error(name):
    """Cycles, instructions and warp-cycles of an estimate lie within 0.5 % of the full simulation's, and cost less."""
    kernel, parameters, machine = DRIFTING[name]
    made, where = make(kernel, parameters), load(machine)
    guess, full = (run_sm(made, where, feed="trace-driven", tolerance=tolerance) for tolerance in (HALF, 0))
    assert guess.estimated > 0
    assert guess.doubt <= HALF * guess.cycles // 1_000_000
    assert guess.cycles == pytest.approx(full.cycles, rel=0.005)
    assert guess.warp_instructions == pytest.approx(full.warp_instructions, rel=0.005)
    assert guess.stalls.sum() == pytest.approx(full.stalls.sum(), rel=0.005)
    assert simulated(guess) < simulated(full)


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("name", TAGGED)
def test_loops_are_estimated_where_caches_keep_tags(name):
    """Cycles are within the 0.5 % asked for, what moved is within 0.5 %, and most cycles are not simulated."""
    kernel, parameters, machine = TAGGED[name]
    made, where = make(kernel, parameters), load(machine)
    guess, full = (run_sm(made, where, feed="trace-driven", tolerance=tolerance) for tolerance in (HALF, 0))
    assert guess.estimated > full.cycles // 2
    assert guess.doubt <= HALF * guess.cycles // 1_000_000
    assert guess.cycles == pytest.approx(full.cycles, rel=0.005)
    assert guess.warp_instructions == pytest.approx(full.warp_instructions, rel=0.005)
    assert guess.sectors == pytest.approx(full.sectors, rel=0.005)
    assert guess.pipe_cycles == pytest.approx(full.pipe_cycles, rel=0.005)


@pytest.mark.jit
@pytest.mark.long
def test_a_loop_twice_as_long_costs_hardly_more_with_tags():
    """Of sg4 on h200, k = 16384 costs at 2 % less than 20 % more simulated cycles than k = 8192."""
    short, long = (
        run_sm(make("sg4", {"k": str(k)}), load("h200"), feed="trace-driven", tolerance=4 * HALF) for k in (8192, 16384)
    )
    assert simulated(long) < 1.2 * simulated(short)


@pytest.mark.jit
def test_a_sample_is_estimated_too():
    """With both options whole waves are simulated, their loops at their mean cost; warp-cycles add up exactly."""
    kernel = make("sgemm-lai", {"m": "1152", "n": "23040", "k": "4800"})
    found = simulate(kernel, "rtx3090", values=False, sample=1, estimate=2.0)
    run, scaling = found.run, found.scaling
    assert scaling.method == "waves+steady"
    assert scaling.estimate.error_percent == 2.0
    assert 3 * run.estimated > run.cycles
    assert int(run.stalls.sum()) + run.empty == run.cycles * run.warp_slots


@pytest.mark.jit
def test_loops_around_others_are_estimated_where_caches_keep_tags():
    """An outer loop is watched though an inner one goes round 16 times in between; its error is the one asked for."""
    kernel, machine = read(NESTED), load("rtx3090")
    guess, full = (run_sm(kernel, machine, feed="trace-driven", blocks=8, tolerance=t) for t in (4 * HALF, 0))
    assert 3 * guess.estimated > full.cycles
    assert guess.cycles == pytest.approx(full.cycles, rel=0.02)
    assert guess.warp_instructions == pytest.approx(full.warp_instructions, rel=0.02)


@pytest.mark.jit
def test_blocks_with_streams_of_their_own_are_estimated(monkeypatch):
    """A few blocks whose addresses are not known to move together are recorded one by one, if loops are estimated."""
    monkeypatch.setattr(feed, "FEED", -1)
    kernel, machine = make("sgemm-lai", {"m": "1152", "n": "23040", "k": "2400"}), load("rtx3090")
    guess, full = (run_sm(kernel, machine, feed="trace-driven", blocks=4, tolerance=t) for t in (4 * HALF, 0))
    assert (guess.feed, full.feed) == ("trace-driven", "address-only")
    assert guess.estimated > 0
    assert guess.cycles == pytest.approx(full.cycles, rel=0.02)


def test_each_time_that_states_leave_out_is_moved():
    """Of what states leave out, estimates move each time; the rest is named here and stays."""
    words = (one for unit in EVERY for fields in unit.fields.values() for one in fields if one.role is Role.UNCOMPARED)
    assert {one.name for one in words if not one.parts} == STAYING | WINDOWS


@pytest.mark.jit
@pytest.mark.long
def test_a_loop_twice_as_long_costs_hardly_more():
    """Of sg4 with two resident blocks, k = 131072 costs less than 10 % more simulated cycles than k = 65536."""
    short, long = (
        run_sm(make("sg4", {"k": str(k)}), load("wide"), feed="trace-driven", tolerance=HALF) for k in (65536, 131072)
    )
    assert simulated(long) < 1.1 * simulated(short)
    assert long.cycles == pytest.approx(2 * short.cycles, rel=0.005)


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("tags", [False, True])
def test_random_loops_are_within_the_error(tags):
    """Of random loops on random machines 99 of 100 estimates at 2 % are within that, and all within twice that."""
    off = []

    @settings(REPEATABLE, max_examples=draws(150))
    @given(launches(looping_kernels(rounds=(400, 1500)), tags=tags))
    def estimate(launched):
        kernel, machine = launched
        try:
            guess = run_sm(kernel, machine, feed="trace-driven", tolerance=20_000, max_cycles=6_000_000)
        except LimitError:
            return
        full = run_sm(kernel, machine, feed="trace-driven") if guess.estimated else guess
        off.append(abs(guess.cycles / full.cycles - 1))
        assert off[-1] <= 0.04

    estimate()
    assert sum(one > 0.02 for one in off) <= 1 + len(off) // 100


@pytest.mark.jit
@pytest.mark.long
def test_blocks_are_estimated_too():
    """Waves of blocks that do the same and meet no state twice are taken on at their mean, within 0.5 %."""
    kernel, machine = make("sgemm-lai", {"m": "3840", "n": "3840", "k": "96"}), load("gtx680", {"chip.sms": "1"})
    guess, full = (run_sm(kernel, machine, feed="trace-driven", tolerance=tolerance) for tolerance in (HALF, 0))
    assert guess.estimated > full.cycles // 2
    assert guess.blocks == full.blocks
    assert guess.cycles == pytest.approx(full.cycles, rel=0.005)


@pytest.mark.jit
def test_the_result_says_that_it_is_an_estimate():
    """A result has the error that was asked for and exact counts that add up; its values are said not to be checked."""
    kernel = make("sg4", {"k": "8192"})
    found = simulate(kernel, "wide", estimate=0.5)
    run, scaling = found.run, found.scaling
    assert (scaling.method, scaling.estimate.error_percent) == ("steady", 0.5)
    assert 0 < scaling.estimate.spread_percent <= 0.5
    assert not found.verification.verified
    assert int(run.stalls.sum()) + run.empty == run.cycles * run.warp_slots
    assert run.warp_instructions == 4 * 8 * (160 + 560 * 8192 // 8)


@pytest.mark.jit
def test_without_a_bound_warp_cycles_add_up_too():
    """Counts are then those of the estimate itself; warp-cycles are those of all warp slots."""
    run = simulate(make("sg4", {"k": "8192"}), "wide", estimate=0.5, bounded=False).run
    assert run.estimated > 0
    assert int(run.stalls.sum()) + run.empty == run.cycles * run.warp_slots


@pytest.mark.long
@pytest.mark.jit
def test_without_the_option_nothing_is_estimated():
    """A run that was not asked for an estimate has none, nor has one whose state comes back exactly."""
    exact = run_sm(make("sg4", {"k": "1024"}), load("wide"), feed="trace-driven")
    steady = simulate(make("mix", {"iterations": "300"}), "gtx580", estimate=1.0)
    assert (exact.estimated, exact.doubt) == (0, 0)
    assert (steady.scaling.method, steady.scaling.estimate.error_percent, steady.run.estimated) == ("complete", 0.0, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimate": 0.0}, "give 0.01% to 10%"),
        ({"estimate": 11.0}, "give 0.01% to 10%"),
        ({"estimate": 1.0, "sms": "all"}, "of several SMs every block is simulated"),
        ({"estimate": 1.0, "sample": "all"}, "--sample all computes every value"),
        ({"estimate": 1.0, "engine": "reference"}, "the reference engine simulates every cycle"),
        ({"estimate": 1.0, "trace": True}, "a trace needs every cycle"),
        ({"estimate": 1.0, "fast_forward": False}, "--no-fast-forward asks for every cycle"),
    ],
)
def test_options_that_exclude_an_estimate_are_refused(options, words):
    """Options that ask for every cycle, or estimate themselves, and percentages that are none, are refused."""
    with pytest.raises(UserError, match=words):
        simulate(make("chain", {}), "gtx580", **options)
