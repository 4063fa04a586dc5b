"""The HTML view in a real browser: Debian's Chromium, driven by Playwright (CONTRIBUTING says how to install both)."""

import pytest
from draws import draws
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from read.page import INSTRUCTIONS, OTHER, PROGRAM, SMALL, contrasts, place, seen
from strategies.launches import timelines

from gpusim.views.palette import luminance
from gpusim.views.timeline.document import NONE, Wait
from isa.dataflow.waits.shared_barriers import SharedBarrier

pytestmark = pytest.mark.slow
SIZES = (1280, 720), (1920, 1080)


def accents(tab):
    """Return how many of the canvas's pixels have the colour of frames and arrows."""
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
    """A click shows an instruction's text and waits and draws an arrow; the blocker's link selects the blocker."""
    with opened(SMALL) as tab:
        before = accents(tab)
        tab.mouse.click(*place(tab, 2))
        reported = tab.inner_text("#details")
        assert "FFMA R4, R2, R3, R4" in reported
        assert "short_scoreboard 3 to 30, 27: waits for a load" in " ".join(reported.split())
        assert accents(tab) > before
        tab.click("#details .link[data-id='0']")
        assert "#0 LDS.64 R2, [R1]" in tab.inner_text("#details h2")
        assert "launch_delay" in tab.inner_text("#details")


def test_arrows_are_drawn_to_known_blockers_only(opened):
    """An instruction whose blocker the document lacks has a frame and no arrow, and the details say so."""
    single = replace(INSTRUCTIONS[2], waits=(Wait("short_scoreboard", 3, 30, 77),))
    counts = []
    for third in (INSTRUCTIONS[2], single):
        with opened(replace(SMALL, instructions=(*INSTRUCTIONS[:2], third, *INSTRUCTIONS[3:]))) as tab:
            tab.mouse.click(*place(tab, 2))
            counts.append(accents(tab))
            reported = tab.inner_text("#details")
    assert counts[0] > counts[1]
    assert "#77, which is not shown" in reported


def test_a_shared_barrier_is_reported(opened):
    """An instruction that waits only because of a shared barrier has a note; without that barrier it has none."""
    sharing = replace(SMALL.program[1], shared_barriers=(SharedBarrier(3, 0, "result", (2,)),))
    for line, reported in ((sharing, True), (SMALL.program[1], False)):
        with opened(replace(SMALL, program=(SMALL.program[0], line, SMALL.program[2]))) as tab:
            tab.mouse.click(*place(tab, 2))
            words = " ".join(tab.inner_text("#details").split())
            assert ("not needed: it holds barrier 3 beside pc 2 EXIT, which is" in words) == reported


def test_conflicts_are_reported_where_there_are_some(opened):
    """Extra passes and cycles beyond the latency are shown only for an access that has them."""
    conflicting = replace(INSTRUCTIONS[0], conflicts=3, late=40)
    with opened(replace(SMALL, instructions=(conflicting, *INSTRUCTIONS[1:]))) as tab:
        for ident, reported in ((0, True), (1, False)):
            tab.mouse.click(*place(tab, ident))
            text = " ".join(tab.inner_text("#details").split())
            assert ("conflicts add 3 passes or requests" in text) == reported
            assert ("memory is late 40 cycles beyond its latency" in text) == reported


def test_the_chain_of_blockers_leads_back_to_the_cause(opened):
    """An exit's chain lists the sum and the load, in this order; the load itself has no chain."""
    with opened(SMALL) as tab:
        tab.mouse.click(*place(tab, 4))
        links = tab.locator("#details ol .link")
        assert [link.split()[0] for link in links.all_inner_texts()] == ["#2", "#0"]
        links.last.click()
        assert "#0" in tab.inner_text("#details h2")
        assert tab.locator("#details ol").count() == 0


def test_keys_walk_along_a_warp_and_back(opened):
    """N and P select the warp's next and previous instruction, B the blocker; Backspace goes back, Escape deselects."""
    with opened(SMALL) as tab:
        tab.mouse.click(*place(tab, 1))
        ids = []
        for key in ("n", "n", "p", "b", "Backspace", "Escape"):
            tab.keyboard.press(key)
            ids.append(seen(tab, "view.panes[0].selected"))
        assert ids == [3, 5, 3, 1, 3, NONE]


def test_the_wheel_zooms_at_the_pointer(opened):
    """The wheel enlarges cycles around the pointer; with Shift the rows keep their height."""
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
    """After zooming in, a drag of 60 pixels moves the view by 60 pixels."""
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
    """After zooming into a corner without instructions, part of an instruction is in sight."""
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
    """The layouts list, grouped and warps have 6, 6 and 2 rows; a click selects the instruction in each."""
    with opened(SMALL) as tab:
        tab.select_option("#layout", layout)
        assert seen(tab, "view.panes[0].layout.count") == rows
        tab.mouse.click(*place(tab, 3))
        assert "#3" in tab.inner_text("#details h2")


