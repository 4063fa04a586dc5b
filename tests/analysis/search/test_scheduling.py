from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim.analysis.search.scheduling import Outcome, compare, least, remarks, summary, text
from gpusim.machine.machine import load
from isa.text.listing import read

TEXT = """
.kernel tiny
.block 32
.buffer Y i32 32
.expect Y = 4
    S2R R0, TID.X
    SHL R0, R0, 2
    IADD R0, R0, c[Y]
    MOV R1, 3
    IADD R2, R1, 1
    STG [R0], R2
    EXIT
"""
OWN = (0, 1, 2, 3, 4, 5, 6)
EARLY = (3, 0, 1, 2, 4, 5, 6)
WRONG = (0, 1, 2, 4, 3, 5, 6)


@pytest.fixture(scope="module")
def outcomes():
    """Return the listing in its own order, in another one, and in one that is wrong."""
    return compare(read(TEXT), load("gtx580"), {"as given": OWN, "static": EARLY, "other": WRONG})


def test_orders_are_compared_by_stalls_cycles_and_values(outcomes):
    """A MOV of a constant moved to the front saves 12 stall cycles; an order that breaks a dependence is wrong."""
    given, early, wrong = outcomes
    assert (given.moved, early.moved, wrong.moved) == (0, 1, 1)
    assert (given.stalls - early.stalls) == 12
    assert early.cycles < given.cycles
    assert [o.values for o in outcomes] == ["right", "right", "wrong"]


def test_without_expectation_memory_is_compared_bit_for_bit():
    """Without an expectation other orders have the same memory as the order as given, or are wrong."""
    kernel = replace(read(TEXT), outcome=None)
    found = compare(kernel, load("gtx580"), {"as given": OWN, "static": EARLY, "other": WRONG})
    assert [o.values for o in found] == ["unchecked", "the same", "others"]
    assert [o.is_wrong for o in found] == [False, False, True]


def test_the_least_is_right_and_fastest(outcomes):
    """A right order is better than any wrong one, however fast; of equal orders the first is the best."""
    fast = replace(outcomes[2], cycles=1)
    assert least([outcomes[0], fast, outcomes[1]]) is outcomes[1]
    assert least([outcomes[0], replace(outcomes[1], cycles=outcomes[0].cycles)]) is outcomes[0]
    assert least([fast]) is fast


def test_the_text_is_the_program_and_marks_moved_instructions(outcomes):
    """The text can be read again, notes the old pc of moved instructions, and compares the orders in comments."""
    early = outcomes[1]
    assert isinstance(early, Outcome)
    printed = text(early, summary(load("gtx580"), outcomes))
    assert read(printed).program == early.kernel.program
    assert "    MOV R1, 3  // was 3\n    S2R R0, TID.X\n" in printed
    assert printed.count("// was") == early.moved == 1
    assert "// static        1" in printed


def test_remarks_count_moves_and_name_unchecked_values(outcomes):
    """Remarks say that nothing moved, or how many moved and that values without an outcome are unchecked."""
    given, early = outcomes[0], outcomes[1]
    assert remarks(given) == ["nothing moved: as given is the order as given"]
    assert remarks(early) == ["static: 1 instruction moved, marked with their old pc"]
    unchecked = replace(early, kernel=replace(early.kernel, outcome=None))
    assert remarks(unchecked)[1:] == ["a listing has no values to compare this kernel's with: running it checks none"]
