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
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r"optuna is not installed; run pip install 'gpusim\[optuna\]'"):
        check()


@pytest.mark.slow
def test_a_search_proposes_the_same_points_for_the_same_seed():
    """No point is there twice, each is one of the product, and another seed proposes others."""
    pytest.importorskip("optuna")
    found = [search(AXES, 40, seed, rated, lambda *_: None) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    points = [tuple(row.point.values.items()) for row in found[0]]
    assert len(set(points)) == len(points) <= 40
    for row in found[0]:
        assert all(row.point.values[axis.name] in axis.values for axis in AXES)


@pytest.fixture(name="studied")
def last_study(monkeypatch):
    """Give a function that searches, of rows without a rate too, and returns Optuna's trials and their rows."""
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
def test_what_can_not_run_is_reported_as_failed(studied):
    """A point without figures has no value, which as a time of zero would be the best; any other has its own."""
    trials = studied(AXES, rated)
    assert {trial.state.name for trial, row in trials if row.reason} == {"FAIL"}
    for trial, row in trials:
        assert trial.values == (None if row.reason else [-row.figures.gflops])


@pytest.mark.slow
def test_a_search_finds_what_is_fast():
    """With a tenth of the points its best is within a few percent of the best of all, and it reports its progress."""
    pytest.importorskip("optuna")
    reported = []
    rows = search(AXES, 64, 0, rated, lambda done, total: reported.append((done, total)))
    assert max(row.figures.gflops for row in rows if row.figures) > 0.97 * 129
    assert reported == [(done, 64) for done in range(0, 64, BATCH)]
