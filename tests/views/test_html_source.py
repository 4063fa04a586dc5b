"""The source view of the page, in a real browser: figures, marks on both sides, sorting and keys."""

import pytest
from draws import draws
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from read.page import OTHER, SMALL, contrasts, seen
from strategies.launches import timelines

from gpusim.views.source import place, sums
from gpusim.views.timeline.document import Line, SourceFile

pytestmark = pytest.mark.slow
TEXT = SourceFile("/a/k.cu", ("k() {", '  y += "<b>";', "  i++;", *[""] * 60, "}"))
PROGRAM = (  # lines 2 and 64 of the source, the former in two stretches
    replace(SMALL.program[0], file="/a/k.cu", line=2, function="k", offset=0),
    replace(SMALL.program[1], file="/a/k.cu", line=64, function="k", offset=16),
    replace(SMALL.program[2], file="/a/k.cu", line=2, function="k", offset=32),
)
CODE = replace(SMALL, program=PROGRAM, sources=(TEXT,))


def cells(tab, half, columns):
    """Return the texts of some columns of the rows of a half that have instructions, as they are shown."""
    rows = tab.query_selector_all(f"#{half} tbody tr:not(.inert, .fold)")
    return [[row.inner_text().split("\t")[k].strip() for k in columns] for row in rows]


def marked(tab, name="marked"):
    """Return the first cells of the marked rows of both halves."""
    return [
        [row.inner_text().split("\t")[0].strip() for row in tab.query_selector_all(f"#{half} tr.{name}")]
        for half in ("lines", "code")
    ]


def chosen(tab):
    """Return the first cell of the chosen row."""
    return [row.inner_text().split("\t")[0].strip() for row in tab.query_selector_all("#source [aria-selected=true]")]


def in_sight(tab, half, first):
    """Tell whether the row of a half with that first cell is inside the half's frame."""
    row = tab.locator(f"#{half} tbody tr", has=tab.locator(f"td:first-child:text-is('{first}')"))
    box, frame = row.bounding_box(), tab.locator(f"#{half}").bounding_box()
    return frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_lines_and_instructions_have_their_figures(opened):
    """Line 2 has the waits of both its instructions, 39 of 94 warp-cycles; each instruction has its own."""
    with opened(CODE) as tab:
        tab.click("#pages button[data-page='source']")
        assert cells(tab, "lines", (0, 1, 3, 4)) == [
            ["2", 'y += "<b>";', "41.5 %", "4"],
            ["64", "}", "58.5 %", "2"],
        ]
        assert cells(tab, "code", (0, 1, 2, 4, 5)) == [
            ["0000", "LDS.64 R2, [R1]", "2", "5.3 %", "2"],
            ["0010", "FFMA R4, R2, R3, R4", "64", "58.5 %", "2"],
            ["0020", "EXIT", "2", "36.2 %", "2"],
        ]
        assert not tab.is_visible("canvas")


def test_a_click_marks_what_belongs_together(opened):
    """A click on a line marks it and its instructions, one on an instruction its line and that line's others."""
    with opened(CODE) as tab:
        tab.keyboard.press("v")
        assert (chosen(tab), marked(tab)) == (["64"], [["64"], ["0010"]])  # where warps waited longest
        tab.click("#lines td:text-is('2')")
        assert (chosen(tab), marked(tab)) == (["2"], [["2"], ["0000", "0020"]])
        tab.click("#code td:text-is('0020')")
        assert (chosen(tab), marked(tab)) == (["0020"], [["2"], ["0000", "0020"]])
        assert "k + 0x20" in tab.inner_text("#details")


def test_the_pointer_marks_what_belongs_together(opened):
    """Over a line its instructions are marked, and no longer when the pointer leaves; what was chosen stays."""
    with opened(CODE) as tab:
        tab.keyboard.press("v")
        tab.hover("#lines td:text-is('2')")
        assert marked(tab, "hovered") == [["2"], ["0000", "0020"]]
        tab.hover("#source-bar")
        assert marked(tab, "hovered") == [[], []]
        assert chosen(tab) == ["64"]


LONG = tuple(
    Line(pc, f"I{pc}", "int", file="/a/k.cu", line=2 if pc in (0, 150, 299) else 3, function="k", offset=16 * pc)
    for pc in range(300)
)


def test_what_belongs_to_a_row_comes_into_sight(opened):
    """A click on a line brings its first instruction into sight, and again the next stretch, around at the end."""
    with opened(replace(CODE, program=LONG, instructions=CODE.instructions[:1])) as tab:
        tab.keyboard.press("v")
        tab.click("#lines td:text-is('3')")
        for first in ("0000", "0960", "12b0", "0000"):
            tab.click("#lines td:text-is('2')")
            assert in_sight(tab, "code", first)


