"""The replay of timed loops: what is launched, what a row's figure is, and what is told."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.tensor import loops
from benchmarks.tensor.loops import Outcome, Periodic, Row
from gpusim.machine.machine import load
from isa.memory import bases
from isa.nvidia.abi.launch import WINDOW

FOLDER = Path(__file__).parent.parent.parent / "measured" / "tensor"
ROW = Row("patch", "a:b:c", "x.cubin", "k", 4, 10, 0, (2, 6), (1, 3), "", 5.0)


def of(name: str) -> Row:
    """Return the first row of that name."""
    return next(row for row in loops.rows(FOLDER) if row.name == name)


def test_the_figure_is_the_slope_by_instruction():
    """Cycles 100 and 300 for 2 and 6 iterations of 10 instructions are 5 each; a raw row's figure is the first."""
    assert ROW.figure([100, 300]) == 5
    assert ROW._replace(name="burst (raw cyc1)").figure([100]) == 100


def test_an_error_has_its_sign():
    """Half of what was measured is an error of -50 %."""
    assert Outcome(ROW, 2.5).error == -50


def test_rows_are_chosen_by_plan_name_and_number():
    """A plan, a part of what names a row, and a limit choose; limited rows lie at even distances."""
    made = [ROW._replace(plan=plan, warps=warps) for plan in ("mma", "wg") for warps in (1, 2, 4, 8)]
    assert loops.wanted(made, ["wg"], "", 0) == made[4:]
    assert loops.wanted(made, [], "W=4 ", 0) == [made[2], made[6]]
    assert loops.wanted(made, [], "", 4) == made[::2]


def test_every_row_has_its_loop():
    """The sample has 570 rows of eight plans; a row has the shared memory and the edits of its plan."""
    found = loops.rows(FOLDER)
    assert len(found) == 570
    assert {row.plan for row in found} == {"mma", "mem", "mem2", "mem3", "wg", "patch", "patch2", "patch3"}
    assert all(bool(row.edits) == row.plan.startswith("patch") for row in found)
    assert {row.shared for row in found if row.plan == "wg"} == {65536}


def test_an_edit_replaces_an_instruction():
    """The loop of `one:FFMA` has 185 FFMAs, each with a stall count of 1, where it had others."""
    row = next(row for row in loops.rows(FOLDER) if row.name == "one:FFMA")
    launched = loops.kernel(FOLDER, row, 1)
    loop = [i for i in launched.program.instructions if i.row.mnemonic == "FFMA" and i.control.stall == 1]
    assert len(loop) == 185


def test_numbers_are_halves_of_a_generator():
    """The first word follows from the seed by hand; all halves are at least 0.125 and below 0.5 in magnitude."""
    state = 12345 * 1664525 + 1013904223
    first = 0x3000 + (state % 2**32 >> 12 & 0x7FF) | (state % 2**32 >> 31) << 15
    assert loops.numbers()[0] & 0xFFFF == first
    magnitudes = np.abs(loops.numbers().view(np.float16).astype(float))
    assert magnitudes.min() >= 0.125
    assert magnitudes.max() < 0.5


def test_an_array_repeats_or_ends():
    """Behind the words come the words again, or zeros."""
    words = np.array([5, 6], np.uint32)
    assert Periodic(words)(np.arange(5)).tolist() == [5, 6, 5, 6, 5]
    assert Periodic(words, again=False)(np.arange(4)).tolist() == [5, 6, 0, 0]


def test_the_map_has_its_fields():
    """Address, rank 2, float16, the swizzle of 128 bytes, a row of 2048 bytes, the sizes and the box lie in place."""
    words = np.frombuffer(loops.tensor_map(0x7F00_0000_0000), "<u4")
    assert len(words) == 32
    assert words[:4].tolist() == [0, 0x7F00, 1 << 4 | 6 << 7 | 3 << 13, 128]
    assert words[8:15].tolist() == [1023, 8191, 0, 0, 0, 63 << 24, 63]


def test_a_launch_has_the_arguments_of_the_chip():
    """Pointers and numbers lie in the order of the parameters: rec, in, sink, iterations, p0, p1, pat, gl."""
    launched = loops.kernel(FOLDER, of("one:FFMA"), 7)
    block = launched.banks[0][0x210:]
    places = [WINDOW + bases(launched.buffers)[name] for name in ("rec", "in", "sink", "pat", "gl")]
    pointers = np.frombuffer(block[:56], "<u8")
    assert [*pointers[:3], *pointers[5:7]] == places
    assert np.frombuffer(block[24:36], "<i4").tolist() == [7, 0, 0]


def test_refusals_are_told_by_name():
    """What is missing is named once, with modifiers and without operands; other messages keep their first line."""
    parts = "X.Y (2 times, first k+0x10 @!P0 X.Y R1)", "'q[]' is no operand (1 time, first k+0x20 Z q[])"
    message = f"instructions that are not executed here: {'; '.join(parts)}"
    assert loops._short(message) == "not executed: X.Y, Z"
    assert loops._short("no kernel\nmore") == "no kernel"
    refused = [Outcome(ROW, 0, "not executed: Z")] * 2
    assert list(loops.missing(refused)) == ["refused     2 rows: not executed: Z"]


def test_a_summary_has_groups():
    """Errors of 10 % and -20 % have a median of 15 % and a signed mean of -5 %, in the plan and in the name."""
    lines = list(loops.summary([Outcome(ROW, 5.5), Outcome(ROW, 4.0)], 2))
    assert [line.split()[:1] for line in lines[1:]] == [["all"], ["patch"], ["patch"]]
    assert lines[3].startswith("patch a:b ")
    assert all(line.split()[-5:] == ["2", "15.00", "19.50", "20.00", "-5.00"] for line in lines[1:])


@pytest.mark.jit
@pytest.mark.parametrize("name", ["one:FFMA", "one:LDS128", "one:IMAD"])
def test_ordinary_loops_take_what_they_take_on_the_chip(name):
    """Loops of one ordinary instruction are met within 1 %."""
    done = loops.outcome(FOLDER, of(name), load("h200", loops.WARM))
    assert not done.refused
    assert done.error == pytest.approx(0, abs=1)
