"""Search, filters, ranges of cycles and levels of detail of the HTML view, in a real browser."""

import pytest
from draws import draws
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from read.page import INSTRUCTIONS, OTHER, SMALL, place, seen
from strategies.launches import timelines

from gpusim.views.timeline.document import NONE

pytestmark = pytest.mark.slow
MANY = replace(
    SMALL,
    instructions=tuple(
        replace(INSTRUCTIONS[0], id=k, issue=10 * k + 2, begin=NONE, end=NONE, done=NONE, waits=()) for k in range(3001)
    ),
    lost=(),
    cycles=40_000,
    end=40_000,
)
COLOURED = """(() => {
    const { canvas } = view.panes[0], pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    pen.drawImage(canvas, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size;
})()"""


def waited(tab):
    """Return the warp-cycles waited before each pc, as the table has them."""
    rows = [row.inner_text().split("\t") for row in tab.query_selector_all("#tables table tbody tr")]
    return {int(row[0]): int(row[5]) for row in rows}


def sought(tab, text, key="Enter"):
    """Search for a text; return which instruction is selected then, and what the page tells."""
    tab.fill("#search", text)
    tab.press("#search", key)
    return seen(tab, "view.active.selected"), tab.inner_text("#found")


def drag(tab, start, end, y):
    """Drag the pointer along a height of the first canvas, between two of its cycles."""
    box = tab.locator("canvas").first.bounding_box()
    xs = [box["x"] + seen(tab, f"xOf(view, view.panes[0], {cycle})") for cycle in (start, end)]
    tab.mouse.move(xs[0], box["y"] + y)
    tab.mouse.down()
    tab.mouse.move(sum(xs) / 2, box["y"] + y)
    tab.mouse.move(xs[1], box["y"] + y)
    tab.mouse.up()


def test_a_resized_canvas_is_painted_at_once(opened):
    """After a change of size the canvas has its picture before any further frame."""
    with opened(SMALL) as tab:
        colours = tab.evaluate(
            f"""async () => {{
                const view = await opened;
                window.requestAnimationFrame = () => 1;
                document.getElementById("panes").style.height = "150px";
                resize(view);
                return {COLOURED};
            }}"""
        )
        assert colours > 5


def test_a_search_walks_through_matches(opened):
    """Enter goes to each match in order of issue and around, Shift and Enter back; the page counts them."""
    with opened(SMALL) as tab:
        assert [sought(tab, "ffma") for _ in range(3)] == [(2, "1 of 2"), (3, "2 of 2"), (2, "1 of 2")]
        assert sought(tab, "ffma", "Shift+Enter") == (3, "2 of 2")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pc 1", (2, "1 of 2")),
        ("1", (2, "1 of 2")),
        ("w1 pc 2", (5, "1 of 1")),
        ("warp 1 exit", (5, "1 of 1")),
        ("#3", (3, "1 of 1")),
        ("@40 w0", (4, "1 of 1")),
        ("fp32", (2, "1 of 2")),
        ("DADD", (NONE, "none; try FFMA, pc 19, w3, #120, cycle 900, 900:1200")),
    ],
)
def test_a_search_knows_what_numbers_number(opened, text, found):
    """Numbers of pc, warp, instruction and cycle, words of the text and unit classes find their instruction."""
    with opened(SMALL) as tab:
        assert sought(tab, text) == found


def test_a_cycle_is_gone_to(opened):
    """A cycle alone is brought to the middle of the view and marked until the next search; nothing is selected."""
    with opened(MANY) as tab:
        tab.select_option("#layout", "list")
        assert sought(tab, "cycle 20,000") == (NONE, "cycle 20,000")
        shown = seen(tab, "[view.panes[0].cycle, cycleAt(view, view.panes[0], view.panes[0].width)]")
        assert sum(shown) / 2 == pytest.approx(20_000, abs=1)
        assert seen(tab, "view.mark") == 20_000
        sought(tab, "ffma")
        assert seen(tab, "view.mark") is None


