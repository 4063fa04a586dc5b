"""What restrictions and a machine leave of a space file's points, without a compiler."""

import csv
import json

import pytest
from space_files import SPACE, written

from gpusim.analysis.search.code.code_stages import stages
from gpusim.analysis.search.space_file import points, read
from gpusim.commands.main import execute
from gpusim.machine.machine import load

TWO = SPACE.replace('"BLOCK * EACH <= 512"', '"BLOCK != 128", "EACH * PAD < 4"')


def test_each_restriction_takes_points_away(tmp_path):
    """Of 12 points one restriction leaves 8, two leave 6, and a machine launches those of 64 threads: 3."""
    space = read(written(tmp_path, TWO))
    found = stages(space, load("a100"))
    assert [(one.stage, one.left) for one in found.stages] == [
        ("product", 12),
        ("restriction 1", 8),
        ("restriction 2", 6),
        ("launch", 3),
    ]
    assert [one.rule for one in found.stages[1:3]] == ["BLOCK != 128", "EACH * PAD < 4"]
    assert found.points == [point for point in points(space) if point["BLOCK"] == 64]
    assert found.refused == {"needs 2048 threads per block; a100 has 1024": 3}


def test_none_left_is_a_count_and_no_error(tmp_path):
    """Restrictions that no point meets leave none, stage by stage."""
    found = stages(read(written(tmp_path, TWO.replace("BLOCK != 128", "BLOCK == 3"))), load("a100"))
    assert [one.left for one in found.stages] == [12, 0, 0, 0]
    assert (found.points, found.refused) == ([], {})


def test_the_command_counts_and_writes_points(tmp_path, capsys):
    """The screen has each stage; the document and the table of --csv have the points of the sizes that are given."""
    path, table = written(tmp_path, TWO), tmp_path / "points.csv"
    assert execute(["space", str(path), "--machine", "a100", "-p", "PAD=1", "--csv", str(table)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "on a100: sum.cu, N=16384 stage points left rule product 6 of the values of BLOCK, EACH, PAD" in text
    assert "restriction 1 4 BLOCK != 128 restriction 2 4 EACH * PAD < 4 launch 2 what a100 can launch" in text
    assert "not launched: 2 points: needs 2048 threads per block; a100 has 1024" in text
    assert list(csv.reader(table.open())) == [["BLOCK", "EACH", "PAD"], ["64", "1", "1"], ["64", "2", "1"]]
    assert execute(["space", str(path), "-p", "N=4096", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["machine"], found["sizes"]) == ("h200", {"N": 4096})
    assert found["stages"][-1]["left"] == len(found["points"]) == 3


def test_faults_of_the_launch_are_told(tmp_path, capsys):
    """A launch that can't be computed refuses every point, with its place; a chip without machine code is refused."""
    path = written(tmp_path, SPACE.replace('block = ["BLOCK"]', 'block = ["BLOCK // 0"]'))
    assert execute(["space", str(path), "--json"]) == 0
    ((reason, count),) = json.loads(capsys.readouterr().out)["refused"].items()
    assert count == 8
    assert reason.startswith(f"{path}:17:1: BLOCK // 0")
    assert execute(["space", str(path), "--machine", "gtx580"]) == 2
    assert "--machine gtx580: executes no machine code; take a10, a100" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--stage", "--capability"])
def test_options_of_other_spaces_are_refused(tmp_path, capsys, option):
    """A stage and a compute capability are of the named spaces alone."""
    path = written(tmp_path)
    assert execute(["space", str(path), option, "2.x"]) == 2
    assert capsys.readouterr().err == f"error: {option} 2.x: {path} is a space file; leave the option out\n"
