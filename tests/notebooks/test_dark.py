"""Pictures for dark pages."""

import base64
import re

import pytest

from gpusim.views.palette import COLOURS

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def dark(teaching):
    """Return the module that makes colours dark; it lies beside the one that the lessons share."""
    from importlib import import_module  # noqa: PLC0415

    assert teaching
    return import_module("dark")


def test_black_white_grids_and_the_palette_have_dark_colours(dark):
    """Letters and grids are light on a dark ground, a stall reason has its colour of dark ground, others stay."""
    from matplotlib.colors import to_hex, to_rgba  # noqa: PLC0415  (an extra)

    assert to_hex(dark.on_dark("black")) == to_hex("0.9")
    assert to_hex(dark.on_dark("white")) == to_hex("0.1")
    assert to_hex(dark.on_dark("0.9")) == to_hex("0.3")
    for one in COLOURS.values():
        assert to_hex(dark.on_dark(one.light)) == one.dark
    assert dark.on_dark("none") == "none"
    assert dark.on_dark("C3") == "C3"
    assert dark.on_dark(to_rgba("black", 0.3))[3] == pytest.approx(0.3)


def svgs(html):
    """Return the pictures of a page's part, by the scheme that they are for."""
    found = re.findall(r'<img class="on-(\w+)".*?base64,([\w+/=]+)"', html)
    return {scheme: base64.b64decode(data).decode() for scheme, data in found}


def test_a_picture_is_there_for_either_scheme(teaching):
    """One image has the colours for light ground, the other those for dark ground and no ground of its own."""
    colour = COLOURS["long_scoreboard"]
    figure, axes = plt.subplots()
    axes.barh(["a"], [1], color=colour.light)
    axes.set(title="letters")
    shown = teaching.picture(figure, 'A "caption" <b>').text
    assert shown.count("A &quot;caption&quot; &lt;b&gt;") == 3
    drawn = svgs(shown)
    assert set(drawn) == {"light", "dark"}
    assert colour.light in drawn["light"]
    assert colour.dark not in drawn["light"]
    assert colour.dark in drawn["dark"]
    assert colour.light not in drawn["dark"]
    assert "#ffffff" in drawn["light"]
    assert "#ffffff" not in drawn["dark"]
    assert "#000000" not in drawn["dark"]
