"""The HTML view in a real browser: Debian's Chromium, driven by Playwright (CONTRIBUTING says how to install both)."""

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from strategies import timelines
from timeline_documents import by_hand

from gpusim.timeline import NONE, Issued, Line, Lost, Resident, Summary, Wait

pytestmark = pytest.mark.slow
SIZES = (1280, 720), (1920, 1080)
SIDES = ("x", "width"), ("y", "height")
PROGRAM = (
    Line(0, "LDS.64 R2, [R1]", "shared", "loop"),
    Line(1, "FFMA R4, R2, R3, R4", "fp32", "loop"),
    Line(2, "EXIT", "control", "end"),
)
# Two warps: a load each, who waits for it and for a turn, and two exits.
INSTRUCTIONS = (
    Issued(0, 0, 0, 0, 0, issue=2, begin=3, end=5, done=30, lanes=32, waits=(Wait("x_launch", 0, 2),)),
    Issued(1, 1, 0, 0, 0, issue=3, begin=5, end=7, done=32, lanes=32, waits=(Wait("not_selected", 0, 3, 0),)),
    Issued(2, 0, 0, 1, 0, issue=30, begin=30, end=32, done=48, lanes=32, waits=(Wait("short_scoreboard", 3, 30, 0),)),
    Issued(3, 1, 0, 1, 0, issue=32, begin=32, end=34, done=50, lanes=32, waits=(Wait("short_scoreboard", 4, 32, 1),)),
    Issued(4, 0, 0, 2, 0, issue=48, begin=NONE, end=NONE, done=NONE, lanes=32, waits=(Wait("wait", 31, 48, 2),)),
    Issued(5, 1, 0, 2, 0, issue=50, begin=NONE, end=NONE, done=NONE, lanes=32, waits=(Wait("wait", 33, 50, 3),)),
)
SMALL = replace(
    by_hand(PROGRAM, INSTRUCTIONS, 60),
    kernel="small",
    warp_slots=2,
    shown=(0, 1),
    blocks=(Resident(0, 0, (0, 1), 0, 60),),
    lost=(Lost(0, "x_launch", 0, 2, 0), Lost(0, "short_scoreboard", 4, 30, 2), Lost(0, "wait", 34, 48, 4)),
    summary=Summary(100.0, 150.0, "issue slots", 200.0, 20.0, 30.0, 8, 16, "blocks"),
)
OTHER = replace(SMALL, machine="other", policy="gto", cycles=75, end=75)


def seen(tab, expression):
    """Value of an expression of the page's `view`, after the next frame."""
    return tab.evaluate(
        f"""async () => {{
            const view = await opened;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return {expression};
        }}"""
    )


def place(tab, ident, pane=0):
    """Middle of the cell in which an instruction issues, in pixels of the window."""
    x, y = seen(
        tab,
        f"""(() => {{
            const pane = view.panes[{pane}], i = indexOf(pane.run, {ident}), box = pane.canvas.getBoundingClientRect();
            const row = pane.layout.rowOf(i);
            return [box.x + xOf(view, pane, pane.run.issue[i] + 0.5), box.y + yOf(view, pane, row + 0.5)];
        }})()""",
    )
    return x, y


def accents(tab):
    """How many of the canvas's pixels have the colour of frames and arrows."""
    return seen(
        tab,
        """(() => {
            const { width, height } = view.panes[0].canvas, wanted = pixelOf(view.ink.accent) >>> 0;
            const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(view.panes[0].canvas, 0, 0);
            const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
            return pixels.reduce((sum, pixel) => sum + (pixel === wanted), 0);
        })()""",
    )