def test_a_cycle_beyond_the_run_is_told(opened):
    """A cycle that the page doesn't have is not gone to, and the page says which cycles it has."""
    with opened(SMALL) as tab:
        assert sought(tab, "@900") == (NONE, "none; cycles 0 to 60 are here")
        assert seen(tab, "view.mark") is None


def test_a_cycle_of_either_run_is_gone_to(opened):
    """Of two runs a cycle is told only where neither has it."""
    with opened(replace(SMALL, end=40), SMALL) as tab:
        assert sought(tab, "@50") == (NONE, "cycle 50")
        assert sought(tab, "@61")[1] == "none; cycles 0 to 40 and 0 to 60 are here"
    with opened(replace(SMALL, end=10), replace(SMALL, start=30)) as tab:
        told = "none; cycles 0 to 10 and 30 to 60 are here"
        assert [sought(tab, text) for text in ("15:20", "@20")] == [(NONE, told)] * 2
        assert seen(tab, "view.range") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [("900:950", "none; cycles 0 to 60 are here"), ("30:30", "none; give the first cycle and a later one")],
)
def test_a_range_without_cycles_is_told(opened, text, told):
    """Cycles beyond the run, and no cycles, are not selected, and the page says why."""
    with opened(SMALL) as tab:
        assert sought(tab, text) == (NONE, told)
        assert seen(tab, "view.range") is None


def test_a_search_stays_in_the_range(opened):
    """Matches are those that issue in the cycles selected; the page says so where all lie beyond."""
    with opened(SMALL) as tab:
        sought(tab, "0:9")
        assert [sought(tab, text)[1] for text in ("w0", "EXIT")] == ["1 of 1", "none in these cycles"]


def test_the_source_view_sends_numbers_of_issues_to_the_pipeline(opened):
    """A warp, an instruction by number and a cycle have no row in the source view, which says where they are."""
    with opened(SMALL) as tab:
        tab.keyboard.press("v")
        assert {sought(tab, text)[1] for text in ("w0", "#3", "@20")} == {"of the pipeline view: key v"}


def test_a_cleared_search_tells_nothing(opened):
    """Escape takes away what the last search told."""
    with opened(SMALL) as tab:
        assert sought(tab, "ffma")[1] == "1 of 2"
        tab.press("#search", "Escape")
        assert tab.inner_text("#found") == ""


def test_a_cycle_is_marked_where_all_are_in_sight(opened):
    """The line at cycle 30 of 60 changes pixels of the canvas, though the view stays where it was."""
    with opened(SMALL) as tab:
        before = tab.query_selector("canvas").screenshot()
        sought(tab, "@30")
        marked = tab.query_selector("canvas").screenshot()
        assert sought(tab, "DADD")[1].startswith("none")
        assert marked != before
        assert tab.query_selector("canvas").screenshot() == before


def test_a_slash_leads_to_the_search_from_either_page(opened):
    """The key / gives the search the keyboard, in the pipeline view and in the source view, where rows are found."""
    with opened(SMALL) as tab:
        for key in ("/", "v"):
            tab.keyboard.press(key)
            tab.keyboard.press("/")
            assert tab.evaluate("document.activeElement.id") == "search"
            tab.keyboard.press("Escape")
            tab.keyboard.press("Escape")
        sought(tab, "EXIT")
        assert "EXIT" in tab.inner_text("#details h2")


