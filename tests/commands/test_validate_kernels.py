import json
from pathlib import Path

import pytest

from gpusim.analysis.validate import kernels as whole
from gpusim.commands.main import execute
from gpusim.commands.trust import validate_kernels as command
from isa.errors import UserError
from workloads.measured.whole import tables

ROOT = Path(__file__).parents[2]
SOME = ["validate", "h200", "--kernels", "--only", "saxpy", "--only", "solo"]


@pytest.mark.jit
def test_the_document_has_launches_and_summaries(capsys):
    """A launch has both cycles and its error, shares and counters of both sides; summaries are by configuration."""
    assert execute([*SOME, "--set", "l2.filled=0", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (one,) = document["launches"]
    assert one["error"] == pytest.approx(one["simulated"] / one["measured"] - 1)
    assert one["measured"] == tables.launch("saxpy", "solo").block_cycles
    assert one["counters"]["instructions"] == one["measured_counters"]["instructions"]
    assert sum(one["stalls"].values()) == pytest.approx(sum(one["measured_stalls"].values())) == pytest.approx(1)
    assert document["summary"]["solo"]["mean_error"] == pytest.approx(abs(one["error"]))
    assert document["stalls"]["solo"]["n"] == 1
    assert document["order"] == {}
    assert document["set"] == {"l2.filled": 0}


@pytest.mark.jit
def test_the_screen_the_page_and_the_picture_show_the_same(capsys, tmp_path):
    """The files are written, and the page has the picture's address from its own folder, and the screen's totals."""
    pytest.importorskip("matplotlib")
    page, plot = tmp_path / "x.md", tmp_path / "pictures" / "x.svg"
    plot.parent.mkdir()
    assert execute([*SOME, "--markdown", str(page), "--plot", str(plot)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "(pictures/x.svg)" in page.read_text()
    totals = [line for line in lines if line.startswith("solo: ")]
    assert len(totals) == 3
    assert all(f"- {line}\n" in page.read_text() for line in totals)
    assert plot.read_text().startswith("<?xml")


@pytest.mark.slow
@pytest.mark.jit
def test_the_page_of_the_documents_is_what_is_computed(tmp_path, monkeypatch):
    """The page is what `make validation` writes, every launch included; its picture is there."""
    pytest.importorskip("matplotlib")
    page, picture = "docs/validation-h200.md", "docs/pictures/kernels-h200.svg"
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert execute(["validate", "h200", "--kernels", "--markdown", page, "--plot", picture]) == 0
    assert (tmp_path / page).read_text(encoding="utf-8") == (ROOT / page).read_text(encoding="utf-8")
    assert (ROOT / picture).is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["h200", "--kernels", "--only", "sgem"], "--only sgem: no timed kernel or configuration; choose among solo, "),
        (["gtx580", "--kernels"], "no whole kernels were timed on gtx580; take h200, or a file of sm_90"),
        (["h200", "--only", "saxpy"], "--only: belongs to --kernels; give both"),
        (["h200", "--plot", "x.svg"], "--plot: belongs to --kernels; give both"),
        (
            ["h200", "--kernels", "--measured", "x.csv"],
            "--measured x.csv: leave out --kernels, or compare the rows alone",
        ),
        (["h200", "--kernels", "--plot", "x.png"], "--plot x.png: a picture is an SVG file; end its name in .svg"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, message, capsys):
    """Each is one clear line and exit code 2, before anything is simulated."""
    assert execute(["validate", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_names_choose_launches():
    """Kernels and configurations choose together; a pattern stands for several kernels; none means all."""
    every = [(one.kernel, one.configuration) for one in command.timed()]
    assert every == [(kernel, each) for each in whole.CONFIGURATIONS for kernel in tables.compiled()]
    some = [(one.kernel, one.configuration) for one in command.timed(["dgemm*", "saxpy", "full", "solo"])]
    names = ["dgemm_64x64_4x4_v1", "dgemm_64x64_4x4_v2_pre", "saxpy"]
    assert some == [(kernel, each) for each in ("solo", "full") for kernel in names]
    assert {one.configuration for one in command.timed(["saxpy"])} == set(whole.CONFIGURATIONS)
    with pytest.raises(UserError, match="--only x: no timed kernel"):
        command.timed(["saxpy", "x"])


def test_cycles_are_of_a_block_or_of_an_sm():
    """Solo and persm are compared by a block's cycles, resident and full by an SM's."""
    for one in command.timed(["bitonic"]):
        row = tables.launch(one.kernel, one.configuration)
        assert one.cycles == (row.block_cycles if one.configuration in ("solo", "persm") else row.sm_cycles)
        assert one.milliseconds == row.milliseconds
