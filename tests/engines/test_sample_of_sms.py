"""A sample of a chip's SMs: which blocks they run, and that they run them as a smaller chip with their share would."""

import numpy as np
import pytest
from chip_runs import adds_up, in_turn, on, unlike
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels, launches
from timing import plain_machine
from twins import differences

from gpusim.analysis.account.rates.memory_rates import memory_rates
from gpusim.analysis.account.source_lines import by_line
from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import ENGINES, run_chip
from gpusim.launch.launch import launch_chip
from gpusim.machine.machine import load, seconds
from gpusim.machine.simulated_sms import blocks_of, count, mean
from gpusim.simulation.simulation import simulate
from gpusim.sm.chip.chip import chip as chip_rules
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.lanes.values import special_register
from gpusim.sm.memory.l2_channel.declaration import own_slices
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
    assert adds_up(compiled)


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


@pytest.mark.long
def test_each_sm_stands_for_others():
    """Three of an h200's SMs have three of 132 parts of the L2's time, and each brings one part of 132 of a buffer."""
    h200, kernel = mean(load("h200")), read(LOADS.format(blocks=264))
    some, whole = (launch_chip(kernel, h200, sms=n) for n in (3, None))
    few, all_ = some.each[0].sm, whole.each[0].sm
    assert [int(one.sm.launch.index) for one in some.each] == [0, 44, 88]
    assert (int(few.launch.sharers), int(few.launch.apart)) == (132, 44)
    assert (int(all_.launch.sharers), int(all_.launch.apart)) == (0, 1)
    assert few.machine.shared_cost.tolist() == all_.machine.shared_cost.tolist()
    assert int(few.machine.shared_parts) * 44 == int(all_.machine.shared_parts)
    assert int(few.machine.refill_parts) == 44 * int(all_.machine.refill_parts)
    for one, stands in ((few, 44), (all_, 1)):
        assert (int(one.machine.store_groups), int(one.machine.own_slice)) == own_slices(h200, stands)


def test_values_of_a_sample_are_checked():
    """The values of the blocks of the SMs that are simulated are verified, and only those."""
    kernel = make("matmul-naive", {"m": "64", "n": "64", "k": "16"})
    found = simulate(kernel, chip(6), sms=2)
    assert found.run.blocks == len(blocks_of(kernel, found.machine, 2)) < kernel.blocks
    assert found.verification.verified
    assert not found.verification.wrong


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(("op", "apart"), [("RED.ADD [R2], R1", 0), ("STG [R3], R1", 0.05), ("LDG R5, [R3]", 0.05)])
def test_a_sample_takes_the_time_of_all_sms_where_they_do_the_same(op, apart):
    """264 blocks of an h200 add to one line, or move lines of their own: 3, 12 and 132 SMs take the same time."""
    text = f"""
.grid 264
.block 128
.buffer x u32 {264 * 128 * 8}
    S2R R0, TID.X
    S2R R1, CTAID.X
    LOP.AND R2, R0, 31
    SHL R2, R2, 2
    IADD R2, R2, c[x]
    IMAD R3, R1, 1024, R0
    SHL R3, R3, 2
    IADD R3, R3, c[x]
again:
    {op}
    IADD R3, R3, 512
    IADD R4, R4, 1
    ISETP.LT P0, R4, 8
    @P0 BRA again
    EXIT
"""
    cycles = [run_chip(read(text), load("h200"), sms=n, feed="trace-driven").cycles for n in (3, 12, None)]
    assert cycles[:2] == pytest.approx(cycles[2:] * 2, rel=apart)


def test_rates_of_a_sample_are_the_chips():
    """Of 17 blocks on 16 SMs, two SMs have three: the chip moves 17 blocks' bytes in the same time, not 3 x 8."""
    kernel = read(LOADS.format(blocks=17))
    machine = load("gtx580")
    some, whole = (simulate(kernel, machine, sms=n) for n in (2, "all"))
    for found in (some, whole):
        (rate,) = memory_rates(found)
        moved = 17 * 2 * 5 * 2 * 512  # bytes: blocks, warps, rounds, loads
        assert rate.gbs == pytest.approx(moved / seconds(machine, found.cycles) / 1e9, rel=0.01)


def test_lines_count_the_blocks_of_all_sms_that_are_simulated():
    """Of a load with two passes each of the 64 blocks has one conflict more: 16 blocks with four SMs, 64 with all."""
    kernel = read(".grid 64\n.shared 256\nS2R R0, LANEID\nSHL R0, R0, 3\nLDS R1, [R0]\nEXIT")
    for sms, blocks in ((1, 4), (4, 16), ("all", 64)):
        found = by_line(simulate(kernel, load("gtx580"), sms=sms))
        assert sum(one.shared_conflicts for one in found.lines) == pytest.approx(blocks)


@pytest.mark.parametrize("sms", [1, 2, 6])
def test_special_registers_name_the_chips_sms(sms):
    """%nsmid is the number of the chip's SMs, %smid the SM's own, in blocks behind the first wave, too."""
    kernel = read(".grid 48\nNOP\nEXIT")
    launched = launch_chip(kernel, chip(6), sms=sms)
    for s, each in enumerate(launched.each):
        chip_rules.lend(launched.sms, s, launched.chips, 7)
        assert special_register._of_machine(each.sm, special_register.SMID, 0) == s * 6 // sms
        assert special_register._of_machine(each.sm, special_register.SMID + 1, 0) == 6


@pytest.mark.parametrize(("asked", "found"), [(1, 1), ("all", 12), (12, 12), (4, 4)])
def test_parts_of_a_chip(asked, found):
    """One, all, and each part of 12 SMs can be simulated."""
    assert count(chip(12), asked) == found


@pytest.mark.parametrize("asked", [0, -1, 5, 24, "some", 2.0])
def test_what_is_no_part_of_a_chip(asked):
    """Other numbers are refused, with those that there are."""
    with pytest.raises(UserError, match=r"a divisor of the 12 SMs of gtx580: 2, 3, 4, 6$"):
        count(chip(12), asked)
