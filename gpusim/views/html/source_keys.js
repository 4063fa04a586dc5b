// What the keys do in the source view.

const SOURCE_KEYS = [
  [["ArrowDown"], "next line or instruction", (view) => stepRow(view, 1)],
  [["ArrowUp"], "previous line or instruction", (view) => stepRow(view, -1)],
  [["ArrowRight"], "to the line's instructions", (view) => crossOver(view, "code")],
  [["ArrowLeft"], "to the instruction's line", (view) => crossOver(view, "lines")],
  [["Enter"], "to the next of the line's instructions that lie apart", (view) => chooseRow(view, view.source.chosen)],
  [["n"], "the next longest waits", (view) => stepHot(view, 1)],
  [["p"], "the next longer waits", (view) => stepHot(view, -1)],
  [["s"], "sort by waits, or as written", sortByWaits],
  [["/"], "search", () => document.getElementById("search").select()],
  [["v"], "the pipeline view", (view) => setPage(view, "pipeline")],
];

const halfOf = ({ source }) => source[source.chosen?.half ?? "code"];

/** Choose a row and give it the keyboard. */
function goToRow(view, row) {
  if (!row || row === view.source.chosen) return;
  chooseRow(view, row);
  row.element.focus({ preventScroll: true });
}

function stepRow(view, by) {
  goToRow(view, rowFrom(halfOf(view), view.source.chosen, by));
}

function stepHot(view, by) {
  const rows = byWaits(halfOf(view));
  goToRow(view, rows[clamp(rows.indexOf(view.source.chosen) + by, 0, rows.length - 1)]);
}

function crossOver(view, half) {
  const { chosen, code } = view.source;
  if (!chosen || chosen.half === half) return;
  goToRow(view, half === "lines" ? linesOf(view, chosen)[0] : stretches(code, chosen)[0]);
}

/** Sort both halves by waits, the most first; or, if they are, in their own order. */
function sortByWaits(view) {
  const { lines, code, chosen } = view.source;
  const [sorted, focused] = [halfOf(view).by > 0, document.activeElement === chosen?.element];
  for (const half of [lines, code]) half.sort(sorted ? 0 : half.waits, !sorted);
  if (chosen) reveal(chosen);
  if (focused) chosen.element.focus({ preventScroll: true });
}
