// Which instructions stand in which row.

const LAYOUTS = { list: inOrder, grouped: byWarp, warps: oneRowPerWarp };
const LONG = 3000; // instructions from which on a run opens with a row for each warp

/** The layout with which runs open. */
const firstLayout = (runs) => (Math.max(...runs.map((run) => run.count)) > LONG ? "warps" : "list");

/** Instructions of each warp slot, in order of issue. */
function groupByWarp(run) {
  const groups = new Map([...run.shown].sort((a, b) => a - b).map((warp) => [warp, []]));
  run.warp.forEach((warp, i) => groups.get(warp)?.push(i) ?? groups.set(warp, [i]));
  return new Map([...groups].map(([warp, indices]) => [warp, Int32Array.from(indices)]));
}

/** One row per instruction, in order of issue. */
function inOrder(run) {
  const { kept } = run;
  return {
    count: kept.length,
    instruction: (row) => kept[row],
    rowOf: (i) => lowerBound(kept, i),
    inRow: (row, start, end, tell) => tell(kept[row]),
    near: (cycle) => lowerBound(kept, lowerBound(run.issue, cycle)),
    groups: [],
  };
}

/** One row per instruction, warp after warp. */
function byWarp(run) {
  const own = [...run.keptByWarp.values()];
  const order = new Int32Array(run.kept.length);
  own.reduce((row, indices) => (order.set(indices, row), row + indices.length), 0);
  const rows = new Int32Array(run.count);
  order.forEach((i, row) => (rows[i] = row));
  const groups = accumulate(Int32Array.from(own, (indices) => indices.length));
  return {
    count: order.length,
    instruction: (row) => order[row],
    rowOf: (i) => rows[i],
    inRow: (row, start, end, tell) => tell(order[row]),
    groups,
  };
}

/** One row per warp, with all its instructions one after the other. */
function oneRowPerWarp(run) {
  const warps = [...run.keptByWarp.keys()];
  const own = [...run.keptByWarp.values()];
  const rows = new Map(warps.map((warp, row) => [warp, row]));
  const issues = own.map((indices) => indices.map((i) => run.issue[i]));
  const indices = (row, start, end) => {
    const first = lowerBound(issues[row], Math.floor(start) - run.interval + 1); // the one whose slot has begun before, too
    const last = lowerBound(issues[row], end) + 1; // and the one that waits at the end
    return own[row].subarray(first, last);
  };
  return {
    count: warps.length,
    merged: true,
    warp: (row) => warps[row],
    rowOf: (i) => rows.get(run.warp[i]),
    indices,
    inRow: (row, start, end, tell) => indices(row, start, end).forEach((i) => tell(i)),
    groups: [],
  };
}