def test_an_instruction_is_selected_by_a_click_and_shows_its_blocker(opened):
    """Its text, times and waits appear, an arrow is drawn, and the link of its blocker goes there."""
    with opened(SMALL) as tab:
        before = accents(tab)
        tab.mouse.click(*place(tab, 2))
        told = tab.inner_text("#details")
        assert "FFMA R4, R2, R3, R4" in told
        assert "short_scoreboard 3 to 30, 27: waits for a load" in " ".join(told.split())
        assert accents(tab) > before
        tab.click("#details .link[data-id='0']")
        assert "#0 LDS.64 R2, [R1]" in tab.inner_text("#details h2")
        assert "x_launch" in tab.inner_text("#details")


def test_arrows_are_drawn_to_known_blockers_only(opened):
    """The same instruction with a blocker that the document does not hold has a frame and no arrow, and says so."""
    lone = replace(INSTRUCTIONS[2], waits=(Wait("short_scoreboard", 3, 30, 77),))
    counts = []
    for third in (INSTRUCTIONS[2], lone):
        with opened(replace(SMALL, instructions=(*INSTRUCTIONS[:2], third, *INSTRUCTIONS[3:]))) as tab:
            tab.mouse.click(*place(tab, 2))
            counts.append(accents(tab))
            told = tab.inner_text("#details")
    assert counts[0] > counts[1]
    assert "#77, which is not shown" in told


def test_conflicts_are_told_where_there_are_some(opened):
    """Passes beyond those of its width, and cycles beyond its latency, are told of an access with them, of no other."""
    conflicting = replace(INSTRUCTIONS[0], conflicts=3, late=40)
    with opened(replace(SMALL, instructions=(conflicting, *INSTRUCTIONS[1:]))) as tab:
        for ident, told in ((0, True), (1, False)):
            tab.mouse.click(*place(tab, ident))
            text = " ".join(tab.inner_text("#details").split())
            assert ("conflicts add 3 passes or requests" in text) == told
            assert ("memory is late 40 cycles beyond its latency" in text) == told


def test_the_chain_of_blockers_leads_back_to_the_cause(opened):
    """An exit waits for the sum, which waited for the load, which waited for nobody: both are there in this order."""
    with opened(SMALL) as tab:
        tab.mouse.click(*place(tab, 4))
        links = tab.locator("#details ol .link")
        assert [link.split()[0] for link in links.all_inner_texts()] == ["#2", "#0"]
        links.last.click()
        assert "#0" in tab.inner_text("#details h2")
        assert tab.locator("#details ol").count() == 0


def test_keys_walk_along_a_warp_and_back(opened):
    """N and P go to the warp's next and previous instruction, B to the blocker, Backspace back, Escape to none."""
    with opened(SMALL) as tab:
        tab.mouse.click(*place(tab, 1))
        ids = []
        for key in ("n", "n", "p", "b", "Backspace", "Escape"):
            tab.keyboard.press(key)
            ids.append(seen(tab, "view.panes[0].selected"))
        assert ids == [3, 5, 3, 1, 3, NONE]


def test_the_wheel_zooms_at_the_pointer(opened):
    """Cycles and rows grow, and what lay under the pointer stays there; Shift leaves the rows as they are."""
    with opened(SMALL) as tab:
        tab.keyboard.press("f")
        x, y = place(tab, 2)
        tab.mouse.move(x, y)
        scale, height = seen(tab, "[view.scale, view.height]")
        tab.mouse.wheel(0, -100)
        assert seen(tab, "view.scale") > scale
        assert place(tab, 2) == pytest.approx((x, y), abs=1)
        tab.keyboard.down("Shift")
        height = seen(tab, "view.height")
        tab.mouse.wheel(0, -100)
        assert seen(tab, "view.height") == height


def test_a_drag_moves_the_view(opened):
    """After zooming in, dragging by 60 pixels moves what is seen by 60 pixels."""
    with opened(SMALL) as tab:
        x, y = place(tab, 2)
        tab.mouse.move(x, y)
        for _ in range(4):
            tab.mouse.wheel(0, -100)
        start = place(tab, 2)
        tab.mouse.down()
        tab.mouse.move(x - 30, y)
        tab.mouse.move(x - 60, y)
        tab.mouse.up()
        assert place(tab, 2)[0] == pytest.approx(start[0] - 60, abs=1)


