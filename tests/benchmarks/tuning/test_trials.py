from xml.etree import ElementTree

import pytest

from benchmarks.tuning import trials

FOUND = [("waves", {"engine": 2.0, "compile": 0.5}), ("work", {"engine": 1.0, "read": 0.25})]


def test_stages_are_told_from_the_most_expensive():
    """The mean of a stage is over all trials, also those without it; the most expensive comes first."""
    assert list(trials.means([costs for _, costs in FOUND]).items()) == [
        ("engine", 1.5),
        ("compile", 0.25),
        ("read", 0.125),
    ]


def test_a_table_has_the_trials_of_each_method():
    """The head has the mean of all trials, and each method's line its number, the largest, and its stages."""
    assert trials.table("product", FOUND).splitlines() == [
        "product: 2 trials, 1.88 CPU seconds each",
        "  waves            1 trials, 2.50 at most: engine 2.00, compile 0.50",
        "  work             1 trials, 1.25 at most: engine 1.00, read 0.25",
    ]


def test_trials_are_drawn(tmp_path):
    """The picture is an SVG, the same to the bit when it is drawn again."""
    pytest.importorskip("matplotlib")
    pictures = []
    for name in ("a.svg", "b.svg"):
        trials.drawn({"product": FOUND, "convolution": FOUND}, tmp_path / name)
        pictures.append((tmp_path / name).read_bytes())
    assert ElementTree.fromstring(pictures[0]).tag.endswith("svg")
    assert pictures[0] == pictures[1]
