"""Lesson 11: its three versions, and what it says of a student's."""

from importlib import import_module

import pytest

from gpusim import RawModule
from isa.nvidia.compiler import compile as cuda
from isa.nvidia.compiler.compile import CompileError

pytest.importorskip("elftools", reason="cubins need the extra: pip install gpusim[cubin]")


@pytest.fixture
def lesson(teaching):
    """Return lesson 11."""
    return import_module(teaching.LESSONS[10].file.removesuffix(".py"))


@pytest.mark.long
@pytest.mark.jit
def test_each_version_is_right_and_faster_than_the_one_before(lesson):
    """All three versions store the lengths that NumPy computes, in fewer and fewer cycles."""
    found = [lesson.measured(RawModule(path=lesson.FOLDER / f"{name}.cubin")) for name in lesson.VERSIONS]
    assert all(right for _, right in found)
    cycles = [result.cycles for result, _ in found]
    assert cycles == sorted(cycles, reverse=True)
    assert len(set(cycles)) == 3


def test_the_waits_of_all_lines_are_all_waits(teaching):
    """The shares of a version's lines add up to 1, and the line with most is one of its source."""
    for name, one in teaching.precomputed(11).items():
        assert sum(sum(row["stalls"].values()) for row in one["rows"]) == pytest.approx(1, abs=0.01), name
        most = max(one["rows"], key=lambda row: sum(row["stalls"].values()))
        assert most["line"] == {"naive": 7, "tile": 6, "padded": 6}[name]


def test_a_line_that_is_too_long_for_the_figure_says_that_it_goes_on(lesson):
    """A line of the figure's width stays; three dots end a longer one."""
    assert lesson.shortened("x" * lesson.WIDTH) == "x" * lesson.WIDTH
    assert lesson.shortened("x" * (lesson.WIDTH + 1)) == "x" * (lesson.WIDTH - 3) + "..."


def test_errors_of_the_compiler_are_shown(lesson, monkeypatch):
    """What the compiler refuses, or that it is missing, is shown with all its lines and without a result."""

    def refused(*_):
        raise CompileError("source.cu:3: error: itn is undefined", ["source.cu:4: error: first is undefined"])

    monkeypatch.setattr(cuda, "compile_source", refused)
    result, right, shown = lesson.tried("itn x;")
    assert (result, right) == (None, False)
    assert shown.splitlines() == [
        "```text",
        "source.cu:3: error: itn is undefined",
        "source.cu:4: error: first is undefined",
        "```",
    ]