@pytest.mark.parametrize("corner", [(0.99, 0.01), (0.01, 0.99)], ids=["late", "early"])
def test_zooming_into_emptiness_finds_instructions(opened, corner):
    """Wherever the wheel zooms in, rows and cycles in sight belong together: some part of an instruction is seen."""
    single = replace(INSTRUCTIONS[0], begin=NONE, end=NONE, done=NONE, waits=())
    many = tuple(replace(single, id=k, issue=10 * k) for k in range(2000))
    with opened(replace(SMALL, instructions=many, cycles=20_000, end=20_000)) as tab:
        tab.keyboard.press("f")
        pane = seen(tab, "(({ left, top, width, height }) => ({ left, top, width, height }))(view.panes[0])")
        box = tab.locator("canvas").bounding_box()
        x = pane["left"] + corner[0] * (pane["width"] - pane["left"])
        y = pane["top"] + corner[1] * (pane["height"] - pane["top"])
        tab.mouse.move(box["x"] + x, box["y"] + y)
        for _ in range(40):
            tab.mouse.wheel(0, -100)
        drawn = (
            "(() => { let n = 0; eachPart(view.panes[0], inSight(view, view.panes[0]), 1, () => n++); return n; })()"
        )
        assert seen(tab, "view.scale") == 40
        assert seen(tab, drawn) > 0


@pytest.mark.parametrize(("layout", "rows"), [("list", 6), ("grouped", 6), ("warps", 2)])
def test_rows_can_be_grouped(opened, layout, rows):
    """In order of issue, grouped by warp, or one per warp: a click on an instruction selects it in each."""
    with opened(SMALL) as tab:
        tab.select_option("#layout", layout)
        assert seen(tab, "view.panes[0].layout.count") == rows
        tab.mouse.click(*place(tab, 3))
        assert "#3" in tab.inner_text("#details h2")


def test_what_lies_under_the_pointer_is_told(opened):
    """A wait tells its reason and for whom, the strip above what the slot was lost for."""
    with opened(SMALL) as tab:
        x, y = place(tab, 2)
        tab.mouse.move(x - 5 * seen(tab, "view.scale"), y)
        assert "short_scoreboard" in tab.inner_text("#tip")
        assert "for #0" in tab.inner_text("#tip")
        top = seen(tab, "view.panes[0].canvas.getBoundingClientRect().y + view.panes[0].heat + 5")
        tab.mouse.move(x - 5 * seen(tab, "view.scale"), top)
        assert "lost: short_scoreboard" in tab.inner_text("#tip")
        tab.mouse.move(x, top)
        assert "issue slot used" in tab.inner_text("#tip")


def test_the_table_of_instructions_sums_and_sorts(opened):
    """Warp-cycles waited by pc, sorted at a click on a head; a row selects the pc's next issue."""
    with opened(SMALL) as tab:
        tab.click("#tables th button:text-is('waited')")
        columns = [tab.locator(f"#tables td:nth-child({place})").all_inner_texts() for place in (1, 5, 6)]
        assert columns == [["1", "2", "0"], ["2", "2", "2"], ["55", "34", "5"]]
        tab.click("#tables tbody tr:nth-child(2)")
        assert seen(tab, "view.panes[0].run.pc[view.panes[0].selected]") == 2


WINDOW = replace(SMALL, start=10, end=40)  # in which two of the six issue


