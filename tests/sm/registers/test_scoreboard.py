"""Scoreboard: RAW, WAW and WAR."""

from dataclasses import replace

import pytest
from timing import cycles_of, issue_times, plain_machine, run_text

from gpusim.engines.simulate import run_sm
from isa.instruction import Instruction
from isa.operands.operand import PT, Predicate, Register
from isa.table import machine_row
from isa.text.listing import read


@pytest.mark.parametrize(
    "second",
    ["FADD R3, R0, R2", "FADD R3, R2, R0", "FFMA R3, R2, R2, R0", "FADD R0, R1, R2"],
    ids=["a", "b", "c", "WAW"],
)
def test_readers_and_writers_wait_for_a_pending_result(second):
    """An instruction waits 18 cycles for a write to any of its sources or to its destination."""
    assert issue_times(f"FADD R0, R1, R2\n{second}\nEXIT", {"unit.fp32.latency": 18}) == [0, 18]


def test_reading_does_not_hold_a_writer_of_arithmetic():
    """Operands are read at issue: overwriting a source of an addition only waits for the issue interval."""
    assert issue_times("FADD R0, R1, R2\nFADD R1, R3, R4\nEXIT") == [0, 6]


def test_both_words_of_a_wide_result_are_pending():
    """DADD writes R4 and R5: a reader of R5 alone waits 24 cycles."""
    assert issue_times("DADD R4, R6, R8\nIADD R0, R5, 1\nEXIT", {"unit.dp.latency": 24}) == [0, 24]


@pytest.mark.parametrize("second", ["@P0 MOV R1, 1", "@!P0 MOV R1, 1", "SEL R1, R2, R3, P0", "ISETP.LT P0, R2, R3"])
def test_predicates_are_waited_for(second):
    """Guards, selectors and a second write of a predicate wait for the comparison."""
    assert issue_times(f"ISETP.EQ P0, R0, 0\n{second}\nEXIT", {"unit.compare.latency": 18}) == [0, 18]


NONE = Predicate(PT.index, negated=True)


@pytest.mark.parametrize(("carry", "taken"), [(Predicate(1), NONE), (PT, Predicate(1))], ids=["WAW", "RAW"])
def test_second_predicates_are_waited_for(carry, taken):
    """A second carry waits for the one that is pending there, and so does a sum that takes it as its second one."""
    first, second = (
        Instruction(machine_row(name), (Register(d), PT, p, Register(1), Register(2), Register(3), NONE, q))
        for name, d, p, q in (("IADD3", 4, Predicate(1), NONE), ("IADD3.X", 5, carry, taken))
    )
    kernel = read("NOP\nNOP\nEXIT")
    program = replace(kernel.program, instructions=(first, second, kernel.program.instructions[-1]))
    run = run_sm(replace(kernel, program=program), plain_machine({"unit.int.latency": 18}), trace=True)
    assert [cycle for cycle, _, _ in cycles_of(run)][:2] == [0, 18]


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
    """The address register may be overwritten `hold` cycles after the service, and never before the next issue at 6."""
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
