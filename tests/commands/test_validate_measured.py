import json
from pathlib import Path

import pytest

from gpusim.commands.main import execute

FOLDER = Path(__file__).parents[1] / "measured"  # a row of each kind with made-up times, for the reader and the streams


@pytest.mark.long
@pytest.mark.jit
def test_the_document_has_every_row(capsys):
    """Each row is a point with its error; the summary has each experiment, without those that only give inputs."""
    assert execute(["validate", "h200", "--measured", str(FOLDER / "micro.csv"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 2
    points = document["points"]
    assert [point["line"] for point in points] == list(range(2, 2 + len(points)))
    assert document["unmodelled"] == len(document["without"]) == 0
    for point in points:
        assert point["error"] == pytest.approx(point["simulated"] / point["measured"] - 1)
        assert point["kind"] == "input" or point["experiment"] in document["summary"]
    assert {"lat", "nothing"} & document["summary"].keys() == set()
    assert document["summary"]["tput"].keys() == {"n", "median_error", "p95_error"}
    assert sum(line["n"] for line in document["kinds"].values()) == len(points)


@pytest.mark.jit
def test_the_screen_ends_with_the_rows_without_a_stream(tmp_path, capsys):
    """The screen has each row and experiment, then each row that has no stream, and their number."""
    (path := tmp_path / "rows.csv").write_text(
        "name,kernel,W,cyc1_med,cyc2_med\nbank2:FFMA:EOE,base_alu,1,1800,5400\nbank2:TEX:EOE,base_alu,1,1,2\n"
    )
    assert execute(["validate", "h200", "--measured", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["line 3: bank2 base_alu TEX:EOE W1: no stream", "not compared: 1 row of 2"]
    (figures,) = (line.split() for line in lines if line.startswith("2 "))
    assert figures[:7] == ["2", "bank2", "base_alu", "FFMA:EOE", "1", "0", "3600"]
    assert any(line.split()[:2] == ["bank2", "1"] for line in lines)


def test_bad_input_is_one_line_and_exit_code_2(tmp_path, capsys):
    """A file without the columns of measurements is refused with its place, and exit code 2."""
    (path := tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    assert execute(["validate", "h200", "--measured", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {path}:1: column exp is missing; ")


def test_a_file_without_any_stream_is_refused(tmp_path, capsys):
    """A file in which no row has a stream is refused with the reason, and exit code 2."""
    (path := tmp_path / "rows.csv").write_text("name,kernel,W,cyc1_med,cyc2_med\nbank2:TEX:EOE,base_alu,1,1,2\n")
    assert execute(["validate", "h200", "--measured", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error: {path}: nothing to compare, as no row has a stream (line 2: bank2" in err