def test_sums_are_those_of_the_cycles_shown(opened):
    """What waits, issues and lost slots have outside of the cycles shown counts in no table."""
    with opened(WINDOW, replace(WINDOW, start=20, policy="gto")) as tab:
        rows = [row.inner_text().split("\t") for row in tab.query_selector_all("#tables table:first-child tbody tr")]
        assert {(kind, what): (a, b) for kind, what, a, b, *_ in rows if kind != "run" or what.startswith("warp")} == {
            ("run", "warp instructions issued"): ("2", "2"),
            ("lost slots", "short_scoreboard"): ("20", "10"),
            ("lost slots", "wait"): ("6", "6"),
            ("warp-cycles waited", "short_scoreboard"): ("42", "22"),
            ("warp-cycles waited", "wait"): ("16", "16"),
        }
        tab.click("#tab-Instructions")
        rows = [row.inner_text().split("\t") for row in tab.query_selector_all("#tables table:first-child tbody tr")]
        assert [(row[0], *row[4:6]) for row in rows] == [("0", "0", "0"), ("1", "2", "42"), ("2", "0", "16")]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    """A row for each region has the issues and warp-cycles of its instructions."""
    with opened(SMALL) as tab:
        tab.click("#tab-Regions")
        rows = [row.inner_text().split("\t")[:3] for row in tab.query_selector_all("#tables tbody tr")]
        assert sorted(rows) == [["end", "2", "34"], ["loop", "4", "60"]]


def test_the_open_tab_folds_what_is_below(opened):
    """A click on it leaves more room for the rows, another one gives the table back."""
    with opened(SMALL) as tab:
        heights = []
        for _ in range(2):
            tab.click("#tab-Instructions")
            heights.append((tab.locator("canvas").bounding_box()["height"], tab.is_visible("#tables")))
        assert heights[0][0] > heights[1][0]
        assert [visible for _, visible in heights] == [False, True]


def test_help_explains_letters_and_keys(opened):
    """The question mark opens a list of the letters with their meanings, and of the keys."""
    with opened(SMALL) as tab:
        tab.keyboard.press("?")
        told = " ".join(tab.inner_text("#help").split())
        assert "short_scoreboard waits for a load from shared memory" in told
        assert "b the blocker of the longest wait" in told


def test_keys_are_the_helps_while_it_is_open(opened):
    """Escape closes the help, and no key does anything to the page behind it."""
    with opened(SMALL) as tab:
        tab.keyboard.press("n")
        before = seen(tab, "[view.panes[0].selected, view.scale]")
        for key in ("?", "?", "n", "+", "Escape"):
            tab.keyboard.press(key)
        assert not tab.is_visible("#help")
        assert seen(tab, "[view.panes[0].selected, view.scale]") == before
        tab.keyboard.press("Escape")
        assert seen(tab, "view.panes[0].selected") == NONE


def test_the_legend_names_what_occurs(opened):
    """Every state and reason of the document is in the legend with its letter, and no other reason."""
    with opened(SMALL) as tab:
        named = {item.inner_text().split()[-1] for item in tab.query_selector_all("#legend li")}
        states = {"selected", "queued", "occupies", "under_way"}
        assert named == states | {"x_launch", "not_selected", "short_scoreboard", "wait"}


def test_pictures_say_what_the_document_says(opened):
    """Occupancy and roofline have their numbers in words; without a summary there is no roofline."""
    with opened(SMALL) as tab:
        tab.click("#tab-Occupancy")
        assert "Resident warps: 2.0 of 2 on average; a full SM holds 8 blocks, 16 warps" in tab.inner_text("figcaption")
        tab.click("#tab-Roofline")
        assert "100 GFLOP/s, 50.0 % of the peak; bound 150, set by issue slots" in tab.inner_text("figcaption")
    with opened(replace(SMALL, summary=None)) as tab:
        assert tab.query_selector("#tab-Roofline") is None


BOXES = """[...document.querySelectorAll("svg text")].map((text) => {
    const { x, y, width, height } = text.getBBox();
    return [text.textContent, { x, y, width, height }];
})"""


