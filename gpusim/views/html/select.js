// Which instruction is selected; of two runs the other one's counterpart goes with it.

function select(view, pane, i) {
  const before = view.panes.find((each) => each === view.active && each.selected !== NONE);
  if (before && i !== NONE) view.history.push([before, before.selected]);
  choose(view, pane, i);
}

function choose(view, pane, i) {
  view.active = pane;
  hideTip();
  for (const each of view.panes) {
    each.selected = each === pane ? i : counterpart(pane, i, each);
    if (each.selected !== NONE) center(view, each, each.run.issue[each.selected], each.layout.rowOf(each.selected));
  }
  showDetails(view, document.getElementById("details"));
  redraw(view);
}

/** The instruction of another pane's run that its warp issues as the same one in a row, if at the same pc. */
function counterpart(pane, i, other) {
  if (i === NONE) return NONE;
  const place = lowerBound(pane.run.byWarp.get(pane.run.warp[i]), i);
  const index = other.run.byWarp.get(pane.run.warp[i])?.[place] ?? NONE;
  return index !== NONE && other.run.pc[index] === pane.run.pc[i] ? index : NONE;
}

/** The instruction that the same warp issues so many later; the first in sight if none is selected. */
function selectNext(view, by) {
  const pane = view.active;
  if (pane.selected === NONE)
    return select(view, pane, Math.min(lowerBound(pane.run.issue, pane.cycle), pane.run.count - 1));
  const own = pane.run.byWarp.get(pane.run.warp[pane.selected]);
  const next = own[lowerBound(own, pane.selected) + by];
  if (next !== undefined) select(view, pane, next);
}

function selectBlocker(view) {
  const pane = view.active;
  if (pane.selected === NONE) return;
  const { index } = longestWait(pane.run, pane.selected);
  if (index !== NONE) select(view, pane, index);
}

function selectBack(view) {
  const last = view.history.pop();
  if (last) choose(view, ...last);
}
