import sys

import msgspec
import pytest
from some_figures import FOUND

from gpusim.analysis.search.search import BATCH, check, search
from gpusim.analysis.search.sweep import Axis, SweepRow
from isa.errors import UserError

AXES = [
    Axis("machine", "load_store.queue", tuple(map(str, range(1, 33)))),
    Axis("kernel", "blocking", ("8", "1", "4", "2")),
    Axis("kernel", "order", ("base", "both")),
]


def rated(points):
    """Return rows whose rate is best for a queue of 20, blocking 4 and order both; a blocking of 8 can't run."""
    rows = []
    for point in points:
        values = point.values
        rate = (
            100
            - abs(int(values["load_store.queue"]) - 20)
            + int(values["blocking"]) * 5
            + 9 * (values["order"] == "both")
        )
        figures = msgspec.structs.replace(FOUND, gflops=float(rate))
        rows.append(SweepRow(point, reason="too large") if values["blocking"] == "8" else SweepRow(point, figures))
    return rows


def test_without_optuna_one_line_says_what_to_install(monkeypatch):
    """The error names the extra to install."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r"optuna is not installed; run pip install 'gpusim\[optuna\]'"):
        check()


@pytest.mark.slow
def test_a_search_proposes_the_same_points_for_the_same_seed():
    """The same seed proposes the same points, another seed others; no point occurs twice, each is in the product."""
    pytest.importorskip("optuna")
    found = [search(AXES, 40, seed, rated, lambda *_: None) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    points = [tuple(row.point.values.items()) for row in found[0]]
    assert len(set(points)) == len(points) <= 40
    for row in found[0]:
        assert all(row.point.values[axis.name] in axis.values for axis in AXES)


@pytest.fixture(name="studied")
def last_study(monkeypatch):
    """Give a function that runs a search of 24 points and returns Optuna's trials and their rows."""
    optuna = pytest.importorskip("optuna")
    create, studies = optuna.create_study, []
    monkeypatch.setattr(optuna, "create_study", lambda **given: studies.append(create(**given)) or studies[-1])

    def trials(axes, simulated):
        rows = []
        search(axes, 24, 0, lambda points: rows.extend(simulated(points)) or rows[-len(points) :], lambda *_: None)
        return list(zip(studies[-1].trials, rows, strict=True))

    return trials


@pytest.mark.slow
def test_numbers_are_proposed_by_their_place_in_order(studied):
    """Neighbouring values for Optuna are neighbours for the kernel, fractions and negative numbers included."""
    axes = [*AXES, Axis("kernel", "alpha", ("10.5", "2", "-3", "0.5"))]
    orders = {"blocking": ("1", "2", "4", "8"), "alpha": ("-3", "0.5", "2", "10.5")}
    for trial, row in studied(axes, rated):
        for name, order in orders.items():
            assert row.point.parameters[name] == order[trial.params[name]]


@pytest.mark.slow
def test_a_point_that_can_not_run_is_reported_as_failed(studied):
    """A point without figures is a failed trial without a value; any other has its negative rate as value."""
    trials = studied(AXES, rated)
    assert {trial.state.name for trial, row in trials if row.reason} == {"FAIL"}
    for trial, row in trials:
        assert trial.values == (None if row.reason else [-row.figures.gflops])


@pytest.mark.slow
def test_a_search_finds_a_fast_point():
    """With 64 of 256 points the best rate is within 3 % of the best of all; each batch reports the progress."""
    pytest.importorskip("optuna")
    reported = []
    rows = search(AXES, 64, 0, rated, lambda done, total: reported.append((done, total)))
    assert max(row.figures.gflops for row in rows if row.figures) > 0.97 * 129
    assert reported == [(done, 64) for done in range(0, 64, BATCH)]
