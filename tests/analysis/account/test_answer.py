"""The views of a result for Python programs and notebooks."""

import re
import sys
from html import unescape
from types import ModuleType

import pytest

import gpusim
from gpusim.analysis.account import answer
from gpusim.analysis.account.run_document import document


@pytest.fixture(scope="module")
def result():
    """Return a small result."""
    return gpusim.simulate("sgemm-lai", "gtx580", m=96, n=96, k=32)


@pytest.fixture
def records(monkeypatch):
    """Let no library of data frames be found."""
    monkeypatch.setattr(answer, "LIBRARIES", ())


@pytest.mark.jit
def test_a_notebook_shows_the_screen(result):
    """The HTML of a result has the texts of the screen of `gpusim run`, with the diagnosis last."""
    text = unescape(re.sub("<[^>]*>", "", result._repr_html_()))
    assert text.startswith("sgemm-lai on gtx580 (GeForce GTX 580), lrr, compiled engine")
    assert f"{result.cycles:,} of the SM" in text
    assert text.index("what limits") > text.index("warps wait most before") > text.index("breakdown")
    assert result._repr_html_().startswith("<pre")


@pytest.mark.jit
def test_a_dictionary_is_the_document(result):
    """`to_dict` has the fields and figures of the document of `gpusim run --json`."""
    found = result.to_dict()
    made = document(result)
    assert set(made.__struct_fields__) - {"energy", "ineffective", "printed"} <= set(found)
    assert (found["schema_version"], found["cycles"], found["gflops"]) == (3, result.cycles, result.gflops)
    assert found["bound"]["limits"] == dict(result.bound.limits)


@pytest.mark.jit
@pytest.mark.usefixtures("records")
def test_stalls_add_up(result):
    """Warp-cycles of all reasons are the cycles times the warp slots, their shares 1, the most first."""
    rows = result.stalls
    assert sum(row["warp_cycles"] for row in rows) == result.run.cycles * result.run.warp_slots
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert sum(row["lost_slots"] for row in rows) == result.run.lost.sum()
    assert rows[0]["warp_cycles"] == max(row["warp_cycles"] for row in rows)


@pytest.mark.jit
@pytest.mark.usefixtures("records")
def test_hotspots_are_sorted(result):
    """Each instruction with waits is there once, the longest waits first, with its text."""
    rows = result.hotspots
    assert [row["cycles"] for row in rows] == sorted((row["cycles"] for row in rows), reverse=True)
    assert len({row["pc"] for row in rows}) == len(rows) > 20
    assert all(row["text"] for row in rows)


@pytest.mark.parametrize("library", answer.LIBRARIES)
def test_an_installed_library_makes_the_table(monkeypatch, library):
    """Where a library of data frames is installed, tables are its frames, of the same records."""
    fake = ModuleType(library)
    fake.DataFrame = lambda rows: ("frame", rows)
    monkeypatch.setitem(sys.modules, library, fake)
    monkeypatch.setattr(answer, "LIBRARIES", (library,))
    monkeypatch.setattr(answer, "find_spec", lambda name: name == library)
    assert answer.frame([{"a": 1}]) == ("frame", [{"a": 1}])
