"""The measured growth of time and memory with the work."""

import pytest

from benchmarks.growth import AXES, Point, drawn, exponents, measured, straight


def test_exponents_are_those_of_powers():
    """Seconds that are the size squared grow by the power 2, constant ones by 0, whatever the steps between sizes."""
    square = [Point(size, size * size / 7, 1, 1) for size in (1, 2, 8, 9)]
    flat = [Point(size, 3, 1, 1) for size in (1, 2, 8)]
    assert exponents(square) == pytest.approx([2, 2, 2])
    assert exponents(flat) == pytest.approx([0, 0])


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", AXES)
def test_each_axis_grows_with_its_size(name):
    """Sizes are in order; a run of the second issues more than one of the first, on a larger machine as much."""
    axis = AXES[name]
    assert list(axis.sizes) == sorted(set(axis.sizes))
    few, more = (axis.run(size).warp_instructions for size in axis.sizes[:2])
    assert more == few if name == "machine" else more > few


@pytest.mark.jit
def test_a_point_is_what_a_run_takes():
    """Time and memory of a point are more than nothing, and its warp instructions are those of four warps' program."""
    point = measured(AXES["program"], 1000)
    assert point.seconds > 0
    assert point.mib > 0
    assert point.instructions == 4 * (1000 + 1)


def test_a_straight_program_is_as_long_as_its_lines():
    """Its lines and an EXIT."""
    assert len(straight("NOP\nNOP").program) == 3


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 4, len(AXES)])
def test_each_axis_has_a_panel_and_no_other_is_drawn(tmp_path, count):
    """A panel of each axis that was measured has axes, two of them, and others of the last row have none."""
    pytest.importorskip("matplotlib")
    points = [Point(size, size / 10, 100, size) for size in (1, 2, 4)]
    drawn(dict.fromkeys(list(AXES)[:count], points), tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").read_text().count('id="matplotlib.axis_') == 2 * count
