"""The tables, differences and pictures below the pipeline of the HTML view, in a real browser."""

from itertools import combinations

import pytest
from draws import draws
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from read.page import SMALL, seen
from strategies.launches import timelines

from gpusim.views.timeline.document import InstructionRates

pytestmark = pytest.mark.slow
SIDES = ("x", "width"), ("y", "height")


def test_the_table_of_instructions_sums_and_sorts(opened):
    """Rows are sorted by warp-cycles waited, after a click in reverse; a click on a row selects an issue of its pc."""
    with opened(SMALL) as tab:
        assert tab.locator("#tables td:nth-child(1)").all_inner_texts() == ["1", "2", "0"]
        tab.click("#tables th button:text-is('waited')")
        columns = [tab.locator(f"#tables td:nth-child({place})").all_inner_texts() for place in (1, 5, 6)]
        assert columns == [["0", "2", "1"], ["2", "2", "2"], ["5", "34", "55"]]
        tab.click("#tables tbody tr:nth-child(2)")
        assert seen(tab, "view.panes[0].run.pc[view.panes[0].selected]") == 2


WINDOW = replace(SMALL, start=10, end=40)  # two of the six issue in these cycles


def test_sums_are_those_of_the_cycles_shown(opened):
    """The tables count only waits, issues and lost slots of the cycles shown."""
    with opened(WINDOW, replace(WINDOW, start=20, policy="gto")) as tab:
        rows = [row.inner_text().split("\t") for row in tab.query_selector_all("#tables table:first-child tbody tr")]
        assert {(kind, what): (a, b) for kind, what, a, b, *_ in rows if kind != "run" or what.startswith("warp")} == {
            ("run", "warp instructions issued"): ("2", "2"),
            ("lost by all schedulers", "short_scoreboard"): ("20", "10"),
            ("lost by all schedulers", "wait"): ("6", "6"),
            ("warp-cycles waited", "short_scoreboard"): ("42", "22"),
            ("warp-cycles waited", "wait"): ("16", "16"),
        }
        tab.click("#tab-Instructions")
        rows = [row.inner_text().split("\t") for row in tab.query_selector_all("#tables table:first-child tbody tr")]
        assert [(row[0], *row[4:6]) for row in rows] == [("1", "2", "42"), ("2", "0", "16"), ("0", "0", "0")]


@settings(max_examples=draws(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(timelines())
def test_no_warp_waits_longer_than_the_cycles_shown(opened, document):
    """Warp-cycles waited and issues of a document are no more than its warps times its cycles."""
    with opened(document) as tab:
        issues, waited = seen(
            tab,
            """[...totals(view.panes[0].run, (pc) => pc).values()].reduce(
                ([issues, waited], row) => [issues + row.issues, waited + row.waited], [0, 0])""",
        )
    assert issues == sum(document.start <= i.issue < document.end for i in document.instructions)
    assert issues + waited <= len(document.shown) * (document.end - document.start)


def test_regions_are_summed(opened):
    """Each region's row has the sums of its instructions: 2 and 34, 4 and 60."""
    with opened(SMALL) as tab:
        tab.click("#tab-Regions")
        rows = [row.inner_text().split("\t")[:3] for row in tab.query_selector_all("#tables tbody tr")]
        assert sorted(rows) == [["end", "2", "34"], ["loop", "4", "60"]]


def test_pictures_say_what_the_document_says(opened):
    """The captions of occupancy and roofline state their numbers; without a summary there is no roofline."""
    with opened(SMALL) as tab:
        tab.click("#tab-Occupancy")
        assert "Resident warps: 2.0 of 2 on average; a full SM holds 8 blocks, 16 warps" in tab.inner_text("figcaption")
        tab.click("#tab-Roofline")
        assert "100 GFLOP/s, 50.0 % of the peak; bound 150, set by issue slots" in tab.inner_text("figcaption")
    with opened(replace(SMALL, summary=None)) as tab:
        assert tab.query_selector("#tab-Roofline") is None


def test_without_operations_the_roofline_counts_instructions(opened):
    """The caption gives thread instructions per second, and the axis counts them for each byte."""
    counted = InstructionRates(speed=50.0, bound=80.0, peak=400.0, per_byte=2.5)
    idle = replace(SMALL.summary, gflops=0.0, flops_per_byte=0.0, instructions=counted)
    with opened(replace(SMALL, summary=idle)) as tab:
        tab.click("#tab-Roofline")
        assert "50 billion thread instructions/s, 12.5 % of the peak; bound 80," in tab.inner_text("figcaption")
        assert "thread instructions per byte of DRAM traffic" in tab.inner_text("figure")


BOXES = """[...document.querySelectorAll("svg text")].map((text) => {
    const { x, y, width, height } = text.getBBox();
    return [text.textContent, { x, y, width, height }];
})"""


@pytest.mark.parametrize("speed", [150.0, 149.0, 100.0, 0.01, 160.0])
def test_no_text_of_the_roofline_lies_on_another(opened, speed):
    """Whether the speed is near the bound of 150 or far from it, no text of the roofline overlaps another."""
    with opened(replace(SMALL, summary=replace(SMALL.summary, gflops=speed))) as tab:
        tab.click("#tab-Roofline")
        texts = seen(tab, BOXES)
    assert {"bound", "simulated"} <= {name for name, _ in texts}
    for (name, one), (other_name, other) in combinations(texts, 2):
        separate = [one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at] for at, size in SIDES]
        assert any(separate), (name, other_name)
