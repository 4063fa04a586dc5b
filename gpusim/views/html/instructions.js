// Draws the rows of a pane: parts of instructions in the colours of their states, letters, labels.

const MANY = 2000; // rows or warps' instructions in sight from which on pixels are quicker than rectangles
const ENOUGH = 4; // rows drawn of those that share a pixel
const MONOSPACE = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

function drawRows(view, pane) {
  const { layout, context } = pane;
  const seen = inSight(view, pane);
  const plot = [pane.left, pane.top, plotWidth(pane), plotHeight(pane)];
  const many = (layout.merged ? pane.run.kept.length : seen.last - seen.first) > MANY;
  const pen = many ? pixelPen(pane, view.ink.background, ...plot) : rectanglePen(pane);
  const shares = layout.merged && view.scale * pane.density < 1;
  clipped(context, plot, () => {
    (shares ? fillWarps : fillInstructions)(view, pane, pen, seen);
    pen.finish();
    if (!shares && view.height >= READABLE - 2) drawLetters(view, pane, seen);
    drawGroups(view, pane);
  });
}

/** Height of what is drawn in a row: those that are high enough leave a line free. */
function barHeight(view) {
  return view.height > 4 ? view.height - 1 : view.height;
}

function fillInstructions(view, pane, pen, seen) {
  const step = Math.max(1, Math.floor(1 / (view.height * pane.density * ENOUGH)));
  const height = barHeight(view);
  eachPart(pane, seen, step, (row, state, start, end) => {
    const x = xOf(view, pane, start);
    pen.fill(x, yOf(view, pane, row), xOf(view, pane, end) - x, height, state);
  });
}

/** Rows of warps where a pixel is many cycles: the shares of its states. */
function fillWarps(view, pane, pen, { first, last }) {
  const [width, height] = [plotWidth(pane), barHeight(view)];
  const columns = Math.max(1, Math.round(width * pane.density));
  const end = cycleAt(view, pane, pane.width);
  const exact = (row) => {
    const shares = noShares(pane.run, pane.cycle, end, columns);
    addWarp(shares, pane.run, pane.layout.indices(row, pane.cycle, end));
    return shares;
  };
  const coarse = isCoarse(pane.run, pane.layout.count, (end - pane.cycle) / columns);
  for (let row = first; row < last; row++) {
    const shares = coarse ? sharesOf(pane.run.levels(), row, pane.cycle, end, columns) : exact(row);
    fillShares(pen, shares, { x: pane.left, y: yOf(view, pane, row), width, height });
  }
}

/** Add the waits and issues of instructions of a warp; written out, as there may be very many. */
function addWarp(shares, run, indices) {
  const { reason, start, end } = run.waits;
  for (const i of indices) {
    for (let k = run.first[i]; k < run.first[i + 1]; k++) addShare(shares, reason[k], start[k], end[k], 1);
    addShare(shares, run.state.selected, run.issue[i], run.issue[i] + run.interval, 1);
  }
}

/** Rows and cycles that a pane shows, the last ones not included. */
function inSight(view, pane) {
  return {
    first: Math.max(0, Math.floor(pane.row)),
    last: Math.min(pane.layout.count, Math.ceil(rowAt(view, pane, pane.height))),
    start: Math.floor(pane.cycle),
    end: Math.ceil(cycleAt(view, pane, pane.width)),
  };
}

/** Call with each part of the instructions in sight: row, state, first cycle in sight and the one after its last. */
function eachPart({ layout, run }, { first, last, start, end }, step, tell) {
  let row = Math.ceil(first / step) * step;
  const inside = (state, from, to) => {
    if (from < to && to > start && from < end) tell(row, state, Math.max(from, start), Math.min(to, end));
  };
  const draw = (i) => {
    if (!layout.merged) eachStage(run, i, inside);
    eachWait(run, i, inside);
    inside(run.state.selected, run.issue[i], run.issue[i] + (layout.merged ? run.interval : 1));
  };
  for (; row < last; row += step) layout.inRow(row, start, end, draw);
}

/** Call with what follows the first cycle of an instruction's issue slot, one after the other; some may be empty. */
function eachStage(run, i, tell) {
  const next = run.issue[i] + 1;
  if (run.begin[i] !== NONE) {
    tell(run.state.queued, next, run.begin[i]);
    tell(run.state.occupies, Math.max(next, run.begin[i]), run.end[i]);
  }
  if (run.done[i] !== NONE) tell(run.state.under_way, Math.max(next, run.end[i]), run.done[i]);
}

/** The name of each state, or its letter, where it fits. */
function drawLetters(view, pane, seen) {
  const { context, run, palette } = pane;
  context.font = `${Math.min(11, view.height - 4)}px ${MONOSPACE}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  const wide = context.measureText("M").width;
  eachPart(pane, seen, 1, (row, state, start, end) => {
    const { name, letter } = run.letters[state];
    const width = (end - start) * view.scale;
    if (width < wide + 1) return;
    context.fillStyle = palette.text[state];
    const text = width > wide * (name.length + 1) && end - start > 1 ? name : letter;
    context.fillText(text, xOf(view, pane, (start + end) / 2), yOf(view, pane, row) + view.height / 2);
  });
}

/** Lines between the warps of rows that are grouped by them. */
function drawGroups(view, pane) {
  pane.context.fillStyle = view.ink.line;
  for (const row of pane.layout.groups) pane.context.fillRect(pane.left, yOf(view, pane, row) - 1, plotWidth(pane), 1);
}
