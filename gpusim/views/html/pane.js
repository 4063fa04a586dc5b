// Draws a pane: rows, heat strip, axis of cycles, overview, selection.

function drawPane(view, pane) {
  const { context, density } = pane;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.fillStyle = view.ink.background;
  context.fillRect(0, 0, pane.width, pane.height);
  drawRows(view, pane);
  drawLabels(view, pane);
  drawStrips(view, pane);
  drawUnits(view, pane);
  drawAxis(view, pane);
  drawOverview(view, pane);
  drawRange(view, pane);
  drawMark(view, pane);
  drawSelection(view, pane);
}

function drawAxis(view, pane) {
  const { context } = pane;
  const [y, step] = [pane.axis, roundStep(70 / view.scale)];
  context.font = `11px ${MONOSPACE}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = view.ink.faint;
  context.fillText("cycle", 6, y + BANDS.axis / 2);
  clipped(context, [pane.left, y, plotWidth(pane), pane.height - y], () => {
    for (let cycle = Math.ceil(pane.cycle / step) * step; cycle < cycleAt(view, pane, pane.width); cycle += step) {
      const x = Math.round(xOf(view, pane, cycle));
      context.fillStyle = view.ink.faint;
      context.fillText(cycle.toLocaleString("en"), x + 3, y + BANDS.axis / 2);
      context.fillStyle = view.ink.grid;
      context.fillRect(x, y, 1, pane.height - y);
    }
  });
}

/** The least of 1, 2, 5, 10, 20, 50 and so on that is not below a number. */
function roundStep(least) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].find((factor) => factor * power >= least) * power;
}

/** The run as a whole: all schedulers in one strip, and a frame around what the pane shows. */
function drawOverview(view, pane) {
  const { run, context } = pane;
  const strip = { x: pane.left, y: 0, width: plotWidth(pane), height: BANDS.overview };
  const all = Array.from({ length: run.schedulers }, (_, k) => k);
  drawHeat(view, pane, all, strip, run.from, run.to);
  context.fillStyle = view.ink.faint;
  context.font = `11px ${MONOSPACE}`;
  context.fillText("overview", 6, strip.height / 2);
  const scale = strip.width / Math.max(1, run.to - run.from);
  const [from, to] = [pane.cycle, cycleAt(view, pane, pane.width)].map((cycle) => (cycle - run.from) * scale);
  context.strokeStyle = view.ink.accent;
  context.lineWidth = 2;
  context.strokeRect(strip.x + from + 1, 1, Math.max(2, Math.min(to, strip.width) - from - 2), strip.height - 2);
}

/** A frame around the selected row, and an arrow from each instruction that it waited for. */
function drawSelection(view, pane) {
  const { context, run, layout } = pane;
  if (pane.selected === NONE) return;
  const row = layout.rowOf(pane.selected);
  clipped(context, [0, pane.top, pane.width, plotHeight(pane)], () => {
    context.strokeStyle = view.ink.accent;
    context.lineWidth = 2;
    context.strokeRect(1, yOf(view, pane, row) - 1, pane.width - 2, Math.max(3, view.height + 1));
  });
  clipped(context, [pane.left, pane.top, plotWidth(pane), plotHeight(pane)], () => {
    eachWait(run, pane.selected, (state, start, end, blocker) => {
      const index = indexOf(run, blocker);
      if (index !== NONE) drawArrow(view, pane, index, pane.selected, start, end);
    });
  });
}

/** An arrow from where a blocker lets go, or is issued, to the end of the wait for it. */
function drawArrow(view, pane, from, to, start, end) {
  const { context, run, layout } = pane;
  const middle = (i) => yOf(view, pane, layout.rowOf(i)) + view.height / 2;
  const leaves = clamp(end, run.issue[from] + 0.5, Math.max(run.issue[from] + 0.5, endOf(run, from)));
  const [x0, y0, x1, y1] = [xOf(view, pane, leaves), middle(from), xOf(view, pane, end), middle(to)];
  const size = 5;
  for (const [colour, width] of [
    [view.ink.background, 4],
    [view.ink.accent, 1.75],
  ]) {
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x0, y0, 2, 0, 2 * Math.PI);
    context.moveTo(x0, y0);
    context.lineTo(x0, y1 - (Math.sign(y1 - y0) * view.height) / 2 - Math.sign(y1 - y0) * size);
    context.lineTo(x1, y1 - (Math.sign(y1 - y0) * view.height) / 2);
    context.stroke();
  }
  drawHead(context, x1, y1 - (Math.sign(y1 - y0) * view.height) / 2, Math.sign(y1 - y0) * size);
}

function drawHead(context, x, y, size) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - size, y - size);
  context.lineTo(x + size, y - size);
  context.fill();
}