def test_a_line_far_down_comes_into_sight(opened):
    """The line of an instruction that is chosen comes into sight in a long file."""
    text = SourceFile("/a/k.cu", tuple(f"x{k};" for k in range(300)))
    program = (PROGRAM[0], replace(PROGRAM[1], line=290), PROGRAM[2])
    every = tuple(replace(PROGRAM[0], pc=3 + k, line=3 + k) for k in range(287))  # no line is folded
    with opened(replace(CODE, program=(*program, *every), sources=(text,))) as tab:
        tab.keyboard.press("v")
        tab.click("#code td:text-is('EXIT')")
        assert not in_sight(tab, "lines", "290")
        tab.click("#code td:text-is('0010')")
        assert in_sight(tab, "lines", "290")


def test_keys_walk_and_sort(opened):
    """Arrows walk along a half and cross over, N and P go by waits, S sorts both halves by waits and back."""
    with opened(CODE) as tab:
        tab.keyboard.press("v")
        found = []
        for key in ("ArrowUp", "ArrowRight", "ArrowDown", "n", "n", "p", "ArrowLeft"):
            tab.keyboard.press(key)
            found += chosen(tab)
        assert found == ["2", "0000", "0010", "0020", "0000", "0020", "2"]
        tab.keyboard.press("s")
        assert [row[0] for row in cells(tab, "code", (0,))] == ["0010", "0020", "0000"]
        assert [row[0] for row in cells(tab, "lines", (0,))] == ["64", "2"]
        tab.keyboard.press("s")
        assert [row[0] for row in cells(tab, "code", (0,))] == ["0000", "0010", "0020"]
        assert seen(tab, "document.activeElement.closest('.half').id") == "lines"


def test_a_click_on_a_head_sorts(opened):
    """A click on `share` sorts by waits, another one the other way round; the marks stay on their rows."""
    with opened(CODE) as tab:
        tab.keyboard.press("v")
        tab.click("#code th button:text-is('share')")
        assert [row[0] for row in cells(tab, "code", (0,))] == ["0010", "0020", "0000"]
        tab.click("#code th button:text-is('share')")
        assert [row[0] for row in cells(tab, "code", (0,))] == ["0000", "0020", "0010"]
        assert marked(tab) == [["64"], ["0010"]]


def test_lines_without_instructions_fold(opened):
    """The 61 lines between are folded but for four at either end; a click brings them back."""
    with opened(CODE) as tab:
        tab.keyboard.press("v")
        rows = "document.querySelectorAll('#lines tbody tr').length"
        assert tab.inner_text("#lines .fold") == "lines 7 to 59, without instructions"
        assert seen(tab, rows) == 64 - 53 + 1
        tab.click("#lines .fold button")
        assert seen(tab, rows) == 64


def test_pipeline_and_source_lead_to_each_other(opened):
    """From a selected warp instruction a link leads to its row, and from that one to an issue of it."""
    with opened(CODE) as tab:
        tab.keyboard.press("n")
        tab.click("#details .link:text-is('source: k.cu:2')")
        assert chosen(tab) == ["0000"]
        tab.click("#code td:text-is('0020')")
        tab.click("#details .link:text-is('its next issue in the pipeline')")
        assert tab.is_visible("canvas")
        assert seen(tab, "view.panes[0].run.pc[view.panes[0].selected]") == 2


def test_an_address_can_name_the_source_view(opened):
    """The page's address says which view it shows, and opens with that."""
    with opened(CODE) as tab:
        tab.keyboard.press("v")
        assert seen(tab, "location.hash") == "#source"
        tab.reload()
        tab.wait_for_selector("html[data-ready]", state="attached")
        assert tab.is_visible("#lines")
        assert not tab.is_visible("canvas")


def test_a_missing_source_has_its_numbers_and_a_note(opened):
    """Without the file, lines with instructions have their numbers and figures, under one note."""
    with opened(replace(CODE, sources=(SourceFile("/a/k.cu"),))) as tab:
        tab.keyboard.press("v")
        assert (
            tab.inner_text("#lines .note")
            == "k.cu was not found; put it next to the file that was loaded, or give --source-root DIR"
        )
        assert cells(tab, "lines", (0, 1, 4)) == [["2", "", "4"], ["64", "", "2"]]


def test_a_program_without_source_has_its_instructions_alone(opened):
    """A generated program shows its instructions over the whole width, by pc."""
    with opened(SMALL) as tab:
        tab.keyboard.press("v")
        assert not tab.is_visible("#lines")
        assert [row[0] for row in cells(tab, "code", (0,))] == ["0", "1", "2"]


