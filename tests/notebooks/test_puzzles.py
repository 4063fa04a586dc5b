"""The puzzles of lesson 10: what passes, and what is refused."""

import re

import pytest

NUMBERS = range(1, 6)


@pytest.fixture
def one(puzzle):
    """Return a puzzle by its number."""
    return lambda number: puzzle.PUZZLES[number - 1]


def test_there_are_five_puzzles(puzzle):
    """The puzzles are numbered from 1 to 5."""
    assert [one.number for one in puzzle.PUZZLES] == list(NUMBERS)


@pytest.mark.jit
@pytest.mark.parametrize("number", NUMBERS)
def test_the_start_does_not_pass_and_the_solution_does(number, puzzle, one):
    """Both store the same values, all of which are checked; the start takes over 1.2 times the target's cycles."""
    given, solved = (puzzle.attempted(one(number), read(one(number))) for read in (puzzle.start, puzzle.solution))
    assert puzzle.right(given.result)
    assert not puzzle.passes(one(number), given)
    assert given.result.cycles > 1.2 * one(number).target
    assert puzzle.passes(one(number), solved)
    assert given.result.verification.values == solved.result.verification.values


@pytest.mark.jit
@pytest.mark.parametrize("number", NUMBERS)
def test_a_fast_answer_with_wrong_values_is_refused(number, puzzle, one):
    """A solution whose last store comes from another register takes few enough cycles, and does not pass."""
    before, store, after = puzzle.solution(one(number)).rpartition("STG")
    other = "R16\n" if number == 4 else "RZ\n"  # four registers can't be RZ
    wrong = before + store + re.sub(r"R\d+\n", other, after, count=1)
    found = puzzle.attempted(one(number), wrong)
    assert found.errors == ()
    assert found.result.cycles <= one(number).target
    assert found.result.verification.wrong > 0
    assert not puzzle.passes(one(number), found)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (("IADD R5, R5, R6", "IAD R5, R5, R6"), "line 22, column 5: unknown instruction IAD"),
        (("LDG R5, [R1]", "LDG R5, [R1"), "line 17, column 13: '[R1' is not an address"),
        ((".block 64", ".block 32"), "line 4, column 1: .block 32: only .shared and instructions may change"),
        ((".buffer a i32 64 = hash 1", ".buffer a i32 64 = hash 3"), "line 5, column 1: .buffer a i32 64 = hash 3"),
        ((".grid 1\n", ""), "answer: .grid 1 is missing: only .shared"),
    ],
)
def test_an_error_has_its_line_and_column(change, error, puzzle, one):
    """What can't be read, and a launch other than the start's, is refused with its place, and the line is shown."""
    text = puzzle.solution(one(1)).replace(*change)
    found = puzzle.attempted(one(1), text)
    assert found.result is None
    shown = puzzle.in_place(text, found.errors[0])
    assert shown.startswith(error)
    assert shown.startswith("answer") or change[1].split("\n")[0] in shown.splitlines()[1]


def test_the_mark_is_below_the_column(puzzle):
    """The line is indented by four blanks, and the mark is as far to the right as the column says."""
    assert puzzle.in_place("first\nIAD R1", "answer:2:5: what") == "line 2, column 5: what\n    IAD R1\n        ^"
    assert puzzle.in_place("first", "four: line 1, pc 0, x") == "four: line 1, pc 0, x\n    first"
    assert puzzle.in_place("first", "anything") == "anything"


def test_all_faults_of_a_text_are_told(puzzle, one):
    """Two faults give two errors."""
    text = puzzle.start(one(1)).replace("SHL R0", "SHIFT R0").replace("MOV R3, R2", "MOVE R3, R2")
    assert len(puzzle.attempted(one(1), text).errors) == 2


@pytest.mark.long
@pytest.mark.jit
def test_an_endless_loop_ends(puzzle, one):
    """An answer that never ends is refused after so many cycles."""
    text = puzzle.start(one(1)).replace("    S2R R0, TID.X\n", "here:\n    BRA here\n    S2R R0, TID.X\n")
    (error,) = puzzle.attempted(one(1), text).errors
    assert f"still running after {puzzle.MAX_CYCLES} cycles" in error


@pytest.mark.jit
def test_a_race_is_refused(puzzle, one):
    """Warps that store to the same shared word without a barrier between are refused, whatever comes out."""
    text = puzzle.solution(one(3)).replace("fill:\n", "    STS [RZ], R2\nfill:\n")
    assert puzzle.attempted(one(3), text).errors[0].startswith("race in block 0 on the shared word at 0x0")


@pytest.mark.jit
def test_shared_memory_may_be_larger(puzzle, one):
    """The directive that may change is `.shared`."""
    text = puzzle.start(one(3)).replace(".shared 16384", ".shared 32768")
    assert puzzle.right(puzzle.attempted(one(3), text).result)


@pytest.mark.jit
def test_the_verdict_of_the_lesson(teaching, puzzle, one):
    """The lesson frames a solution as a success, a start as not yet, and errors and wrong values as refused."""
    from lesson10_make_it_faster import judged  # noqa: PLC0415  (an extra)

    assert teaching.LESSONS[9].file == "lesson10_make_it_faster.py"
    texts = {
        "success": puzzle.solution(one(1)),
        "warn": puzzle.start(one(1)),
        "danger": puzzle.solution(one(1)).replace("R7, R8", "R7, R7"),
    }
    for kind, text in texts.items():
        assert judged(one(1), puzzle.attempted(one(1), text), text)[0] == kind
