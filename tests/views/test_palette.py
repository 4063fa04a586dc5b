"""The palette: told apart by every eye, letters readable, and used everywhere."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gpusim.sm.unit.stall import Stall, label
from gpusim.views.html import FOLDER, STATES, page
from gpusim.views.palette import COLOURS, WHITE, contrast, letters_on, luminance

ROOT = Path(__file__).parents[2]
SCHEMES = "light", "dark"
NO_PART_OF_A_BAR = {"warp_exited", "no_warp"}  # reasons that no bar shows
SIGHT = {  # linear RGB as seen without one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
POINT = np.array([0.95047, 1.0, 1.08883])
PAGE = (FOLDER / "colours.css").read_text(encoding="utf-8").split("@media")  # light, dark
BACKGROUND = dict(zip(SCHEMES, (re.search(r"--background: (#\w+);", part)[1] for part in PAGE), strict=True))
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
WITH_COLOURS = {  # files that may state a colour
    "gpusim/sm/unit/stall.py",  # of stall reasons
    "gpusim/views/palette.py",  # of states, and of letters
    "gpusim/views/html/colours.css",  # of the page
    "gpusim/reproduction/pages/drawing.py",  # of curves in plots
    "gpusim/reproduction/pages/kernel_picture.py",  # of the reasons without one
}


def lab(colours):
    """Return CIE L*a*b* of linear RGB colours with sRGB's primaries."""
    ratio = np.clip(colours, 0, 1) @ XYZ.T / POINT
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), 841 / 108 * ratio + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def pairwise_distances(places):
    return np.linalg.norm(places[:, None] - places[None], axis=-1)


def linear(colour):
    """Return the linear RGB of a colour such as #aabbcc."""
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_differ_for_every_eye(scheme, sight):
    """Every state and reason has a colour; any two, and the background, are 12 apart in CIELAB (2.3 is visible).

    This holds for eyes that lack one kind of cone too.
    """
    assert set(COLOURS) == {*STATES, *map(label, Stall)}
    found = {name: getattr(colour, scheme) for name, colour in COLOURS.items()} | {"background": BACKGROUND[scheme]}
    seen = ["background", *(name for name in COLOURS if name not in NO_PART_OF_A_BAR)]
    places = lab(np.array([linear(found[name]) for name in seen]) @ np.array(SIGHT[sight]).T)
    distance = pairwise_distances(places)
    near = [(seen[a], seen[b]) for a, b in combinations(range(len(seen)), 2) if distance[a, b] < 12]
    assert near == []


@pytest.mark.parametrize(("scheme", "least"), [("light", 1.3), ("dark", 1.7)])
def test_an_area_of_any_colour_is_seen(scheme, least):
    """What a bar shows has some contrast to the ground; WCAG's 3 to 1 has no room for so many, so letters tell them."""
    found = {name: contrast(getattr(one, scheme), BACKGROUND[scheme]) for name, one in COLOURS.items()}
    assert {name for name, ratio in found.items() if ratio < least} <= NO_PART_OF_A_BAR


@pytest.mark.parametrize("scheme", SCHEMES)
def test_letters_are_readable_on_every_colour(scheme):
    """The letter of a state or reason has a contrast of 4.5 to 1 on its colour, as WCAG 2.1 asks of text."""
    pairs = {name: (getattr(one.letters, scheme), getattr(one, scheme)) for name, one in COLOURS.items()}
    assert {name for name, pair in pairs.items() if contrast(*pair) < 4.5} == set()


def test_letters_are_the_better_of_black_and_white():
    """Of every grey, `letters_on` gives the one of black and white with the greater contrast."""
    for level in range(256):
        grey = f"#{level:02x}{level:02x}{level:02x}"
        assert contrast(letters_on(grey), grey) == max(contrast(each, grey) for each in ("#000000", WHITE))


def test_luminance_is_that_of_the_standard():
    """Black has luminance 0, white 1, pure green 0.7152; #777777 on white has a contrast of 4.48."""
    assert [luminance(colour) for colour in ("#000000", WHITE, "#00ff00")] == pytest.approx([0, 1, 0.7152])
    assert contrast("#777777", WHITE) == pytest.approx(4.48, abs=0.01)


def test_the_page_has_the_palette():
    """The HTML view states each colour, and that of its letters, for either scheme as the palette does."""
    style = page(()).split("</style>")[0]
    for name, colour in COLOURS.items():
        assert re.findall(rf"--{name}: (#\w+);", style) == list(colour)
        assert re.findall(rf"--{name}-letters: (#\w+);", style) == list(colour.letters)


def test_no_other_file_states_a_colour():
    """A colour as #rrggbb stands only in the files that define colours: no view, plot or lesson has its own."""
    kinds = {".py", ".js", ".css", ".html"}
    files = [path for folder in ("gpusim", "notebooks", "docs/generate") for path in (ROOT / folder).rglob("*.*")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files if path.suffix in kinds}
    assert {name for name, text in texts.items() if COLOUR.search(text)} == WITH_COLOURS
