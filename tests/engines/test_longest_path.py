"""A single warp meets no contention: its dependences alone decide its issue cycles."""

import pytest
from draws import draws
from hypothesis import given, settings
from oracle import issue_cycles, on_the_path
from strategies.launches import REPEATABLE, kernels, launches

from gpusim.engines.simulate import run_sm
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.sm.jit.rule import COMPILED
from isa.row import Unit


def ordered(launched) -> bool:
    """Whether no count includes accesses that come back in any order, which the longest path can't place."""
    kernel, machine = launched
    counted = machine.wait_counters or machine.outstanding
    return counted is None or all(i.row.unit is not Unit.SMEM for i in kernel.program.instructions)


LAUNCHED = launches(kernels(most_blocks=1, least=4, threads=(32, 20))).filter(ordered)


def issues(kernel, machine) -> list[tuple[int, int]]:
    """(pc, cycle) of each issue of a run."""
    records = run_sm(kernel, machine, trace=True).trace
    return [(int(r.pc), int(r.cycle)) for r in records if r.kind == ISSUE]


@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 10))
@given(LAUNCHED)
def test_a_single_warp_takes_the_longest_path(launched):
    """Every issue of a single warp, through loops and guards, is where the longest path of its dependences puts it."""
    kernel, machine = launched
    assert issues(kernel, on_the_path(machine)) == issue_cycles(kernel, on_the_path(machine))


@pytest.mark.slow
@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(1000))
@given(LAUNCHED)
def test_a_thousand_single_warps_take_the_longest_path(launched):
    """The same on a thousand pairs."""
    kernel, machine = launched
    assert issues(kernel, on_the_path(machine)) == issue_cycles(kernel, on_the_path(machine))
