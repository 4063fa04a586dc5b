// Which instructions stand in which row.

const LAYOUTS = { list: inOrder, grouped: byWarp, warps: oneRowPerWarp };

/** Instructions of each warp slot, in order of issue. */
function groupByWarp(run) {
  const groups = new Map([...run.shown].sort((a, b) => a - b).map((warp) => [warp, []]));
  run.warp.forEach((warp, i) => groups.get(warp)?.push(i) ?? groups.set(warp, [i]));
  return new Map([...groups].map(([warp, indices]) => [warp, Int32Array.from(indices)]));
}

/** One row per instruction, in order of issue. */
function inOrder(run) {
  return {
    count: run.count,
    instruction: (row) => row,
    rowOf: (i) => i,
    inRow: (row, start, end, tell) => tell(row),
    near: (cycle) => lowerBound(run.issue, cycle),
    groups: [],
  };
}

/** One row per instruction, warp after warp. */
function byWarp(run) {
  const order = Int32Array.from([...run.byWarp.values()].flatMap((indices) => [...indices]));
  const rows = new Int32Array(run.count);
  order.forEach((i, row) => (rows[i] = row));
  const groups = accumulate(Int32Array.from([...run.byWarp.values()], (indices) => indices.length));
  return {
    count: run.count,
    instruction: (row) => order[row],
    rowOf: (i) => rows[i],
    inRow: (row, start, end, tell) => tell(order[row]),
    groups,
  };
}

/** One row per warp, with all its instructions one after the other. */
function oneRowPerWarp(run) {
  const warps = [...run.byWarp.keys()];
  const rows = new Map(warps.map((warp, row) => [warp, row]));
  const issues = warps.map((warp) => run.byWarp.get(warp).map((i) => run.issue[i]));
  const indices = (row, start, end) => {
    const first = lowerBound(issues[row], start - run.interval + 1); // the one whose slot has begun before, too
    const last = lowerBound(issues[row], end) + 1; // and the one that waits at the end
    return run.byWarp.get(warps[row]).subarray(first, last);
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
