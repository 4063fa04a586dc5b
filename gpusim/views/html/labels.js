// Labels of rows, and drawing within a rectangle.

const ALIGNED = 30; // characters of a label from which on its parts stand below each other
/** Labels of rows, or of some of them where they are too low. */
function drawLabels(view, pane) {
  const { context, layout, run } = pane;
  const { first, last } = inSight(view, pane);
  const step = Math.max(1, Math.ceil(READABLE / view.height));
  context.font = `11px ${MONOSPACE}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const most = Math.floor((pane.left - 12) / context.measureText("M").width);
  clipped(context, [0, pane.top, pane.left - 6, plotHeight(pane)], () => {
    for (let row = Math.ceil(first / step) * step; row < last; row += step) {
      context.fillStyle = view.ink[step === 1 ? "text" : "faint"];
      context.fillText(labelOf(run, layout, row, most), 6, yOf(view, pane, row) + view.height / 2);
    }
  });
}

/** The label of a row in so many characters at most; the tip has all of it. */
function labelOf(run, layout, row, most) {
  if (layout.merged) return `warp ${layout.warp(row)}`;
  const i = layout.instruction(row);
  const [warp, number] = most < ALIGNED ? [0, 0] : [2, 4];
  const label = `w${String(run.warp[i]).padEnd(warp)} ${numberOf(run, run.pc[i]).padStart(number)} ${textOf(run, i)}`;
  return label.length > most ? `${label.slice(0, Math.max(0, most - 1))}\u2026` : label;
}

/** Draw within a rectangle only. */
function clipped(context, [x, y, width, height], draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  draw();
  context.restore();
}
