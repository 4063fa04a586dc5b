"""Two small runs as a page in a browser, and the questions that tests ask of that page."""

from msgspec.structs import replace
from strategies.timeline_documents import by_hand

from gpusim.views.palette import contrast
from gpusim.views.timeline.document import NONE, Issued, Line, Lost, Resident, Summary, Wait

PROGRAM = (
    Line(0, "LDS.64 R2, [R1]", "shared", "loop"),
    Line(1, "FFMA R4, R2, R3, R4", "fp32", "loop"),
    Line(2, "EXIT", "control", "end"),
)
# Two warps: each has a load, an FFMA that waits for it, and an exit; the load of warp 1 also waits for a turn.
INSTRUCTIONS = (
    Issued(0, 0, 0, 0, 0, issue=2, begin=3, end=5, done=30, lanes=32, waits=(Wait("launch_delay", 0, 2),)),
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
    lost=(Lost(0, "launch_delay", 0, 2, 0), Lost(0, "short_scoreboard", 4, 30, 2), Lost(0, "wait", 34, 48, 4)),
    summary=Summary(100.0, 150.0, "issue slots", 200.0, 20.0, 30.0, 8, 16, "blocks"),
)
OTHER = replace(SMALL, machine="other", policy="gto", cycles=75, end=75)


def seen(tab, expression):
    """Return the value of an expression of the page's `view`, after the next frame."""
    return tab.evaluate(
        f"""async () => {{
            const view = await opened;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return {expression};
        }}"""
    )


def place(tab, ident, pane=0):
    """Return the middle of the cell in which an instruction issues, in pixels of the window."""
    x, y = seen(
        tab,
        f"""(() => {{
            const pane = view.panes[{pane}], i = indexOf(pane.run, {ident}), box = pane.canvas.getBoundingClientRect();
            const row = pane.layout.rowOf(i);
            return [box.x + xOf(view, pane, pane.run.issue[i] + 0.5), box.y + yOf(view, pane, row + 0.5)];
        }})()""",
    )
    return x, y


TEXTS = """(() => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const layers = (node) => {  // of the backgrounds behind a node, the hindmost first
        const style = getComputedStyle(node);
        const warm = style.backgroundImage.match(/gradient\\((\\w+\\([^)]*\\))/)?.[1] ?? "transparent";
        return [...(node.parentElement ? layers(node.parentElement) : []), style.backgroundColor, warm];
    };
    const painted = (colours) => {
        pen.clearRect(0, 0, 1, 1);
        for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
        const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
        return "#" + [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
    };
    const own = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    return [...document.querySelectorAll(SELECTOR)].filter((node) => own(node) && node.checkVisibility())
        .map((node) => [node.textContent.trim(), painted(layers(node)), painted([getComputedStyle(node).color])]);
})()"""


def contrasts(tab, selector):
    """Return by text the contrast of each visible text of what a selector finds; of equal texts the least."""
    found = {}
    for text, ground, ink in seen(tab, TEXTS.replace("SELECTOR", repr(selector))):
        found[text] = min(contrast(ink, ground), found.get(text, 21.0))
    return found
