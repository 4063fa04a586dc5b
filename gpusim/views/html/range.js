// A range of cycles, dragged on the axis or on the strips: tables, sums and differences are those of its cycles.

/** Whether a point of a pane lies on the axis or on the strips of schedulers, where a drag selects cycles. */
const onRuler = (pane, x, y) => x >= pane.left && y >= pane.axis && y < pane.top;

/** Select cycles from one up to another, in either order, or all (null). */
function setRange(view, range) {
  const [from, to] = range ? [Math.min(...range), Math.max(...range)] : [0, 0];
  view.range = to > from ? whole(from, to) : null;
  for (const { run } of view.panes) run.span = view.range ? within(run, ...view.range) : [run.from, run.to];
  refresh(view);
}

/** The nearest whole cycles, one at least. */
function whole(from, to) {
  const start = Math.round(from);
  return [start, Math.max(start + 1, Math.round(to))];
}

/** Show a range while it is dragged; sums follow when the pointer is released. */
function dragRange(view, one, other) {
  view.range = whole(Math.min(one, other), Math.max(one, other));
  fillRange(view);
  redraw(view);
}

/** The part of a range that a run has; one cycle or none at its end if there is none. */
function within(run, from, to) {
  const start = clamp(from, run.from, run.to);
  return [start, clamp(to, start, run.to)];
}

/** Show nothing but the selected cycles. */
function zoomToRange(view) {
  if (!view.range) return;
  const [from, to] = view.range;
  const [pane] = view.panes;
  view.scale = clamp(plotWidth(pane) / (to - from), fitting(view).scale, MOST.scale);
  for (const each of view.panes) each.cycle = from;
  keepInside(view);
  redraw(view);
}

/** What the page says of the range, and its buttons; empty if there is none. */
function fillRange(view) {
  const bar = document.getElementById("range");
  if (!view.range) return bar.replaceChildren();
  const [from, to] = view.range;
  bar.replaceChildren(
    element("b", {}, `cycles ${counted(from)} to ${counted(to)}: ${counted(to - from)}`),
    element("button", { title: "key z", click: () => zoomToRange(view) }, "Zoom"),
    element("button", { title: "key x", click: () => setRange(view, null) }, "All cycles"),
  );
}

/** Fade what lies outside of the range, in the rows and strips and in the overview. */
function drawRange(view, pane) {
  if (!view.range) return;
  const { context, run } = pane;
  const scale = plotWidth(pane) / Math.max(1, run.to - run.from);
  const place = (cycle) => pane.left + (cycle - run.from) * scale;
  const bands = [
    [view.range.map((cycle) => xOf(view, pane, cycle)), pane.axis, pane.height - pane.axis],
    [view.range.map(place), 0, BANDS.overview],
  ];
  for (const [[left, right], y, height] of bands) fadeOutside(view, pane, left, right, y, height);
  context.globalAlpha = 1;
}

/** A line at the cycle that was gone to, in the rows and strips and in the overview. */
function drawMark(view, pane) {
  if (view.mark === null) return;
  const { context, run, left, axis, width, height } = pane;
  const placed = left + ((view.mark - run.from) * plotWidth(pane)) / Math.max(1, run.to - run.from);
  context.fillStyle = view.ink.accent;
  for (const [x, y, high] of [
    [xOf(view, pane, view.mark), axis, height - axis],
    [placed, 0, BANDS.overview],
  ])
    if (x >= left && x <= width) context.fillRect(Math.round(x) - 1, y, 2, high);
}

function fadeOutside(view, { context, left: edge, width }, left, right, y, height) {
  const [from, to] = [clamp(left, edge, width), clamp(right, edge, width)];
  context.fillStyle = view.ink.background;
  context.globalAlpha = 0.65;
  context.fillRect(edge, y, from - edge, height);
  context.fillRect(to, y, width - to, height);
  context.globalAlpha = 1;
  context.fillStyle = view.ink.accent;
  for (const x of [left, right]) if (x >= edge && x <= width) context.fillRect(Math.round(x) - 1, y, 2, height);
}
