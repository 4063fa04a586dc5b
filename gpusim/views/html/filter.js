// Which instructions rows and sums have: those of chosen warps and of a chosen unit class.

/** Numbers and ranges such as `0-3, 7` as a set; null if there are none, undefined if they can't be read. */
function numbersIn(text) {
  const parts = text.split(/[\s,]+/).filter(Boolean);
  if (!parts.length) return null;
  const found = new Set();
  for (const part of parts) {
    const [, low, high = low] = part.match(/^(\d{1,6})(?:[-:](\d{1,6}))?$/) ?? [];
    if (low === undefined) return undefined;
    for (let number = Number(low); number <= Number(high); number++) found.add(number);
  }
  return found;
}

/** Let a run have only the instructions of a set of warps (null: all) and of a unit class (empty: each). */
function keep(run, warps, unit) {
  const units = new Set(run.program.filter((line) => !unit || line.unit === unit).map((line) => line.pc));
  const wanted = (i) => (!warps || warps.has(run.warp[i])) && (!unit || units.has(run.pc[i]));
  const every = Int32Array.from(run.id.keys());
  const all = !warps && !unit;
  run.kept = all ? every : every.filter(wanted);
  run.keptByWarp = all
    ? run.byWarp
    : new Map(
        [...run.byWarp].filter(([warp]) => !warps || warps.has(warp)).map(([warp, own]) => [warp, own.filter(wanted)]),
      );
  run.levels = once(() => levelsOf(run, [...run.keptByWarp.values()]));
}

/** What is wrong with the numbers of warps, in words; empty if nothing is. */
function faultOf(warps, panes) {
  if (warps === undefined) return "give numbers, such as 0-3, 7";
  const known = panes.flatMap(({ run }) => [...run.byWarp.keys()]);
  if (!warps || known.some((warp) => warps.has(warp))) return "";
  return `none of these; there are ${Math.min(...known)} to ${Math.max(...known)}`;
}

/** Take over what the page's fields say. */
function applyFilter(view) {
  const field = document.getElementById("warps");
  const warps = numbersIn(field.value);
  const fault = faultOf(warps, view.panes);
  field.setAttribute("aria-invalid", Boolean(fault));
  document.getElementById("unread").textContent = fault;
  if (fault) return;
  const unit = document.getElementById("unit").value;
  for (const pane of view.panes) {
    keep(pane.run, warps, unit);
    if (pane.selected !== NONE && !isKept(pane.run, pane.selected)) pane.selected = NONE;
  }
  layOut(view);
  refresh(view);
}

/** Lay out the rows that are left, without leaving the cycles in sight. */
function layOut(view) {
  const [{ scale }, cycles] = [view, view.panes.map((pane) => pane.cycle)];
  setLayout(view, view.layout);
  view.scale = scale;
  view.panes.forEach((pane, k) => (pane.cycle = cycles[k]));
  keepInside(view);
}

const isKept = ({ kept }, i) => kept[lowerBound(kept, i)] === i;
const isFiltered = (run) => run.kept.length < run.count;

function fillUnits(runs) {
  const units = [...new Set(runs.flatMap((run) => run.program.map((line) => line.unit)))].filter(Boolean).sort();
  const options = [element("option", { value: "" }, "all units"), ...units.map((unit) => element("option", {}, unit))];
  document.getElementById("unit").replaceChildren(...options);
}
