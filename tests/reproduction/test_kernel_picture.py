import pytest

from gpusim.analysis.validate.kernels import Compared, Simulated, Timed
from gpusim.analysis.validate.profiler import Profile
from gpusim.reproduction.pages import kernel_picture
from isa.errors import UserError

CHIP = {"selected": 0.5, "lg_throttle": 0.3, "wait": 0.18, "misc": 0.02}
HERE = {"selected": 0.4, "mio_throttle": 0.3, "wait": 0.3}


def launch(kernel, configuration, *, profiled=True):
    """Return a launch that is 20 % slow."""
    profile = Profile({}, CHIP) if profiled else None
    return Compared(Timed(kernel, configuration, 100.0, 0.01), Simulated(120.0, 1, 1, {}, HERE), profile)


@pytest.fixture(name="draw")
def drawing():
    """Return a function that draws launches and returns the axes."""
    figures = pytest.importorskip("matplotlib.figure")
    return lambda found: kernel_picture.draw(figures.Figure(), found).axes


def labels(axes):
    """Return the texts of the legend that stands below these axes."""
    return [text.get_text() for text in axes.figure.legends[0].get_texts()]


def test_each_launch_is_a_point_at_simulated_over_measured(draw):
    """A configuration has its mark, a kernel its row, the first on top; 1 is a line."""
    axes, *_ = draw([launch(kernel, each) for kernel in ("one", "two") for each in ("solo", "full")])
    solo, full, one = axes.lines
    assert labels(axes) == ["solo", "full"]
    assert solo.get_marker() != full.get_marker()
    assert list(solo.get_xdata()) == pytest.approx([1.2, 1.2])
    assert list(solo.get_ydata()) == [0, 1]
    assert list(one.get_xdata()) == [1, 1]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["one", "two"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_bars_of_both_sides_have_the_shares_of_the_reasons(draw):
    """The chip's bars lie above those here and end at 1, as these do; small reasons are taken together."""
    _, bars = draw([launch("one", "full")])
    assert labels(bars) == [*("wait", "mio throttle", "lg throttle", "selected", "others")]
    sides = {}
    for bar in bars.patches:
        sides.setdefault(round(bar.get_y(), 3), []).append(bar.get_width())
    chip, here = (sides[place] for place in sorted(sides))
    assert chip == pytest.approx([0.18, 0, 0.3, 0.5, 0.02])
    assert here == pytest.approx([0.3, 0.3, 0, 0.4, 0])
    assert len({bar.get_facecolor() for bar in bars.patches}) == 5


def test_bars_are_of_whole_grids_if_there_are_any(draw):
    """Blocks alone have bars only where no whole grid was profiled; without profiles there are only points."""
    both = [launch("one", "solo"), launch("two", "full")]
    assert [text.get_text() for text in draw(both)[1].get_yticklabels()] == ["two"]
    assert [text.get_text() for text in draw(both[:1])[1].get_yticklabels()] == ["one"]
    assert len(draw([launch("one", "solo", profiled=False)])) == 1


@pytest.mark.filterwarnings("error")
def test_the_same_launches_give_the_same_file(tmp_path):
    """Two drawings are the same to the bit, without a date; even one row has room for its legend."""
    pytest.importorskip("matplotlib")
    files = [tmp_path / name for name in ("a.svg", "b.svg")]
    for file in files:
        kernel_picture.check(file)
        kernel_picture.write(file, [launch("one", "full")])
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"date" not in files[0].read_bytes().lower()


def test_a_picture_is_an_svg(tmp_path):
    """Another ending is refused before anything is simulated."""
    with pytest.raises(UserError, match="is an SVG file"):
        kernel_picture.check(tmp_path / "x.png")
