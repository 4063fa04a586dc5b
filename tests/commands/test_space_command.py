import csv
import json

import pytest

from gpusim.commands.main import execute
from workloads.spaces import SPACES


def test_the_screen_has_every_stage_with_the_published_counts(capsys):
    """On the C2050 three counts have the slides' counts and deviations next to them, and the winner survives."""
    assert execute(["space", "zgemm", "--machine", "c2050"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line[:13].strip(): line.split() for line in lines if "%" in line}
    assert found["shared memory"][3:7] == ["103,828", "99,519", "+4.3", "%"]
    assert found["occupancy"][2:6] == ["435", "492", "-11.6", "%"]
    assert found["blocks per SM"][4:8] == ["60", "211", "-71.6", "%"]
    message = " ".join(lines[-2:])
    assert "winner blk_m=24 blk_n=16 blk_k=8 dim_x=8 dim_y=8" in message
    assert message.endswith(": is among them")


def test_other_limits_are_compared_with_nothing(capsys):
    """On a GT200 no count is compared with a published one, and the winner does not survive."""
    assert execute(["space", "zgemm", "--machine", "gt200"]) == 0
    text = capsys.readouterr().out
    assert "%" not in text
    assert "published: " not in text
    assert " ".join(text.split()).endswith("is not among them")


@pytest.mark.long
def test_limits_may_be_those_of_a_compute_capability(capsys):
    """Capability 2.x has the counts of the C2050, and 1.3 those of the GT200; the document names the capability."""
    for capability, machine in (("2.x", "c2050"), ("1.3", "gt200")):
        documents = []
        for where in (("--capability", capability), ("--machine", machine)):
            assert execute(["space", "zgemm", "--json", *where]) == 0
            documents.append(json.loads(capsys.readouterr().out))
        assert documents[0]["stages"] == documents[1]["stages"]
        assert (documents[0]["capability"], documents[0]["machine"]) == (capability, None)
    assert execute(["space", "zgemm", "--capability", "1.0"]) == 0
    assert capsys.readouterr().out.startswith("zgemm on compute capability 1.0: ")


@pytest.mark.long
def test_a_changed_machine_changes_the_counts(capsys):
    """With 16,384 registers fewer points are left from that stage on, and no count is compared."""
    left = []
    for setting in ((), ("--set", "limits.registers=16384")):
        assert execute(["space", "zgemm", "--json", *setting]) == 0
        document = json.loads(capsys.readouterr().out)
        left.append({stage["stage"]: stage["left"] for stage in document["stages"]})
    assert document["set"] == {"limits.registers": 16384}
    assert left[0]["tiling"] == left[1]["tiling"]
    assert all(left[1][name] < left[0][name] for name in ("registers", "shared memory", "occupancy"))
    assert {stage["published"] for stage in document["stages"]} == {None}


def test_the_document_and_the_file_have_the_points(tmp_path, capsys):
    """JSON and CSV list the same 435 points after the stage occupancy, as many as the stage counts."""
    path = tmp_path / "points.csv"
    assert execute(["space", "zgemm", "--stage", "occupancy", "--csv", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    with path.open(newline="") as file:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert rows == document["points"]
    assert len(rows) == document["stages"][-1]["left"] == 435
    assert document["winner"]["survives"]
    assert document["stages"][-1]["deviation"] == pytest.approx(435 / 492 - 1)


def test_without_a_name_the_spaces_are_listed(capsys):
    """Each search space has a line on the screen and an entry with its parameters in the document."""
    assert execute(["space"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:1].strip()} >= set(SPACES)
    assert execute(["space", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["space"] for entry in document["spaces"]] == list(SPACES)
    assert {p["name"] for p in document["spaces"][0]["parameters"]} == {
        "occupancy",
        "loads",
        "blocks",
        "side",
        "layout",
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["zgemm", "--stage", "last"],
            "error: zgemm: last is no stage to stop after; choose one of tiling, registers, ",
        ),
        (["zgemm", "--capability", "9"], "error: compute capability 9: its limits are not known; choose one of 1.0, "),
        (["zgemm", "--capability", "1.0", "--set", "a=1"], "error: --set a=1: the limits of a compute capability "),
        (
            ["zgemm", "--capability", "1.3", "--machine", "gt200"],
            "error: --capability 1.3: --machine gt200 has limits ",
        ),
        (["zgem"], "error: no search space zgem (did you mean zgemm?); there are "),
        (["zgemm", "-p", "loads"], "error: -p loads: no value; give -p name=value"),
        (["zgemm", "--csv", "/nowhere/at/all"], "error: /nowhere/at/all: there is no directory /nowhere/at"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, line, capsys):
    """Wrong input is reported with its place and a fix."""
    assert execute(["space", *arguments]) == 2
    assert capsys.readouterr().err.startswith(line)