def test_the_tip_explains_the_place_under_the_pointer(opened):
    """Over a wait the tip shows its reason and blocker; over the strip, whether the slot is used or why it is lost."""
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


def test_a_click_on_the_open_tab_folds_its_table(opened):
    """A click on the open tab hides its table and enlarges the canvas; another click undoes both."""
    with opened(SMALL) as tab:
        heights = []
        for _ in range(2):
            tab.click("#tab-Instructions")
            heights.append((tab.locator("canvas").bounding_box()["height"], tab.is_visible("#tables")))
        assert heights[0][0] > heights[1][0]
        assert [visible for _, visible in heights] == [False, True]


def test_help_explains_letters_and_keys(opened):
    """The key ? opens a help with the letters' meanings and the keys."""
    with opened(SMALL) as tab:
        tab.keyboard.press("?")
        reported = " ".join(tab.inner_text("#help").split())
        assert "short_scoreboard waits for a load from shared memory" in reported
        assert "b the blocker of the longest wait" in reported


def test_keys_do_nothing_to_the_page_while_the_help_is_open(opened):
    """While the help is open no key changes the page; Escape closes the help."""
    with opened(SMALL) as tab:
        tab.keyboard.press("n")
        before = seen(tab, "[view.panes[0].selected, view.scale]")
        for key in ("?", "?", "n", "+", "Escape"):
            tab.keyboard.press(key)
        assert not tab.is_visible("#help")
        assert seen(tab, "[view.panes[0].selected, view.scale]") == before
        tab.keyboard.press("Escape")
        assert seen(tab, "view.panes[0].selected") == NONE


def test_the_legend_has_the_reasons_that_occur(opened):
    """The legend has every state and every reason of the document, and no other reason."""
    with opened(SMALL) as tab:
        named = {item.inner_text().split()[-1] for item in tab.query_selector_all("#legend li")}
        states = {"selected", "queued", "occupies", "under_way"}
        assert named == states | {"launch_delay", "not_selected", "short_scoreboard", "wait"}


LABELS = """(() => {
    const pane = view.panes[0], drawn = [];
    pane.context.fillText = (text, x) => drawn.push([text, x + pane.context.measureText(text).width, pane.left]);
    drawLabels(view, pane);
    delete pane.context.fillText;
    return drawn;
})()"""


@pytest.mark.parametrize("runs", [(SMALL,), (SMALL, OTHER)], ids=["one", "two"])
def test_labels_of_rows_have_room(opened, runs):
    """In a window of 800 x 600 each label fits with warp, pc and mnemonic, and the tip has the whole text."""
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
    """Both panes zoom together, a click selects the instruction in both, and the table has their differences."""
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
    """For one run and for two every part fits the window, and the dark scheme has a dark background."""
    for runs in ((SMALL,), (SMALL, OTHER)):
        with opened(*runs, size=size, scheme=scheme) as tab:
            root = tab.locator("html")
            assert [root.evaluate(f"(root) => root.scroll{side}") for side in ("Width", "Height")] == [*size]
            for part in ("h1", "#legend li:last-child", "canvas", "#details", "#tables"):
                box = tab.locator(part).last.bounding_box()
                assert box["x"] + box["width"] <= size[0]
                assert box["y"] + box["height"] <= size[1]
            assert (luminance(seen(tab, "view.ink.background")) < 0.1) == (scheme == "dark")


@settings(max_examples=draws(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(timelines())
def test_any_document_opens(opened, document):
    """Any consistent document is shown without an error, in every grouping, and zoomed in and out."""
    with opened(document) as tab:
        for layout in ("grouped", "warps", "list"):
            tab.select_option("#layout", layout)
            tab.locator("canvas").focus()
            for key in ("f", "+", "n", "b", "-"):
                tab.keyboard.press(key)
        assert seen(tab, "view.panes[0].run.count") == len(document.instructions)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_readable(opened, scheme):
    """Every text of the page, its letters on colours among them, has a contrast of 4.5 to 1, as WCAG 2.1 asks.

    The letters follow when the reader changes from one scheme to the other.
    """
    with opened(SMALL, scheme={"light": "dark", "dark": "light"}[scheme]) as tab:
        tab.mouse.click(*place(tab, 2))
        tab.emulate_media(color_scheme=scheme)
        found = contrasts(tab, "body *:not(option, noscript, script)")
        assert {"S", "pc", "FFMA R4, R2, R3, R4"} <= set(found)
        assert {text: ratio for text, ratio in found.items() if ratio < 4.5} == {}
