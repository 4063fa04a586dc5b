"""Estimates on request: within the error that was asked for, at a cost that longer loops do not raise."""

from __future__ import annotations

import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, launches, looping_kernels

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from isa.errors import LimitError, UserError
from workloads.catalog import make

HALF = 5000  # parts in a million: 0.5 %
DRIFTING = {  # launches of which no state comes back, or too late, with their machines
    "two blocks of sg4": ("sg4", {"k": "8192"}, "wide"),
    "two blocks of lai": ("sgemm-lai", {"m": "384", "n": "480", "k": "9600"}, "gtx580"),
    "lai on wide": ("sgemm-lai", {"m": "384", "n": "480", "k": "4800"}, "wide"),
    "lai with loads of 32 bits": ("sgemm-lai", {"m": "384", "n": "480", "k": "9600", "lds": "32"}, "gtx580"),
    "a stencil's product": ("gemm-stencil", {"m": "768", "n": "768", "k": "4096"}, "gtx580"),
}


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
def test_a_loop_twice_as_long_costs_hardly_more():
    """Of sg4 with two resident blocks, k = 131072 costs less than 10 % more simulated cycles than k = 65536."""
    short, long = (
        run_sm(make("sg4", {"k": str(k)}), load("wide"), feed="trace-driven", tolerance=HALF) for k in (65536, 131072)
    )
    assert simulated(long) < 1.1 * simulated(short)
    assert long.cycles == pytest.approx(2 * short.cycles, rel=0.005)


@pytest.mark.jit
@pytest.mark.long
def test_random_loops_are_within_the_error():
    """Of random loops on random machines 99 of 100 estimates at 2 % are within that, and all within twice that."""
    off = []

    @settings(REPEATABLE, max_examples=draws(150))
    @given(launches(looping_kernels(rounds=(400, 1500)), tags=False))
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
        ({"estimate": 1.0, "sample": 4}, "--sample estimates in its own way"),
        ({"estimate": 1.0, "engine": "reference"}, "the reference engine simulates every cycle"),
        ({"estimate": 1.0, "trace": True}, "a trace needs every cycle"),
        ({"estimate": 1.0, "fast_forward": False}, "--no-fast-forward asks for every cycle"),
    ],
)
def test_options_that_exclude_an_estimate_are_refused(options, words):
    """Options that ask for every cycle, or estimate themselves, and percentages that are none, are refused."""
    with pytest.raises(UserError, match=words):
        simulate(make("chain", {}), "gtx580", **options)