def test_another_file_shows_its_lines(opened):
    """Files are listed by waits; choosing one, or an instruction from it, shows its lines."""
    program = (replace(PROGRAM[0], file="h.cuh", line=9), *PROGRAM[1:])
    with opened(replace(CODE, program=program)) as tab:
        tab.keyboard.press("v")
        assert tab.locator("#source-bar option").all_inner_texts() == ["k.cu, 94.7 %", "h.cuh, 5.3 %"]
        tab.select_option("#source-bar select", "h.cuh")
        assert (chosen(tab), marked(tab)) == (["9"], [["9"], ["0000"]])
        tab.click("#code td:text-is('0020')")
        assert marked(tab) == [["2"], ["0020"]]
        assert tab.eval_on_selector("#source-bar select", "(list) => list.value") == "/a/k.cu"


def test_two_runs_take_turns_and_keep_the_choice(opened):
    """The run is chosen from a list; the same line stays chosen, and rows stay sorted by waits, now by those of B."""
    with opened(CODE, replace(CODE, machine="other", start=20, policy="gto")) as tab:
        tab.keyboard.press("v")
        tab.click("#lines td:text-is('2')")
        tab.keyboard.press("s")
        before = cells(tab, "lines", (3,))
        tab.select_option("#source-bar select", label="B: small on other, gto")
        assert chosen(tab) == ["2"]
        assert cells(tab, "lines", (3,)) != before
        assert [row[0] for row in cells(tab, "code", (0,))] == ["0020", "0010", "0000"]


@pytest.mark.parametrize("width", [390, 800, 1500])
def test_no_code_is_cut(opened, width):
    """In a window of a phone, of half a screen and of a whole one, code wraps, and has room for a dozen letters."""
    with opened(CODE, size=(width, 844)) as tab:
        tab.click("[data-page=source]")
        cells = tab.evaluate(
            "[...document.querySelectorAll('.half td.code')].map((cell) => [cell.clientWidth, cell.scrollWidth])"
        )
        assert len(cells) > 10
        assert all(own >= max(100, whole) for own, whole in cells)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)], ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_source_view_fits_the_window(opened, size, scheme):
    """Both halves and the details fit the window, and nothing has to be scrolled but them."""
    with opened(CODE, OTHER, size=size, scheme=scheme) as tab:
        tab.keyboard.press("v")
        root = tab.locator("html")
        assert [root.evaluate(f"(root) => root.scroll{side}") for side in ("Width", "Height")] == [*size]
        for part in ("#lines", "#code", "#details"):
            box = tab.locator(part).bounding_box()
            assert box["width"] >= 200
            assert box["x"] + box["width"] <= size[0]
            assert box["y"] + box["height"] <= size[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_on_marks_and_heat(opened, scheme):
    """Every text of the tables has a contrast of 4.5 to 1, as WCAG 2.1 asks, on the hottest, chosen row too."""
    with opened(CODE, scheme=scheme) as tab:
        tab.keyboard.press("v")
        tab.hover("#code td:text-is('0020')")
        found = contrasts(tab, "#source tbody td")
    assert len(found) > 20
    assert min(found.values()) >= 4.5


@settings(max_examples=draws(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(timelines())
def test_figures_are_those_of_the_document(opened, document):
    """Issues of each line, and its share of the waits, are those that the document's sums have, for any document."""
    with opened(document) as tab:
        tab.keyboard.press("v")
        for key in ("n", "ArrowRight", "Enter", "s", "ArrowDown", "ArrowLeft", "p", "s"):
            tab.keyboard.press(key)
        found = seen(
            tab,
            """[...bySource(view.panes[0].run).byPlace].map(([, { issues, waited }]) => [issues, waited])""",
        )
    expected = [[one.issues, one.waited] for one in sums(document, place).values()]
    assert sorted(found) == sorted(expected)


def test_machine_code_has_offsets_in_the_pipeline_view_too(opened):
    """Rows of the table, the tip and the details number instructions by their offset, and a search finds one by it."""
    with opened(CODE) as tab:
        tab.keyboard.press("p")
        tab.fill("#search", "0x10")
        tab.press("#search", "Enter")
        assert seen(tab, "view.active.run.pc[view.active.selected]") == 1
        assert "0x0010, " in tab.inner_text("#details")
        assert "offset" in tab.inner_text("thead").lower()
        assert seen(tab, "labelOf(view.active.run, view.active.layout, 0, 60)").split()[1] == "0x0000"
        assert seen(tab, "[pointOf(view.active.run, 2), numberOf(view.active.run, 2)]") == ["0x0020", "0x0020"]
    with opened(SMALL) as tab:
        assert seen(tab, "[pointOf(view.active.run, 2), numberOf(view.active.run, 2)]") == ["pc 2", "2"]