def test_warps_and_units_are_filtered(opened):
    """Rows, sums and matches are those of the chosen warps and unit class; what can't be read changes nothing."""
    with opened(SMALL) as tab:
        assert waited(tab) == {0: 5, 1: 55, 2: 34}
        tab.fill("#warps", "1")
        tab.press("#warps", "Enter")
        assert waited(tab) == {0: 3, 1: 28, 2: 17}
        tab.select_option("#unit", "fp32")
        assert waited(tab) == {1: 28}
        assert seen(tab, "[view.panes[0].layout.count, view.panes[0].layout.instruction(0)]") == [1, 3]
        assert sought(tab, "EXIT")[1].startswith("none")
        tab.fill("#warps", "x")
        tab.press("#warps", "Enter")
        assert tab.get_attribute("#warps", "aria-invalid") == "true"
        assert tab.inner_text("#unread") == "give numbers, such as 0-3, 7"
        tab.fill("#warps", "7-9")
        tab.press("#warps", "Enter")
        assert tab.inner_text("#unread") == "none of these; there are 0 to 1"
        assert waited(tab) == {1: 28}
        for layout in ("grouped", "warps"):
            tab.select_option("#layout", layout)
            assert seen(tab, "view.panes[0].layout.count") == 1


def test_a_dragged_range_is_what_is_summed(opened):
    """After a drag on the axis tables, sums and the panel are of its cycles; a click there brings all back."""
    with opened(SMALL) as tab:
        y = seen(tab, "view.panes[0].axis") + 8
        drag(tab, 10, 40, y)
        assert seen(tab, "view.range") == [10, 40]
        assert waited(tab) == {0: 0, 1: 42, 2: 16}
        assert "Cycles 10 to 40" in tab.inner_text("#details")
        tab.keyboard.press("z")
        shown = seen(tab, "[view.panes[0].cycle, cycleAt(view, view.panes[0], view.panes[0].width)]")
        assert shown[0] <= 10
        assert shown[1] >= 40
        box = tab.locator("canvas").bounding_box()
        tab.mouse.click(box["x"] + box["width"] - 30, box["y"] + y)
        assert seen(tab, "view.range") is None
        assert waited(tab) == {0: 5, 1: 55, 2: 34}


def test_a_drag_that_the_browser_takes_over_changes_nothing(opened):
    """Where a finger's drag becomes a scroll, the range and its sums are those of before."""
    with opened(SMALL) as tab:
        sought(tab, "10:40")
        y = seen(tab, "view.panes[0].axis") + 8
        points = [seen(tab, f"xOf(view, view.panes[0], {cycle})") for cycle in (12, 30)]
        for kind, x in zip(("pointerdown", "pointermove", "pointercancel"), (*points, points[1]), strict=True):
            tab.evaluate(
                f"""() => {{
                    const canvas = document.querySelector("canvas"), {{ left, top }} = canvas.getBoundingClientRect();
                    canvas.setPointerCapture = () => {{}};
                    const at = {{ clientX: left + {x}, clientY: top + {y}, pointerId: 1, bubbles: true }};
                    canvas.dispatchEvent(new PointerEvent("{kind}", at));
                }}"""
            )
        assert seen(tab, "[view.range, view.panes[0].run.span]") == [[10, 40], [10, 40]]


def test_a_range_holds_in_both_runs_and_in_the_source_view(opened):
    """A range that is searched for clips the sums of both runs, and those of the source view."""
    with opened(SMALL, OTHER) as tab:
        sought(tab, "10:40")
        assert seen(tab, "view.panes.map((pane) => pane.run.span)") == [[10, 40], [10, 40]]
        tab.keyboard.press("Escape")
        tab.keyboard.press("v")
        assert seen(tab, "bySource(view.source.pane.run).all") == 58
        assert "in cycles 10 to 40" in tab.inner_text("#source-bar")


def test_long_runs_open_with_a_row_for_each_warp(opened):
    """A run of 3,001 instructions opens with a row for each warp, one of six with a row for each instruction."""
    for run, layout in ((SMALL, "list"), (MANY, "warps")):
        with opened(run) as tab:
            assert seen(tab, "view.layout") == layout
            assert tab.input_value("#layout") == layout


