import json
from pathlib import Path

import pytest

from gpusim.commands import main

pytestmark = pytest.mark.jit
LISTING = """.block 64
.shared 256
    S2R R0, LANEID
    SHL R0, R0, 2
// GPUSIM-BEGIN sums
    LDS R1, [R0]
    FFMA R2, R1, R1, R2
    FFMA R2, R1, R1, R2
// GPUSIM-END
    EXIT
"""


@pytest.fixture
def listing(tmp_path):
    """Give a listing with a marked region."""
    (file := tmp_path / "sums.asm").write_text(LISTING)
    return str(file)


def test_the_screen_has_pressure_regions_and_bottlenecks(listing, capsys, monkeypatch):
    """The screen has each instruction's cycles and paths, totals by region, the limits, and lost slots."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main.execute(["report", listing]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0] == "sums on gtx580 (GeForce GTX 580)"
    assert any(line.split() == ["2", "2", "LDS", "R1,", "[R0]", "1", "2", "1", "26"] for line in lines), text
    assert any(line.split()[:2] == ["sums", "6"] and line.split()[-1] == "44" for line in lines), text
    assert any(line.split() == ["all", "12", "12", "6", "4", "4"] for line in lines), text
    assert any(line.startswith("lost slots ") for line in lines)
    assert all(len(line) <= 80 for line in lines)


def test_the_table_of_regions_states_the_scope_of_its_figures(listing, capsys):
    """Cycles of a region grow with its executions, its paths do not, and the line below the table says so."""
    rows = []
    for grid in (".grid 1\n", ".grid 64\n"):
        Path(listing).write_text(grid + LISTING)
        assert main.execute(["report", listing]) == 0
        lines = capsys.readouterr().out.splitlines()
        (row,) = (line.split() for line in lines if line.startswith("sums  "))
        rows.append((int(row[2]), row[-1]))
        below = lines[lines.index("", next(n for n, line in enumerate(lines) if line.startswith("region "))) - 1]
        assert below == "Cycles of the whole run; CP of one execution of the region, LCD of one round of its loop."
    (few, path), (many, same) = rows
    assert many > few
    assert path == same


def test_totals_are_those_of_the_whole_run(listing, capsys):
    """The table gives the cycles of one warp, and with `--totals` those of both warps."""
    for options, figures in (([], ["1", "2"]), (["--totals"], ["2", "4"])):
        assert main.execute(["report", listing, *options]) == 0
        (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(" 2 "))
        assert row.split()[5:7] == figures


def test_the_document_has_every_figure(listing, capsys):
    """`--json` has totals, instructions, regions, bottlenecks, the settings and the bound."""
    assert main.execute(["report", listing, "--json", "--set", "unit.fp32.latency=9"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == {"unit.fp32.latency": 9}
    assert [each["name"] for each in found["regions"]] == ["sums", "elsewhere"]
    assert found["regions"][0]["critical"] == 26 + 9
    assert [each["pc"] for each in found["instructions"]] == list(range(6))
    assert found["totals"]["issue slots"] == found["bound"]["limits"]["issue slots"] == 12
    assert sum(each["share_of_lost"] for each in found["bottlenecks"]) == pytest.approx(1)


def test_lines_of_a_listing_are_a_region(listing, capsys):
    """`--lines` makes the named lines a region in place of the marked ones."""
    assert main.execute(["report", listing, "--lines", "3:4", "--json"]) == 0
    (region, rest) = json.loads(capsys.readouterr().out)["regions"]
    assert (region["name"], region["pcs"], rest["pcs"]) == ("lines 3:4", [0, 1], [2, 3, 4, 5])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("3", "--lines 3: give the first and the last line, such as --lines 10:40"),
        ("20:30", "--lines 20:30: sums has no instruction there; give lines of the listing or source"),
    ],
)
def test_wrong_lines_are_refused(lines, message, listing, capsys):
    """Wrong lines are refused in one line, with exit code 2."""
    assert main.execute(["report", listing, "--lines", lines]) == 2
    assert capsys.readouterr() == ("", f"error: {message}\n")


@pytest.mark.long
def test_a_long_table_folds(capsys):
    """Neighbours that are alike share a line and repeated parts are shown once; --all shows every instruction."""
    short, long = (lines_of(capsys, *options) for options in ((), ("--all",)))
    assert any(line.endswith("times more") for line in short)
    assert any("5 x FFMA" in line for line in short)
    assert len(short) < 80
    assert len(long) > 500


def lines_of(capsys, *options: str) -> list[str]:
    """Return the lines of a report of `mix`."""
    assert main.execute(["report", "mix", "-p", "iterations=1", *options]) == 0
    return capsys.readouterr().out.splitlines()
