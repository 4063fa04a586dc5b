"""The engines are twins: the same records in the same order, the same stalls, the same values."""

from collections import Counter

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from msgspec import structs
from scan.every_cycle import scan
from strategies.launches import REPEATABLE, kernels, launches, looping_kernels
from twins import differences, mistakes, rarest, run_both, seen

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.unit.stall import Stall
from isa.kernel import Kernel
from isa.text.assembler import assemble

COPYING_KERNELS = st.tuples(st.booleans(), st.booleans()).flatmap(
    lambda drawn: kernels(drawn[0], most_blocks=3, least=4, copies=drawn[1])
)
RACING_KERNELS = st.booleans().flatmap(lambda barriers: kernels(barriers, most_blocks=3, least=4))


def compare_twins(examples: int, least: int = 2) -> Counter[str]:
    """Assert that the engines agree on so many pairs; return in how many each kind and reason occurred."""
    counts: Counter[str] = Counter()

    @settings(REPEATABLE, max_examples=draws(examples, least))
    @given(launches(COPYING_KERNELS))
    def agree(launched):
        kernel, machine = launched
        compiled, reference = run_both(kernel, machine)
        assert differences(compiled, reference) == []
        assert_exact_sums(compiled)
        counts.update(["pairs", *seen(compiled)])

    agree()
    return counts


def assert_exact_sums(run) -> None:
    """Assert that every warp-cycle and every scheduler cycle has one reason."""
    assert run.stalls.min() >= 0
    assert run.stalls.sum() + run.empty == run.cycles * run.warp_slots
    issues = run.trace[run.trace.kind == ISSUE]
    turns = len(set(zip(issues.warp.tolist(), issues.cycle.tolist(), strict=True)))
    slots = len(set(zip(issues.agent.tolist(), issues.cycle.tolist(), strict=True)))
    assert run.stalls[:, Stall.SELECTED].sum() == turns * run.interval
    assert run.lost.min() >= 0
    assert run.lost.sum() + slots * run.interval == run.cycles * len(run.lost)


@pytest.mark.long
def test_twins_agree():
    """Traces, stalls, lost slots, registers and memory are equal, and their sums exact, on random pairs."""
    counts = compare_twins(600, 200) if COMPILED else compare_twins(6)  # fewer have not every reason
    if COMPILED:
        assert rarest(counts)[1] >= 5, counts


@pytest.mark.slow
@pytest.mark.jit
def test_twins_agree_on_two_thousand_pairs():
    """The engines agree on 2,000 pairs of program and machine; at least 50 have each trace kind and stall reason."""
    counts = compare_twins(2000)
    assert counts["pairs"] >= draws(2000)
    assert rarest(counts)[1] >= draws(50), counts


@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 1))
@given(launches(looping_kernels(), tags=False))
def test_trace_driven_twins_agree(launched):
    """The compiled engine, taking periods at once, and the reference engine, which never does, answer alike."""
    kernel, machine = launched
    compiled, reference = (run_sm(kernel, machine, engine=engine, feed="trace-driven") for engine in ENGINES)
    assert (compiled.feed, reference.feed, reference.skipped) == ("trace-driven", "trace-driven", 0)
    assert differences(compiled, reference) == []


def check_by_scanning(examples: int) -> None:
    """Assert that the compiled engine equals a scan of every warp in every slot, on so many pairs."""

    @settings(REPEATABLE, max_examples=draws(examples))
    @given(launches(RACING_KERNELS))
    def equal(launched):
        kernel, machine = launched
        run = run_sm(kernel, machine, trace=True)
        scanned = scan(kernel, machine, min(occupancy(kernel, machine).blocks, kernel.blocks))
        assert mistakes(run, scanned) == []

    equal()


def test_the_scan_knows_which_warp_is_short_where_blocks_begin_at_another_scheduler():
    """Registers of the second block's last warp, of 8 threads, are compared in its slot, which is not its last."""
    program = assemble("S_MOV_B32 s20, 7\nEXIT")
    kernel = Kernel("short", program, (2, 1, 1), (200, 1, 1), warp_size=64)
    machine = load("mi60", {"chip.sms": 1, "launch.rotates": 1})
    run, scanned = run_sm(kernel, machine, trace=True), scan(kernel, machine, 2)
    assert [scanned.registers[slot].shape[1] for slot in range(8)] == [64, 64, 64, 8, 8, 64, 64, 64]
    assert mistakes(run, scanned) == []


@pytest.mark.long
def test_a_scan_of_every_cycle_agrees():
    """Events, stalls by instruction, lost slots and values equal those of a scan that asks all warps in each slot."""
    check_by_scanning(80 if COMPILED else 4)


@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(24 if COMPILED else 2))
@given(launches(kernels(most_blocks=3, least=4, copies=True), tags=False))
def test_a_scan_of_every_cycle_agrees_on_copies(launched):
    """Copies, their groups and waits for these equal those of the scan, where no tags and no register file count."""
    kernel, machine = launched
    machine = structs.replace(machine, async_copy=None, register_file=None)
    run = run_sm(kernel, machine, trace=True)
    assert mistakes(run, scan(kernel, machine, min(occupancy(kernel, machine).blocks, kernel.blocks))) == []


@pytest.mark.slow
@pytest.mark.jit
def test_a_scan_of_every_cycle_agrees_on_many_pairs():
    """The engine equals the scan on a thousand pairs of program and machine."""
    check_by_scanning(1000)


@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 3))
@given(launches(st.booleans().flatmap(lambda copies: kernels(most_blocks=3, least=4, copies=copies))))
def test_timed_values_are_those_of_program_order(launched):
    """Race-free kernels leave the memory that interpreter.interpret leaves, whatever the machine."""
    kernel, machine = launched
    assert np.array_equal(run_sm(kernel, machine).memory, interpret(kernel).memory)
