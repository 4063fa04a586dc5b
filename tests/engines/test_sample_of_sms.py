"""A sample of a chip's SMs: which blocks they run, and that they run them as a smaller chip with their share would."""

import numpy as np
import pytest
from chip_runs import in_turn, on, unlike
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels, launches
from timing import plain_machine
from twins import differences

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import ENGINES, run_chip
from gpusim.jit.rule import COMPILED
from gpusim.launch.launch import launch_chip
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import blocks_of, count
from gpusim.simulation import simulate
from isa.errors import UserError
from isa.text.listing import read
from workloads.catalog import make

LOADS = """
.grid {blocks}
.block 64
.buffer x u32 4096
    S2R R0, LANEID
    SHL R0, R0, 4
    IADD R0, R0, c[x]
again:
    LDG.128 R4, [R0]
    LDG.128 R8, [R0+512]
    IADD R1, R1, 1
    ISETP.LT P0, R1, 5
    @P0 BRA again
    EXIT
"""


def chip(sms, **changes):
    """Return the plain machine with so many SMs; settings have a double underscore for the point."""
    settings_ = {path.replace("__", "."): value for path, value in changes.items()}
    return plain_machine({"chip.sms": sms, "limits.blocks": 2, **settings_})


def placed(run):
    """Return the blocks that each SM was given, in order."""
    return [[int(r.block) for r in each.trace if r.kind == 0] for each in run.each]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_third_sm_has_its_blocks(engine):
    """Of six SMs two are simulated, 0 and 3: of 21 blocks they run every third, those of the first waves at once."""
    run = run_chip(read(".grid 21\nNOP\nEXIT"), chip(6), engine=engine, trace=True, sms=2)
    first = [each[:2] for each in placed(run)]
    assert first == [[0, 6], [3, 9]]
    assert sorted(block for each in placed(run) for block in each) == list(range(0, 21, 3))
    assert run.blocks == 7


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("refill", "sms"), [(0, 2), (64, 2), (90, 2), (90, 3)])
def test_a_sample_is_a_smaller_chip_with_its_share(engine, refill, sms):
    """Where blocks are alike, a part of six SMs takes the cycles of a chip of as many with that part of the bandwidth.

    The chip hands out as many blocks in between to the SMs that are left out.
    """
    machine = chip(6, chip__dram_mbs=24000, launch__refill_parts=refill)
    smaller = chip(sms, chip__dram_mbs=24000 * sms // 6, launch__refill_parts=refill * 6 // sms)
    blocks = 42 * sms // 6
    run = run_chip(read(LOADS.format(blocks=42)), machine, engine=engine, sms=sms)
    other = run_chip(read(LOADS.format(blocks=blocks)), smaller, engine=engine)
    assert [each.cycles for each in run.each] == [each.cycles for each in other.each]
    assert [each.blocks for each in run.each] == [each.blocks for each in other.each]
    assert np.array_equal(run.stalls, other.stalls)


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 1))
@given(launches(kernels(most_blocks=9, least=4)), st.sampled_from([(4, 2), (6, 2), (6, 3)]))
def test_the_engines_agree_on_a_sample(launched, sizes):
    """Each SM's trace, sums, registers and the memory are equal, for random programs on machines of random rules."""
    kernel, machine = launched
    sms, sample = sizes
    whole = on(sms, machine)
    compiled, reference = (run_chip(kernel, whole, engine=engine, trace=True, sms=sample) for engine in ENGINES)
    assert [differences(*pair) for pair in zip(compiled.each, reference.each, strict=True)] == [[]] * sample


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 1))
@given(launches(kernels(most_blocks=9, least=4)), st.sampled_from([(4, 2), (6, 3)]))
def test_a_sample_may_run_ahead(launched, sizes):
    """SMs of a sample that run ahead of each other, or act alone in stretches, do what those do that take turns."""
    kernel, machine = launched
    sms, sample = sizes
    whole = on(sms, machine)
    assert unlike(run_chip(kernel, whole, sms=sample, threads=2), in_turn(kernel, whole, sms=sample)) == []


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels(most_blocks=9)), st.sampled_from([(4, 2), (6, 3)]))
def test_a_sample_does_not_beat_its_bound(launched, sizes):
    """Its SMs take at least the cycles of the bound of their blocks with the sum of their shares."""
    kernel, machine = launched
    sms, sample = sizes
    whole = on(sms, machine)
    assume(len(blocks_of(kernel, whole, sample)) > 1)
    assert bound(kernel, whole, sms=sample).cycles <= run_chip(kernel, whole, feed="trace-driven", sms=sample).cycles


def test_each_sm_stands_for_others():
    """Three of an h200's SMs have as many units of the L2's time as three, and what they bring is a part of 132."""
    h200, kernel = load("h200"), read(LOADS.format(blocks=264))
    some, whole = (launch_chip(kernel, h200, sms=n) for n in (3, None))
    few, all_ = some.each[0].sm, whole.each[0].sm
    assert [int(one.sm.launch.index) for one in some.each] == [0, 44, 88]
    assert (int(few.launch.sharers), int(few.launch.apart)) == (132, 44)
    assert (int(all_.launch.sharers), int(all_.launch.apart)) == (0, 1)
    assert few.machine.shared_cost.tolist() == all_.machine.shared_cost.tolist()
    assert int(few.machine.shared_parts) * 44 == int(all_.machine.shared_parts)
    assert int(few.machine.refill_parts) == 44 * int(all_.machine.refill_parts)


def test_values_of_a_sample_are_checked():
    """The values of the blocks of the SMs that are simulated are verified, and only those."""
    kernel = make("matmul-naive", {"m": "64", "n": "64", "k": "16"})
    found = simulate(kernel, chip(6), sms=2)
    assert found.run.blocks == len(blocks_of(kernel, found.machine, 2)) < kernel.blocks
    assert found.verification.verified
    assert not found.verification.wrong
    assert found.scaling.blocks_of_sm == found.run.blocks


@pytest.mark.parametrize(("asked", "found"), [(1, 1), ("all", 12), (12, 12), (4, 4)])
def test_parts_of_a_chip(asked, found):
    """One, all, and each part of 12 SMs can be simulated."""
    assert count(chip(12), asked) == found


@pytest.mark.parametrize("asked", [0, -1, 5, 24, "some", 2.0])
def test_what_is_no_part_of_a_chip(asked):
    """Other numbers are refused, with those that there are."""
    with pytest.raises(UserError, match=r"a part of the 12 SMs of gtx580: 2, 3, 4, 6$"):
        count(chip(12), asked)
