"""Kernels whose blocks wait for each other: commands time them without a bound, and `bound` says why there is none."""

import json

import pytest
from read.schemas import check_document

from gpusim.bounds import of_run
from gpusim.bounds.bounds import NoBoundError, bound
from gpusim.commands import main
from gpusim.machine.machine import load
from isa.errors import LimitError
from isa.text.listing import read

pytestmark = pytest.mark.jit
MEET = """.grid 2
.block 32
.buffer a u32 32
MOV R0, c[a]
S2R R1, LANEID
MOV R2, 1
ISETP.NE P0, R1, 0
@P0 BRA wait
RED.ADD [R0], R2
wait:
LDG R4, [R0]
ISETP.LT P1, R4, 2
@P1 BRA wait
EXIT
"""
ONE_SM = "--set", "chip.sms=1"
WHY = "no bound: it needs each block by itself, in program order, which does not end: meet: line "


@pytest.fixture
def meet(tmp_path, monkeypatch):
    """Give a listing of two blocks that end when both have begun, and let the bound give up soon."""
    monkeypatch.setattr(of_run, "SOME", 1000)
    monkeypatch.setenv("COLUMNS", "300")
    (file := tmp_path / "meet.asm").write_text(MEET)
    return str(file)


@pytest.mark.parametrize("rows", [[], ["--by", "line"]])
def test_a_report_goes_without_the_bound(meet, capsys, rows):
    """The table has what the run itself counts, 23 warp instructions in all, and the head says why no bound."""
    assert main.execute(["report", meet, *ONE_SM, *rows]) == 0
    found = capsys.readouterr()
    (cycles,) = (line for line in found.out.splitlines() if line.startswith("cycles "))
    assert WHY in cycles
    (last,) = (line.split() for line in found.out.splitlines() if line.split()[:1] == ["all"])
    assert "23" in last
    assert found.err == ""


def test_its_document_has_null_for_what_only_profiles_tell(meet, capsys):
    """Bound, passes, transactions and paths are null, cycles of resources empty; issues, waits and bottlenecks stay."""
    assert main.execute(["report", meet, *ONE_SM, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    check_document(found, "report")
    assert (found["bound"], found["totals"], found["schema_version"]) == (None, {}, 3)
    assert f"no bound: {found['no_bound']}".startswith(WHY)
    unknown = "shared_passes", "transactions", "critical", "carried"
    assert {one[name] for one in found["instructions"] for name in unknown} == {None}
    assert sum(one["issued"] for one in found["instructions"]) == 23
    assert {region[name] for region in found["regions"] for name in ("critical", "carried", "alone")} == {None}
    assert found["bottlenecks"][0]["reason"] == "long_scoreboard"


def test_its_document_by_line_has_what_accesses_moved(meet, capsys):
    """What the run moved is known by line, as what issued is, and the document says why there is no bound."""
    assert main.execute(["report", meet, *ONE_SM, "--by", "line", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    check_document(found, "report-lines")
    assert sum(line["moved"]["sectors"] for line in found["lines"]) > 0
    assert sum(line["issued"] for line in found["lines"]) == 23
    assert f"no bound: {found['no_bound']}".startswith(WHY)


def test_the_document_of_a_run_without_a_bound_has_its_version(meet, capsys):
    """A bound of null came with version 3 of a run's document; version 2 always has one."""
    assert main.execute(["run", meet, *ONE_SM, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    check_document(found, "run")
    assert (found["schema_version"], found["bound"]) == (3, None)


def test_bound_refuses_in_one_line(meet, capsys):
    """`gpusim bound` ends with code 2: where a block waits for what, why there is no bound, that `run` times it."""
    assert main.execute(["bound", meet, *ONE_SM, "--max-instructions", "2000"]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    (line,) = found.err.splitlines()
    assert line.startswith("error: meet: line ")
    assert (
        "block 0, warp 0, waits for a store to a[0] (0x1000), which holds 1; a bound needs each block by itself" in line
    )
    assert line.endswith("take `gpusim run`, which times it without a bound")


def test_a_block_that_waits_for_nobody_meets_the_limit():
    """Only blocks that may wait for others have no bound; a loop that no other block ends is beyond the limit."""
    with pytest.raises(NoBoundError):
        bound(read(MEET), load("gtx580", {"chip.sms": 1}), limit=2000)
    with pytest.raises(LimitError):
        bound(read("top:\nBRA top\n"), load("gtx580"), limit=2000)
