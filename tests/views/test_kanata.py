from itertools import pairwise

import pytest
from hypothesis import given
from read.kanata import read
from strategies.launches import timelines
from strategies.timeline_documents import LETTERS, by_hand

from gpusim.views.kanata import kanata
from gpusim.views.timeline.document import NONE, Issued, Line, Wait

PROGRAM = Line(0, "LDS R1, [R0]", "shared"), Line(1, "FADD R2, R1, R1", "fp32", "loop"), Line(2, "EXIT", "exit")


def text_of(document):
    return b"".join(kanata(document)).decode()


LOAD = Issued(0, 0, 0, 0, 0, issue=2, begin=5, end=7, done=30, lanes=32, conflicts=3, late=12)
ADD = Issued(
    1,
    0,
    0,
    1,
    0,
    issue=32,
    begin=33,
    end=35,
    done=50,
    lanes=32,
    waits=(Wait("short_scoreboard", 3, 30, 0), Wait("not_selected", 30, 32, 0)),
)
EXIT = Issued(2, 0, 0, 2, 0, issue=50, begin=NONE, end=NONE, done=NONE, lanes=32, waits=(Wait("wait", 33, 50, 1),))


def test_three_instructions_worked_by_hand():
    """Stages, arrows and texts of a load in queue and pipe, an addition that waits for it, and an exit, by hand."""
    load, add, leave = read(text_of(by_hand(PROGRAM, [LOAD, ADD, EXIT], 60)))
    assert sorted(load.stages) == [(0, "Is", 2, 3), (0, "Q", 3, 5), (0, "Xshared", 5, 30), (2, "shared", 5, 7)]
    letters = {letter.name: letter.letter for letter in LETTERS}
    waits = [(1, letters["not_selected"], 30, 32), (1, letters["short_scoreboard"], 3, 30)]
    assert sorted(add.stages) == sorted(
        [(0, "Is", 32, 33), (0, "Xfp32", 33, 50), *waits, (2, "fp32", 33, 35)],
    )
    assert sorted(leave.stages)[0] == (0, "Xexit", 50, 51)
    assert [op.producers for op in (load, add, leave)] == [[], [0], [1]]
    assert [op.retired for op in (load, add, leave)] == [30, 50, 51]
    assert load.texts[1].split("\\n")[1:] == [
        "issued 2, pipe from 5, to 7, done 30",
        "conflicts add 3 passes or requests",
        "done 12 cycles later than its latency: memory is busy",
    ]
    assert add.texts[0] == "FADD R2, R1, R1 (warp 0, pc 1)"
    assert add.texts[1].split("\\n") == [
        "block 0, scheduler 0, 32 lanes, fp32 loop",
        "issued 32, pipe from 33, to 35, done 50",
        "waited 27: short_scoreboard, LDS R1, [R0] (warp 0, pc 0)",
        "waited 2: not_selected, LDS R1, [R0] (warp 0, pc 0)",
    ]
    assert add.notes == ["short_scoreboard", "not_selected"]


def test_a_write_after_a_read_has_no_arrow_back_in_time():
    """A write to a load's source may issue before the load is done: it has no arrow, and its text names the load."""
    early = Issued(1, 0, 0, 1, 0, 10, 11, 13, 28, 32, (Wait("war_hazard", 3, 10, 0),))
    _, add = read(text_of(by_hand(PROGRAM, [LOAD, early], 60)))
    assert add.producers == []
    assert "war_hazard, LDS" in add.texts[1]


@given(timelines())
def test_the_file_keeps_the_rules_of_the_format(document):
    """The strict reader takes it, and finds each instruction once, in the order in which warps began to wait."""
    ops = read(text_of(document))
    assert sorted(op.serial for op in ops) == [i.id for i in document.instructions]
    assert [op.born for op in ops] == sorted(op.born for op in ops)


@given(timelines())
def test_every_cycle_of_the_document_comes_back(document):
    """Waits with their letters, the issue, the occupied pipe and the end are where the document has them."""
    letters = {letter.name: letter.letter.replace("X", "x") for letter in document.letters}
    ops = {op.serial: op for op in read(text_of(document))}
    for i in document.instructions:
        op, unit = ops[i.id], document.program[i.pc].unit
        lanes = [sorted(stage[1:] for stage in op.stages if stage[0] == lane) for lane in range(3)]
        assert sorted(lanes[1], key=lambda s: s[1]) == [(letters[w.reason], w.start, w.end) for w in i.waits]
        assert min(start for _, start, _ in lanes[0]) == i.issue
        ends = max(i.issue + 1, i.end, i.done)
        assert (f"X{unit}", i.issue if i.begin == NONE else i.begin, ends) in lanes[0]
        assert lanes[2] == ([(unit, i.begin, i.end)] if NONE < i.end < ends else [])
        assert (op.thread, op.retired) == (i.warp, ends)


@given(timelines())
def test_the_stages_of_an_instruction_follow_each_other(document):
    """Lane 0 has neither gap nor overlap from issue to retirement, and one stage alone, its last, has an X."""
    for op in read(text_of(document)):
        stages = sorted((s for s in op.stages if s[0] == 0), key=lambda s: s[2])
        assert all(before[3] == after[2] for before, after in pairwise(stages))
        assert stages[-1][3] == op.retired
        assert ["X" in s[1] for s in stages] == [False] * (len(stages) - 1) + [True]
        assert not any("X" in s[1] for s in op.stages if s[0])


@given(timelines())
def test_arrows_go_forward_in_time(document):
    """The producer's X stage has ended when the consumer's begins, and the document says who waited for it."""
    ops = read(text_of(document))
    by_id = {i.id: i for i in document.instructions}
    for op in ops:
        (begin,) = (start for lane, name, start, _ in op.stages if lane == 0 and "X" in name)
        for producer in (ops[row] for row in op.producers):
            assert producer.retired <= begin
            assert producer.serial in {wait.blocker for wait in by_id[op.serial].waits}


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ("I\t0\t0\t0\n", "every instruction retires"),
        ("I\t0\t0\t0\nC\t0\nR\t0\t0\t0\n", "time goes forward"),
        ("I\t1\t0\t0\nR\t1\t0\t0\n", "ids count up"),
        ("I\t0\t0\t0\nR\t0\t0\t0\nL\t0\t0\tlate\n", "has retired"),
        ("I\t0\t0\t0\nS\t0\t0\tX\nC\t1\nR\t0\t0\t0\n", "left open"),
        ("I\t0\t0\t0\nS\t0\t0\tX\nS\t0\t0\tY\n", "one stage at a time"),
        ("I\t0\t0\t0\nS\t0\t0\tX\nC\t1\nE\t0\t0\tY\n", "the one that began"),
        ("I\t0\t0\t0\nW\t0\t1\t0\nR\t0\t0\t0\n", "the producer is known"),
        ("I\t0\t0\t0\nR\t0\t0\t0\nW\t0\t0\t0\n", "has retired"),
        ("I\t0\t0\t0\nR\t0\t1\t0\n", "retirements count up"),
    ],
)
def test_the_reader_refuses_a_file_that_breaks_a_rule(broken, rule):
    """The reader of these tests refuses a file that breaks one of its rules."""
    with pytest.raises(AssertionError, match=rule):
        read(f"Kanata\t0004\nC=\t0\n{broken}")
