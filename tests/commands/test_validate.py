import json

import pytest
from draws import few

from gpusim.analysis.validate.validation import published_points
from gpusim.commands.main import execute
from gpusim.commands.trust import validate as command


@pytest.fixture
def points(monkeypatch):
    """Keep a few of the published points in the quick run, the first among them."""
    monkeypatch.setattr(command, "published_points", lambda machine: tuple(few(published_points(machine), 6)))


@pytest.mark.jit
@pytest.mark.usefixtures("points")
def test_the_document_has_every_point_with_its_error(capsys):
    """The JSON document has each point's published and simulated value, error and kind, and a count by kind."""
    assert execute(["validate", "gtx580", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["points"]) > 5
    for point in document["points"]:
        assert point["error"] == pytest.approx(point["simulated"] / point["published"] - 1)
    counts = {kind: sum(point["kind"] == kind for point in document["points"]) for kind in document["summary"]}
    assert {kind: line["n"] for kind, line in document["summary"].items()} == counts


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.usefixtures("points")
def test_the_screen_shows_each_figure_and_the_totals(capsys, monkeypatch):
    """The screen has a line per point with both figures and the error, then a line per kind and a legend."""
    monkeypatch.setenv("COLUMNS", "300")
    assert execute(["validate", "c2050"]) == 0
    lines = capsys.readouterr().out.splitlines()
    dfma = next(line for line in lines if line.startswith("dependent DFMA"))
    assert dfma.split()[2:6] == ["24", "24.00", "+0.0", "%"]
    assert [line.split(":")[0] for line in lines[-4:]] == ["input", "predicted", "input", "conf."]


def test_a_machine_without_figures_is_refused(capsys):
    """A machine without published figures ends in one line and exit code 2."""
    assert execute(["validate", "wide"]) == 2
    assert capsys.readouterr().err.startswith("error: no published figures of wide; ")
