"""Limits of every chip, lifted: banks that never conflict, accesses of one pass, barriers that let warps pass."""

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scan.every_cycle import scan
from strategies.launches import REPEATABLE, kernels, launches
from timing import cycles_of, run_text, stalled
from twins import differences, mistakes, run_both

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import facts, load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.memory.what_if import WhatIf
from gpusim.sm.unit.stall import Stall

IDEALS = st.builds(
    WhatIf,
    st.sampled_from(("banks", "conflict-free", "one-pass")),
    st.sampled_from(("wait", "pass")),
    lanes=st.sampled_from(("apart", "side-by-side")),
    l1=st.sampled_from(("tags", "holds")),
    l2=st.sampled_from(("tags", "holds")),
    atomics=st.sampled_from(("in-turn", "at-once")),
    divergence=st.sampled_from(("serial", "packed")),
)
RACING_KERNELS = st.booleans().flatmap(lambda barriers: kernels(barriers, most_blocks=3, least=4))
LIFTED = st.builds(
    lambda launched, lifted: (launched[0], structs.replace(launched[1], what_if=lifted)),
    launches(RACING_KERNELS),
    IDEALS,
)
LOAD = ".shared 16384\nS2R R0, LANEID\nIMUL R0, R0, {stride}\nLDS{width} R4, [R0]\nEXIT"
ROUND = ".block 64\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 BRA late\nBRA on\nlate:\n{work}on:\nBAR.SYNC 0\nEXIT"


def passes(shared_memory: str, rule: str, width: int, stride: int) -> int:
    """Return the passes of a load in which lane l has the element l times `stride`."""
    lifted = {"what_if.shared_memory": shared_memory, "what_if.barriers": "wait", "shared_memory.rule": rule}
    text = LOAD.format(stride=width // 8 * stride, width="" if width == 32 else f".{width}")
    banks = 16 if rule == "gt200" else 32
    run = run_text(text, lifted | {"shared_memory.pass_cycles": 1, "shared_memory.banks": banks})
    return int(run.load_store_cycles[2])


@pytest.mark.parametrize(("rule", "widths"), [("fermi", (1, 2, 4)), ("volta", (1, 2, 4)), ("gt200", (2, 4, 8))])
def test_without_conflicts_an_access_takes_what_its_width_needs(rule, widths):
    """Lanes of one bank take the passes of their width with `conflict-free`, more with `banks`, 1 with `one-pass`."""
    for width, expected in zip((32, 64, 128), widths, strict=True):
        assert passes("conflict-free", rule, width, 32) == expected
        assert passes("banks", rule, width, 32) > expected
        assert passes("one-pass", rule, width, 32) == 1


def test_no_warp_waits_at_a_barrier_that_lets_pass():
    """Warp 1 arrives 40 instructions before warp 0: with `wait` it waits, with `pass` it issues 6 cycles later."""
    text = ROUND.format(work="MOV R1, 0\n" * 40)
    waits, passing = (
        run_text(text, {"what_if.shared_memory": "banks", "what_if.barriers": barriers})
        for barriers in ("wait", "pass")
    )
    exits = [{warp: cycle for cycle, warp, pc in cycles_of(run) if pc == 45} for run in (waits, passing)]
    arrival = next(cycle for cycle, warp, pc in cycles_of(passing) if (warp, pc) == (1, 44))
    assert exits[0][1] > exits[0][0] - 6 > 40 * 6
    assert exits[1][1] == arrival + 6
    assert stalled(passing, Stall.BARRIER) == 0 < stalled(waits, Stall.BARRIER)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("what_if.shared_memory", "conflict-free", WhatIf("conflict-free", "wait")),
        ("what_if.barriers", "pass", WhatIf("banks", "pass")),
    ],
)
def test_each_limit_is_lifted_alone(path, value, expected):
    """`--set` of one limit leaves the other as a chip has it; a machine without such a setting has neither."""
    assert load("gtx580", {path: value}).what_if == expected
    assert load("gtx580").what_if is None
    assert list(facts("gtx580", {path: value}).keys() - facts("gtx580").keys()) == [path]


@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 3))
@given(LIFTED)
def test_twins_agree_on_lifted_limits(launched):
    """Both engines give the same records, stalls, values and sums, whatever is lifted."""
    assert differences(*run_both(*launched)) == []


@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 4))
@given(LIFTED)
def test_a_scan_of_every_cycle_agrees_on_lifted_limits(launched):
    """Events, stalls, lost slots and values equal those of asking all warps in each slot."""
    kernel, machine = launched
    run = run_sm(kernel, machine, trace=True)
    assert mistakes(run, scan(kernel, machine, min(occupancy(kernel, machine).blocks, kernel.blocks))) == []


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(40))
@given(LIFTED)
def test_no_simulation_beats_the_bound_of_lifted_limits(launched):
    """The bound is one with limits lifted, too."""
    kernel, machine = launched
    assert bound(kernel, machine).cycles <= run_sm(kernel, machine, feed="trace-driven").cycles
