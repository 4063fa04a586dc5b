"""Scoreboard: RAW, WAW and WAR."""

import pytest
from timing import cycles_of, issue_times, run_text

from gpusim.state import TRACE_KINDS


@pytest.mark.parametrize(
    "second",
    ["FADD R3, R0, R2", "FADD R3, R2, R0", "FFMA R3, R2, R2, R0", "FADD R0, R1, R2"],
    ids=["a", "b", "c", "WAW"],
)
def test_readers_and_writers_wait_for_a_pending_result(second):
    """Any source, and the destination itself, waits for the 18 cycles of the write before."""
    assert issue_times(f"FADD R0, R1, R2\n{second}\nEXIT", {"unit.fp32.latency": 18}) == [0, 18]


def test_reading_does_not_hold_a_writer_of_arithmetic():
    """Operands are read at issue: overwriting a source of an addition only waits for the reissue interval."""
    assert issue_times("FADD R0, R1, R2\nFADD R1, R3, R4\nEXIT") == [0, 6]


def test_both_words_of_a_wide_result_are_pending():
    """DADD writes R4 and R5: a reader of R5 alone waits 24 cycles."""
    assert issue_times("DADD R4, R6, R8\nIADD R0, R5, 1\nEXIT", {"unit.dp.latency": 24}) == [0, 24]


@pytest.mark.parametrize("second", ["@P0 MOV R1, 1", "@!P0 MOV R1, 1", "SEL R1, R2, R3, P0", "ISETP.LT P0, R2, R3"])
def test_predicates_are_waited_for(second):
    """Guards, selectors and a second write of a predicate wait for the comparison."""
    assert issue_times(f"ISETP.EQ P0, R0, 0\n{second}\nEXIT", {"unit.compare.latency": 18}) == [0, 18]


@pytest.mark.parametrize(
    ("load", "hold"),
    [
        ("LDS R4, [R0]", 6),
        ("LDS.64 R4, [R0]", 38),
        ("LDS.128 R4, [R0]", 46),
        ("STS.128 [R0], R4", 46),
        ("LDL R4, [R0]", 6),
    ],
)
def test_sources_of_memory_instructions_are_held(load, hold):
    """The address register may be overwritten so many cycles after service; never before the next issue at 6."""
    changes = {"shared_memory.war_32": 0, "shared_memory.war_64": 38, "shared_memory.war_128": 46}
    text = f".shared 512\n.local 512\n{load}\nMOV R0, 16\nEXIT"
    assert issue_times(text, changes) == [0, hold]


def test_stored_data_are_held_too():
    """The data registers of a store, each of its four words, may not be overwritten before it has read them."""
    assert issue_times(".shared 512\nSTS.128 [R0], R4\nMOV R7, 16\nEXIT", {"shared_memory.war_128": 46}) == [0, 46]


def test_a_register_held_twice_is_held_by_the_last_reader():
    """Two loads through one address: the writer waits for the second, served 8 cycles after the first."""
    changes = {"shared_memory.war_128": 46, "shared_memory.merge_halves": 0}
    run = run_text(".shared 512\nLDS.128 R4, [R0]\nLDS.128 R8, [R0]\nMOV R0, 16\nEXIT", changes)
    assert [cycle for cycle, _, _ in cycles_of(run, "serve")] == [0, 8]
    assert [cycle for cycle, _, _ in cycles_of(run)][:3] == [0, 6, 8 + 46]


def blockers(text, changes=None) -> list[int]:
    """What each issue waited for, as the trace says."""
    return [int(r.blocker) for r in run_text(text, changes).trace if TRACE_KINDS[r.kind] == "issue"]


def test_the_trace_names_the_instruction_waited_for():
    """Of R0, there at 18, and R3, at 6 + 24 = 30, the record of the addition names the one that came last."""
    text = "FADD R0, R1, R2\nMUFU.RCP R3, R4\nFADD R5, R0, R3\nEXIT"
    assert blockers(text, {"unit.sfu.latency": 24}) == [-1, -1, 1, -1]


@pytest.mark.parametrize("last", ["@P0 FADD R5, R1, R1", "SEL R5, R1, R2, P0", "ISETP.EQ P0, R1, 1"])
def test_the_trace_names_a_comparison_waited_for(last):
    """A guard, a selector and a predicate written again wait for the comparison at 0, whose result comes at 18."""
    assert blockers(f"ISETP.EQ P0, R0, 0\n{last}\nEXIT", {"unit.compare.latency": 18}) == [-1, 0, -1]


def test_the_trace_names_the_later_of_register_and_predicate():
    """R0 is there at 18, P0 at 6 + 20 = 26: the guarded addition waits for P0, an unguarded one for R0."""
    text = "FADD R0, R1, R2\nISETP.EQ P0, R3, 0\n{}FADD R4, R0, R0\nEXIT"
    changes = {"unit.compare.latency": 20}
    assert blockers(text.format("@P0 "), changes)[2] == 1
    assert blockers(text.format(""), changes)[2] == 0


def test_a_result_that_has_long_been_there_is_not_named():
    """R0 is there at 18; pc 2 issues at 24 and reads it too, but waits for its reissue interval only."""
    assert blockers("FADD R0, R1, R2\nFADD R3, R0, R0\nFADD R4, R0, R0\nEXIT") == [-1, 0, -1, -1]


def test_a_result_that_came_before_the_previous_issue_is_not_named():
    """R0 is there at 10; pc 2 issues at 12, and pc 3 at 6 + 40 = 46, for R3 alone."""
    text = "FADD R0, R1, R2\nMUFU.RCP R3, R4\nNOP\nFADD R5, R0, R3\nEXIT"
    assert blockers(text, {"unit.fp32.latency": 10, "unit.sfu.latency": 40}) == [-1, -1, -1, 1, -1]


def test_a_load_is_named():
    """The reader of a load waits for it, as does the writer of its result."""
    assert blockers(".shared 512\nLDS R0, [RZ]\nFADD R1, R0, R0\nEXIT") == [-1, 0, -1]
    assert blockers(".shared 512\nLDS R0, [RZ]\nMOV R0, 1\nEXIT") == [-1, 0, -1]