@pytest.mark.parametrize("speed", [150.0, 149.0, 100.0, 0.01, 160.0])
def test_no_text_of_the_roofline_lies_on_another(opened, speed):
    """However near the simulated speed is to the bound, names, ticks and axes can be read."""
    with opened(replace(SMALL, summary=replace(SMALL.summary, gflops=speed))) as tab:
        tab.click("#tab-Roofline")
        texts = seen(tab, BOXES)
    assert {"bound", "simulated"} <= {name for name, _ in texts}
    for (name, one), (other_name, other) in combinations(texts, 2):
        apart = [one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at] for at, size in SIDES]
        assert any(apart), (name, other_name)


LABELS = """(() => {
    const pane = view.panes[0], drawn = [];
    pane.context.fillText = (text, x) => drawn.push([text, x + pane.context.measureText(text).width, pane.left]);
    drawLabels(view, pane);
    delete pane.context.fillText;
    return drawn;
})()"""


@pytest.mark.parametrize("runs", [(SMALL,), (SMALL, OTHER)], ids=["one", "two"])
def test_labels_of_rows_have_room(opened, runs):
    """In a small window too each has warp, pc and what the instruction is, and the tip has all of its text."""
    with opened(*runs, size=(800, 600)) as tab:
        drawn = seen(tab, LABELS)
        assert len(drawn) == len(INSTRUCTIONS)
        for (text, end, left), instruction in zip(drawn, INSTRUCTIONS, strict=True):
            assert end <= left - 6
            whole = [f"w{instruction.warp}", str(instruction.pc), *PROGRAM[instruction.pc].text.split()]
            assert text.split()[:3] == whole[:3]
            assert text.endswith("\u2026") or text.split() == whole
        box = tab.locator("canvas").first.bounding_box()
        tab.mouse.move(box["x"] + 20, place(tab, 2)[1])
        assert "FFMA R4, R2, R3, R4" in tab.inner_text("#tip")


def test_two_runs_share_their_zoom_and_their_selection(opened):
    """Both panes zoom together, an instruction is selected in both, and the differences are told."""
    with opened(SMALL, OTHER) as tab:
        tab.mouse.click(*place(tab, 3, pane=1))
        assert seen(tab, "view.panes.map((pane) => pane.selected)") == [3, 3]
        before = place(tab, 3, pane=0)[0] - place(tab, 2, pane=0)[0]
        tab.mouse.wheel(0, -100)
        spans = [place(tab, 3, pane)[0] - place(tab, 2, pane)[0] for pane in (0, 1)]
        assert spans[0] == pytest.approx(spans[1])
        assert spans[0] > before
        rows = [row.inner_text().split("\t") for row in tab.query_selector_all("#tables table:first-child tbody tr")]
        assert ["run", "cycles of the run", "60", "75", "+15", "1.250"] in rows


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_fits_the_window(opened, size, scheme):
    """Neither page nor head nor legend is cut off, for one run and for two; dark is dark."""
    for runs in ((SMALL,), (SMALL, OTHER)):
        with opened(*runs, size=size, scheme=scheme) as tab:
            root = tab.locator("html")
            assert [root.evaluate(f"(root) => root.scroll{side}") for side in ("Width", "Height")] == [*size]
            for part in ("h1", "#legend li:last-child", "canvas", "#details", "#tables"):
                box = tab.locator(part).last.bounding_box()
                assert box["x"] + box["width"] <= size[0]
                assert box["y"] + box["height"] <= size[1]
            assert (seen(tab, "luminance(channels(view.ink.background))") < 0.1) == (scheme == "dark")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(timelines())
def test_any_document_opens(opened, document):
    """Whatever hangs together is shown without an error, in every grouping, and zoomed in and out."""
    with opened(document) as tab:
        for layout in ("grouped", "warps", "list"):
            tab.select_option("#layout", layout)
            tab.locator("canvas").focus()
            for key in ("f", "+", "n", "b", "-"):
                tab.keyboard.press(key)
        assert seen(tab, "view.panes[0].run.count") == len(document.instructions)
