"""All SMs of a chip: the engines agree, the sums are exact, and the SMs share blocks, memory and bandwidth."""

import msgspec
import numpy as np
import pytest
from chip_errors import ERRORS, MOST_CYCLES
from chip_runs import adds_up
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, launches
from timing import plain_machine
from twins import differences

from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.feed import FEEDS
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.unit.ranges import MOST
from gpusim.sm.unit.stall import Stall
from isa.errors import UserError
from isa.text.listing import read
from workloads.catalog import make

UNEVEN = """
.grid 11
.block 64
.buffer x u32 1024 = iota
.buffer y u32 1024
    S2R R0, CTAID.X
    S2R R1, TID.X
    IMAD R2, R0, 64, R1
    SHL R2, R2, 2
    IADD R3, R2, c[x]
    IADD R4, R2, c[y]
again:
    LDG R5, [R3]
    IADD R6, R5, R6
    IADD R8, R8, 1
    ISETP.LE P0, R8, R0
    @P0 BRA again
    STG [R4], R6
    EXIT
"""
STREAM = """
.grid 64
.block 256
.buffer x u32 4096
    S2R R0, LANEID
    SHL R0, R0, 4
    IADD R0, R0, c[x]
again:
    LDG.128 R4, [R0]
    LDG.128 R8, [R0+512]
    LDG.128 R12, [R0+1024]
    LDG.128 R16, [R0+1536]
    IADD R1, R1, 1
    ISETP.LT P0, R1, 5
    @P0 BRA again
    EXIT
"""
STREAM_BYTES = 64 * 8 * 5 * 4 * 512


def chip(sms, **changes):
    """Return the plain machine with so many SMs; settings have a double underscore for the point."""
    return plain_machine({"chip.sms": sms, **{path.replace("__", "."): value for path, value in changes.items()}})


def on(sms, machine):
    """Return the machine with so many SMs."""
    return msgspec.structs.replace(machine, chip=msgspec.structs.replace(machine.chip, sms=sms))


def unlike(one, other):
    """Return the names of what differs between two runs of all SMs, for each SM."""
    return [differences(*pair) for pair in zip(one.each, other.each, strict=True)]


def assert_exact_sums(run):
    """Assert that every warp-cycle and every scheduler cycle of all SMs has one reason."""
    assert run.stalls.min() >= 0
    assert run.lost.min() >= 0
    assert run.stalls.sum() + run.empty == run.cycles * run.warp_slots
    assert run.lost.sum() + run.stalls[:, Stall.SELECTED].sum() == run.cycles * len(run.lost)


@pytest.mark.parametrize("sms", [2, 3, 4])
def test_the_engines_agree_on_all_sms(sms):
    """Each SM's trace, sums, registers and the memory are equal; blocks are uneven and the bandwidth is small."""
    machine = chip(sms, chip__dram_mbs=8000, limits__blocks=2, schedulers__count=2, issue__rotate=1)
    compiled, reference = (run_chip(read(UNEVEN), machine, engine=engine, trace=True) for engine in ENGINES)
    assert unlike(compiled, reference) == [[]] * sms
    assert differences(compiled, reference) == []
    assert sum(len(run.trace) for run in compiled.each) > 11 * 2 * 10
    assert np.array_equal(compiled.memory, interpret(read(UNEVEN)).memory)
    assert_exact_sums(compiled)


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 1))
@given(launches(kernels(most_blocks=9, least=4)), st.integers(2, 4))
def test_the_engines_agree_on_random_pairs(launched, sms):
    """The same for random programs without a race, on chips of two to four SMs of random rules; values are right."""
    kernel, machine = launched
    compiled, reference = (run_chip(kernel, on(sms, machine), engine=engine, trace=True) for engine in ENGINES)
    assert unlike(compiled, reference) == [[]] * sms
    assert adds_up(compiled)
    assert np.array_equal(compiled.memory, interpret(kernel).memory)


@pytest.mark.parametrize("feed", FEEDS)
def test_every_feed_gives_the_same_cycles(feed):
    """Each feed gives every SM the same records, stalls and cycles; only memory and registers may differ."""
    machine = chip(3, chip__dram_mbs=8000, limits__blocks=2)
    run = run_chip(read(UNEVEN), machine, feed=feed, trace=True)
    assert run.feed == feed
    for found in unlike(run, run_chip(read(UNEVEN), machine, trace=True)):
        assert set(found) <= {"memory", "registers"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("rounds", "winner"), [("MOV R2, 4", 0), ("IADD R2, -R0, 4", 1)])
