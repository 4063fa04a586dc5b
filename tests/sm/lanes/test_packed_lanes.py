"""Lanes of several warps packed by the way that they go: a warp has time for one lane's way, and for memory."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scan.every_cycle import scan
from strategies.launches import REPEATABLE, launches, parting_kernels
from timing import cycles_of, plain_machine
from twins import differences, mistakes, run_both

from gpusim.analysis.account.limit_study import liftings
from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.memory.what_if import WhatIf
from isa.text.listing import read
from workloads.catalog import make

PACKED = WhatIf(divergence="packed")
WAYS = "S2R R0, LANEID\nISETP.LT P0, R0, 16\n@P0 BRA low\n{high}BRA on\nlow:\n{low}on:\nEXIT"
MOVES = "".join(f"MOV R{r}, 0\n" for r in range(1, 11))


def packed(machine):
    """Return the machine whose warps pack their lanes."""
    return structs.replace(machine, what_if=PACKED)


def issued(run, warp):
    """Return the instructions that a warp has issued, by counter, each with its cycle."""
    return {pc: cycle for cycle, g, pc in cycles_of(run) if g == warp}


def test_a_warp_has_time_for_one_way():
    """Lane 0 of warp 0 goes low, lane 17 of warp 1 high: each issues the branch, its way and what follows, no more."""
    kernel = read(".block 64\n" + WAYS.format(high=MOVES, low=MOVES))
    run = run_sm(kernel, packed(plain_machine({"branch.latency": 18})), trace=True)
    assert sorted(issued(run, 0)) == [0, 1, 2, *range(14, 25)]
    assert sorted(issued(run, 1)) == [*range(14), 24]
    serial = run_sm(kernel, plain_machine({"branch.latency": 18}), trace=True)
    assert issued(run, 0)[24] == issued(serial, 0)[24] - (10 * 6 + 18)  # ten moves, and a branch that is waited for


def test_accesses_of_both_ways_and_their_order_stay():
    """Both ways store: the same sectors move, values are the same, and only the arithmetic of one way takes time."""
    way = "FADD R2, R1, 1.0\nFADD R2, R2, R2\nSTG [R3], R2\n"
    head = ".buffer x f32 32\n.block 32\nS2R R4, LANEID\nSHL R3, R4, 2\nIADD R3, R3, c[x]\nLDG R1, [R3]\n"
    kernel = read(head + WAYS.format(high=way, low=way))
    for name in ("gtx580", "h200"):
        machine = load(name, {"chip.sms": 1})
        one, other = run_sm(kernel, machine), run_sm(kernel, packed(machine))
        assert np.array_equal(one.memory, other.memory)
        assert other.cycles < one.cycles
        assert one.issued[[9, 13]].tolist() == other.issued[[9, 13]].tolist() == [1, 1]


@pytest.mark.jit
@pytest.mark.parametrize(("ways", "saved"), [("1", 0), ("2", 1 / 2), ("4", 3 / 4)])
@pytest.mark.parametrize("name", ["gtx580", "h200"])
def test_ways_of_one_length_save_all_but_one(name, ways, saved):
    """Where 16 or 8 of 32 lanes go each way, the limit saves a half or three quarters of what the ways take."""
    kernel, straight = make("divergence", {"ways": ways}), make("divergence", {"ways": "1"})
    (lifted,) = [one for one in liftings(name, {}) if one.name == "no divergence"]
    real, alone = (run_sm(kernel, load(name, dict(by)), feed="trace-driven").cycles for by in ({}, lifted.settings))
    assert alone == pytest.approx(run_sm(straight, load(name), feed="trace-driven").cycles, rel=0.1)
    assert 1 - alone / real == pytest.approx(saved, abs=0.15)


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 4))
@given(launches(parting_kernels()), st.sampled_from(("apart", "side-by-side")))
def test_the_engines_and_a_scan_agree_on_packed_lanes(launched, lanes):
    """Both engines and the scan of every cycle give the same events, stalls and values; the bound stays below."""
    kernel, machine = launched[0], structs.replace(launched[1], what_if=WhatIf(lanes=lanes, divergence="packed"))
    one, other = run_both(kernel, machine)
    assert differences(one, other) == []
    assert mistakes(one, scan(kernel, machine, min(occupancy(kernel, machine).blocks, kernel.blocks))) == []
    assert bound(kernel, machine).cycles <= one.cycles
