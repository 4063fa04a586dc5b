// Mouse, wheel and keys.

const STEP = 1.25; // of a zoom by one notch or key

/** The instruction at a point of a pane, or NONE. */
function instructionAt(view, pane, x, y) {
  const row = Math.floor(rowAt(view, pane, y));
  if (y < pane.top || row < 0 || row >= pane.layout.count) return NONE;
  if (!pane.layout.merged) return pane.layout.instruction(row);
  let found = NONE;
  const cycle = Math.floor(cycleAt(view, pane, Math.max(x, pane.left)));
  pane.layout.inRow(row, cycle, cycle, (i) => (found = found === NONE ? i : found));
  return found;
}

function listen(view, pane) {
  const { canvas } = pane;
  let from = null;
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      wheel(view, pane, event);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = pressed(view, pane, event);
    if (from.overview) goTo(view, pane, event.offsetX);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return showTip(view, pane, event);
    drag(view, pane, from, event);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (from) released(view, pane, from, event);
    from = null;
  });
  canvas.addEventListener("pointercancel", () => {
    if (from?.ruler && from.moved) setRange(view, from.range); // the browser scrolls or zooms instead
    from = null;
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", (event) => zoomAt(view, event.offsetX, event.offsetY, 3, 3));
}

/** Where a pointer went down, and what a drag from there does. */
function pressed(view, pane, { offsetX: x, offsetY: y, shiftKey }) {
  const ruler = onRuler(pane, x, y) || (shiftKey && x >= pane.left && y >= pane.top);
  const { range } = view;
  return { x, y, moved: false, overview: y < BANDS.overview, ruler, range, cycle: cycleAt(view, pane, x) };
}

function released(view, pane, from, { offsetX: x, offsetY: y }) {
  if (from.ruler && from.moved) return setRange(view, [from.cycle, cycleAt(view, pane, Math.max(x, pane.left))]);
  if (from.ruler && y < pane.top && view.range) return setRange(view, null);
  if (!from.moved && !from.overview) select(view, pane, instructionAt(view, pane, x, y));
}

/** The wheel zooms, cycles alone with Shift and rows alone with Alt; sideways it moves. */
function wheel(view, pane, event) {
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) {
    pan(view, event.deltaX, 0);
    return redraw(view);
  }
  const factor =
    STEP ** (-Math.sign(event.deltaY || event.deltaX) * Math.min(3, Math.abs(event.deltaY || event.deltaX) / 100 || 1));
  zoomAt(
    view,
    Math.max(event.offsetX, pane.left),
    event.offsetY,
    event.altKey ? 1 : factor,
    event.shiftKey ? 1 : factor,
  );
}

function zoomAt(view, x, y, byScale, byHeight) {
  zoom(view, x, y, byScale, byHeight);
  redraw(view);
}

function drag(view, pane, from, event) {
  const [dx, dy] = [from.x - event.offsetX, from.y - event.offsetY];
  if (!from.moved && Math.hypot(dx, dy) < 4) return;
  from.moved = true;
  hideTip();
  if (from.overview) return goTo(view, pane, event.offsetX);
  if (from.ruler) return dragRange(view, from.cycle, cycleAt(view, pane, Math.max(event.offsetX, pane.left)));
  pan(view, dx, dy);
  Object.assign(from, { x: event.offsetX, y: event.offsetY });
  redraw(view);
}

/** Bring the cycle at a place of the overview to the middle, in every pane. */
function goTo(view, pane, x) {
  const { from: start, to: end } = pane.run;
  const cycle = start + ((x - pane.left) / plotWidth(pane)) * (end - start);
  for (const each of view.panes) each.cycle = cycle - plotWidth(each) / view.scale / 2;
  keepInside(view);
  redraw(view);
}

/** What the keys do; the page's help is written from it. */
const KEYS = [
  [["+", "="], "zoom in", (view) => zoomMiddle(view, STEP)],
  [["-"], "zoom out", (view) => zoomMiddle(view, 1 / STEP)],
  [["ArrowLeft"], "earlier", (view) => pan(view, -80, 0)],
  [["ArrowRight"], "later", (view) => pan(view, 80, 0)],
  [["ArrowUp"], "rows above", (view) => pan(view, 0, -80)],
  [["ArrowDown"], "rows below", (view) => pan(view, 0, 80)],
  [["f"], "everything", fit],
  [["r", "Home"], "the first rows, readable", readable],
  [["n"], "next instruction of the warp", (view) => selectNext(view, 1)],
  [["p"], "previous instruction of the warp", (view) => selectNext(view, -1)],
  [["b"], "the blocker of the longest wait", selectBlocker],
  [["Backspace"], "back to the instruction selected before", selectBack],
  [["Escape"], "select nothing", (view) => select(view, view.panes[0], NONE)],
  [["z"], "zoom to the selected cycles", zoomToRange],
  [["x"], "all cycles", (view) => setRange(view, null)],
  [["/"], "search", () => document.getElementById("search").select()],
  [["v"], "the source view", (view) => setPage(view, "source")],
];

function zoomMiddle(view, factor) {
  const pane = view.panes[0];
  zoom(view, pane.left + plotWidth(pane) / 2, pane.top + plotHeight(pane) / 2, factor, factor);
}

function onKey(view, event) {
  const help = document.getElementById("help");
  if (help.open) return; // the keys are the dialog's: Escape closes it
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  if (event.key === "?") return void help.showModal();
  if (event.key === "Enter" && event.target.tagName === "BUTTON") return; // the button's own
  if (event.target.role === "tab" && /^Arrow(Left|Right)$/.test(event.key)) return stepTab(view, event);
  const keys = view.page === "source" ? SOURCE_KEYS : KEYS;
  const found = keys.find(([names]) => names.includes(event.key));
  if (!found || (event.target.closest("#tables") && event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  found[2](view);
  redraw(view);
}