def test_one_block_too_many_goes_to_the_first_free_slot(engine, rounds, winner):
    """Blocks 0 and 2 are on SM 0, 1 and 3 on SM 1. Block 4 goes to SM 0 if all are alike, to SM 1 if block 3 is short.

    A block takes 4 rounds of its loop, or 4 - id rounds; then block 3 of the first four is the first to leave.
    """
    text = f"""
.grid 5
    S2R R0, CTAID.X
    {rounds}
again:
    IADD R1, R1, 1
    ISETP.LT P0, R1, R2
    @P0 BRA again
    EXIT
"""
    run = run_chip(read(text), chip(2, limits__blocks=2), engine=engine, trace=True)
    placed = [[int(r.block) for r in each.trace if r.kind == 0] for each in run.each]
    expected = [[0, 2], [1, 3]]
    expected[winner].append(4)
    assert placed == expected
    assert run.blocks == 5


@pytest.mark.parametrize("engine", ENGINES)
def test_all_sms_of_a_chip_of_one_are_that_sm(engine):
    """On a chip of one SM, the run of all SMs has the records, stalls and values of the run of one."""
    machine = chip(1, chip__dram_mbs=8000, limits__blocks=2)
    (only,) = run_chip(read(UNEVEN), machine, engine=engine, trace=True).each
    assert differences(only, run_sm(read(UNEVEN), machine, trace=True)) == []


@pytest.mark.jit
def test_without_contention_all_sms_take_the_time_of_one():
    """With endless bandwidth and 24 equal blocks on 4 SMs of 2 slots, every SM takes the cycles of a run of one SM."""
    machine = chip(4, limits__blocks=2, chip__dram_mbs=MOST)
    kernel = read(STREAM.replace(".grid 64", ".grid 24"))
    run = run_chip(kernel, machine)
    assert {each.cycles for each in run.each} == {run_sm(kernel, machine).cycles}
    assert [each.blocks for each in run.each] == [6] * 4


@pytest.mark.jit
def test_a_stream_takes_the_chips_bandwidth():
    """Sixteen SMs that do nothing but load reach 97 % of the DRAM's bandwidth, and never more than all of it."""
    machine = plain_machine({"chip.sms": 16})
    run = run_chip(read(STREAM), machine)
    rate = STREAM_BYTES / (run.cycles / machine.chip.shader_mhz)  # bytes per microsecond: 10^6 per second
    assert 0.97 * machine.chip.dram_mbs <= rate <= machine.chip.dram_mbs


@pytest.mark.jit
def test_one_sm_alone_may_take_the_whole_bandwidth():
    """One block on 16 SMs takes the chip's whole channel: less than an eighth of the cycles with a sixteenth of it."""
    machine = plain_machine({"chip.sms": 16, "chip.dram_mbs": 20000})
    kernel = read(STREAM.replace(".grid 64", ".grid 1"))
    assert run_chip(kernel, machine).cycles < run_sm(kernel, machine).cycles / 8


def test_an_sm_without_blocks_is_empty():
    """With one block, two of three SMs are empty: all 8 cycles of their warp slot and their scheduler are NO_WARP."""
    run = run_chip(read("NOP\nEXIT"), chip(3))
    assert [(each.blocks, each.cycles) for each in run.each] == [(1, 8), (0, 0), (0, 0)]
    assert run.empty == 2 * 8
    assert run.lost[:, Stall.NO_WARP].tolist() == [0, 8, 8]
    assert_exact_sums(run)


@pytest.mark.jit
def test_all_sms_compute_a_product():
    """An SGEMM of 384 x 384 on 16 SMs leaves the memory of program order."""
    kernel = make("sgemm-lai", {"m": "384", "n": "384", "k": str(draws(384, 96))})
    run = run_chip(kernel, plain_machine({"chip.sms": 16}))
    assert run.blocks == 16
    assert np.array_equal(run.memory, interpret(kernel).memory)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "error", "message"), ERRORS)
def test_an_error_on_an_sm_ends_the_launch(text, error, message, engine):
    """A fault, a deadlock and an endless loop end the launch; of two SMs that fault in one cycle the first is named."""
    with pytest.raises(error, match=message):
        run_chip(read(f".grid 3\n{text}"), chip(3), engine=engine, max_cycles=MOST_CYCLES)


def test_an_engine_that_does_not_exist_is_refused():
    """An unknown engine is refused with those that there are."""
    with pytest.raises(UserError, match="compiled, reference"):
        run_chip(read("EXIT"), chip(2), engine="abacus")


def test_a_chip_may_have_a_thousand_sms():
    """Of 1000 SMs each runs one of a thousand blocks."""
    run = run_chip(read(".grid 1000\nEXIT"), chip(1000))
    assert (run.sms, run.blocks, {one.blocks for one in run.each}) == (1000, 1000, {1})


def test_progress_counts_the_blocks_of_the_grid():
    """The callback begins with none and ends with all blocks of the grid done."""
    reported = []
    run_chip(read(UNEVEN), chip(2), progress=lambda done, total: reported.append((done, total)))
    assert (reported[0], reported[-1]) == ((0, 11), (11, 11))
