"""Barriers of the block to which lanes come apart, as an H200 has them: who goes on, when, and what BAR.RED finds."""

import pytest
from interpreter.interpret import interpret
from parted_bars import AS_COMPILED, CASES, ENDING, as_on_the_chip, kernel

from isa.errors import DeadlockError, ExecutionError


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, names in ENDING.items() for name in names])
def test_lanes_pass_a_barrier_as_on_the_chip(file, name):
    """A warp arrives with the first of its lanes, the others later once more: the notes and sums of lanes say so."""
    for case in CASES:
        launched = kernel(file, name, case)
        assert as_on_the_chip(file, name, case, launched, interpret(launched).memory)


def test_what_hangs_on_the_chip_is_a_deadlock():
    """Lanes at two WARPSYNCs before their barriers never end."""
    with pytest.raises(DeadlockError):
        interpret(kernel(AS_COMPILED, "b_both_aligned", 0))


@pytest.mark.parametrize("case", CASES)
def test_a_barrier_has_one_number_in_all_lanes(case):
    """Lanes that execute a BAR together with different numbers in their register end the run, as on the chip (715)."""
    with pytest.raises(ExecutionError, match="register has several numbers"):
        interpret(kernel(AS_COMPILED, "b_numbers", case))