def test_a_narrow_window_scrolls_down_only(opened):
    """In 390 pixels nothing reaches beyond the right edge, and title, search, rows and panel have room."""
    for runs in ((SMALL,), (SMALL, OTHER)):
        with opened(*runs, size=(390, 844)) as tab:
            assert tab.evaluate("document.documentElement.scrollWidth") == 390
            for part, least in (("h1", 100), ("#search", 150), ("#panes", 380), ("#details", 380)):
                assert tab.locator(part).first.bounding_box()["width"] >= least
            assert tab.locator("header").bounding_box()["height"] < 250


@settings(max_examples=draws(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(timelines())
def test_running_sums_agree_with_the_instructions(opened, document):
    """For each warp the shares from running sums are those added up from its instructions, over any third of a run."""
    with opened(document) as tab:
        differences = seen(
            tab,
            """(() => {
                const [{ run }] = view.panes, layout = oneRowPerWarp(run), columns = 3, third = (run.to - run.from) / 3;
                const [start, end] = [run.from + third, run.from + 2 * third];
                return Array.from({ length: layout.count }, (_, row) => {
                    const exact = noShares(run, start, end, columns);
                    addWarp(exact, run, layout.indices(row, start, end));
                    const { part } = sharesOf(run.levels(), row, start, end, columns);
                    return Math.max(0, ...part.map((share, k) => Math.abs(share - exact.part[k])));
                });
            })()""",
        )
    assert max(differences, default=0) < 1e-2


def test_the_occupancy_names_its_limit(opened):
    """The picture of resident warps has a line at the warps of a full SM, with what limits them."""
    with opened(SMALL) as tab:
        tab.click("#tab-Occupancy")
        assert "16 warps: limit by blocks" in tab.text_content("#tables svg")


def test_the_panel_sums_what_is_shown(opened):
    """The panel has each reason's share of the waits, the greatest first, and keeps it below what is selected."""
    with opened(SMALL) as tab:
        shares = [
            *("S", "short_scoreboard", "58.5", "%"),
            *("T", "wait", "36.2", "%"),
            *("I", "not_selected", "3.2", "%"),
            *("Z", "launch_delay", "2.1", "%"),
        ]
        for _ in range(2):
            assert tab.locator("#details .shares").first.inner_text().split() == shares
            tab.mouse.click(*place(tab, 2))
        assert tab.locator("#details h2").count() == 2


def test_the_occupancy_follows_the_range(opened):
    """The picture of resident warps has the cycles that are selected, from edge to edge."""
    with opened(SMALL) as tab:
        tab.click("#tab-Occupancy")
        assert {"0", "30", "60"} <= set(tab.locator("#tables svg text").all_text_contents())
        sought(tab, "10:40")
        assert {"10", "25", "40"} <= set(tab.locator("#tables svg text").all_text_contents())


def test_heads_of_a_table_stay_above_its_rows(opened):
    """However far the table of instructions is scrolled, each head that is in sight is on top."""
    with opened(SMALL) as tab:
        tab.evaluate("document.getElementById('tables').style.height = '60px'")
        tab.evaluate("document.getElementById('tables').scrollTo(60, 1000)")
        hidden = """[...document.querySelectorAll("#tables th button")].filter((head) => {
            const { left, right, top, bottom } = head.getBoundingClientRect();
            const here = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
            return left > 0 && here && !here.closest("th");
        }).map((head) => head.textContent)"""
        assert tab.evaluate("document.getElementById('tables').scrollTop") > 0
        assert seen(tab, hidden) == []


def test_arrows_walk_along_the_tabs(opened):
    """With the keyboard on a tab the arrow keys open the next one or the one before, around at the ends."""
    with opened(SMALL) as tab:
        tab.focus("#tab-Instructions")
        opened_by = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
            tab.keyboard.press(key)
            opened_by.append((tab.evaluate("document.activeElement.textContent"), seen(tab, "view.tab")))
        names = tab.locator("#tabs button").all_text_contents()
        wanted = [names[k % len(names)] for k in (1, 2, 1, 0, -1)]
        assert opened_by == [(name, name) for name in wanted]
