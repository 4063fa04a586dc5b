// What part of the runs is seen: pixels per cycle and per row for all panes, the first cycle and row of each.

const GUTTER = { instruction: 232, warp: 96 }; // pixels for the labels of rows
const LABELS = 0.4; // of a pane at most
const BANDS = { overview: 22, axis: 18, scheduler: 12, gap: 4 }; // pixels
const MOST = { scale: 40, instruction: 20, warp: 40 }; // pixels of a cycle, and of a row
const READABLE = 14; // pixels of a row with text

function toPane(run, canvas, layout) {
  return {
    run,
    canvas,
    context: canvas.getContext("2d"),
    layout: LAYOUTS[layout](run),
    cycle: run.from,
    row: 0,
    selected: NONE,
  };
}

/** Take over the size that the page gives a pane's canvas, in device pixels, and lay out its bands. */
function measure(pane) {
  const { clientWidth: width, clientHeight: height } = pane.canvas;
  const density = window.devicePixelRatio || 1;
  const size = { width: Math.round(width * density), height: Math.round(height * density) };
  if (pane.canvas.width !== size.width || pane.canvas.height !== size.height) Object.assign(pane.canvas, size);
  const left = Math.round(Math.min(GUTTER[pane.layout.merged ? "warp" : "instruction"], width * LABELS));
  const axis = BANDS.overview + BANDS.gap;
  const heat = axis + BANDS.axis;
  const units = heat + pane.run.schedulers * BANDS.scheduler + BANDS.gap;
  const top = units + pane.run.units.length * BANDS.scheduler + (pane.run.units.length ? BANDS.gap : 0);
  Object.assign(pane, { width, height, density, left, axis, heat, units, top });
}

const plotWidth = (pane) => Math.max(1, pane.width - pane.left);
const plotHeight = (pane) => Math.max(1, pane.height - pane.top);
const xOf = (view, pane, cycle) => pane.left + (cycle - pane.cycle) * view.scale;
const yOf = (view, pane, row) => pane.top + (row - pane.row) * view.height;
const cycleAt = (view, pane, x) => pane.cycle + (x - pane.left) / view.scale;
const rowAt = (view, pane, y) => pane.row + (y - pane.top) / view.height;

/** The most pixels that a row may have. */
const highest = (view) => MOST[view.panes[0].layout.merged ? "warp" : "instruction"];

/** Pixels per cycle and per row at which the largest of the runs fits. */
function fitting(view) {
  const scales = view.panes.map((pane) => plotWidth(pane) / Math.max(1, pane.run.to - pane.run.from));
  const heights = view.panes.map((pane) => plotHeight(pane) / Math.max(1, pane.layout.count));
  return { scale: Math.min(...scales, MOST.scale), height: Math.min(...heights, highest(view)) };
}

function fit(view) {
  Object.assign(view, fitting(view));
  for (const pane of view.panes) Object.assign(pane, { cycle: pane.run.from, row: 0 });
}

/** The first rows, readable, with all that happens in them. */
function readable(view) {
  fit(view);
  if (view.panes[0].layout.merged) return;
  view.height = Math.max(view.height, READABLE + 2);
  const ends = view.panes.map((pane) => {
    const rows = Math.min(pane.layout.count, Math.floor(plotHeight(pane) / view.height));
    const shown = Array.from(
      { length: rows },
      (_, row) => endOf(pane.run, pane.layout.instruction(row)) - pane.run.from,
    );
    return plotWidth(pane) / (median(shown) * 1.5 + 1);
  });
  view.scale = Math.max(view.scale, Math.min(MOST.scale, ...ends));
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

/** Zoom all panes by factors about a point of a pane, given in its pixels. */
function zoom(view, x, y, byScale, byHeight) {
  const least = fitting(view);
  const points = view.panes.map((pane) => [cycleAt(view, pane, x), rowAt(view, pane, y)]);
  view.scale = clamp(view.scale * byScale, least.scale, MOST.scale);
  view.height = clamp(view.height * byHeight, least.height, highest(view));
  view.panes.forEach((pane, k) => {
    pane.cycle = points[k][0] - (x - pane.left) / view.scale;
    pane.row = points[k][1] - (y - pane.top) / view.height;
  });
  keepInside(view);
}

/** Move all panes by so many pixels. */
function pan(view, dx, dy) {
  for (const pane of view.panes) {
    pane.cycle += dx / view.scale;
    pane.row += dy / view.height;
  }
  keepInside(view);
}

/** Keep each pane within its run, and its rows near what is issued in the cycles that it shows. */
function keepInside(view) {
  for (const pane of view.panes) {
    const [cycles, rows] = [plotWidth(pane) / view.scale, plotHeight(pane) / view.height];
    pane.cycle = clamp(pane.cycle, pane.run.from, Math.max(pane.run.from, pane.run.to - cycles));
    if (pane.layout.near) {
      const [first, last] = [pane.layout.near(pane.cycle), pane.layout.near(pane.cycle + cycles)];
      pane.row = clamp(pane.row, first - rows * 0.7, Math.max(first - rows * 0.3, last - rows * 0.3));
    }
    pane.row = clamp(pane.row, 0, Math.max(0, pane.layout.count - rows));
  }
}

/** Bring a cycle, and a row if one is given, to the middle of a pane, a row only if it is out of sight. */
function center(view, pane, cycle, row) {
  const [cycles, rows] = [plotWidth(pane) / view.scale, plotHeight(pane) / view.height];
  if (cycle < pane.cycle || cycle >= pane.cycle + cycles) pane.cycle = cycle - cycles / 2;
  if (row < pane.row || row + 1 > pane.row + rows) pane.row = row - rows / 2;
  keepInside(view);
}

function clamp(number, least, most) {
  return Math.min(Math.max(number, least), Math.max(least, most));
}
