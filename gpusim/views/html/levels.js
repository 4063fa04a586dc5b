// Levels of detail: rows of warps whose pixels hold very many cycles are drawn from running sums of their states.

const BINS = 8192; // of the document's cycles, at most
const ROOM = 1 << 24; // numbers of all sums together, at most: 64 MB
const COARSE = 2; // bins of a pixel from which on sums stand for instructions
const LARGE = 30000; // instructions of a run from which on that is quicker

/** Running sums over bins of cycles, for each row of instructions: the bins that each state has filled so far. */
function levelsOf(run, rows) {
  const states = run.letters.length;
  const bins = binsOf(run, rows.length);
  const sums = rows.map((indices) => {
    const shares = noShares(run, run.from, run.to, bins);
    addWarp(shares, run, indices);
    const sum = new Float32Array((bins + 1) * states);
    for (let k = 0; k < shares.part.length; k++) sum[k + states] = sum[k] + shares.part[k];
    return sum;
  });
  return { states, from: run.from, perCycle: bins / Math.max(1, run.to - run.from), bins, sums };
}

function binsOf(run, rows) {
  const room = Math.floor(ROOM / (run.letters.length * Math.max(1, rows)));
  return Math.max(1, Math.min(BINS, run.to - run.from, room));
}

/** Whether rows whose pixels have so many cycles are drawn from the sums. */
function isCoarse(run, rows, cycles) {
  return run.kept.length > LARGE && (cycles * binsOf(run, rows)) / Math.max(1, run.to - run.from) >= COARSE;
}

/** The shares of a row's states by column of pixels, from its sums. */
function sharesOf({ states, from, perCycle, bins, sums }, row, start, end, columns) {
  const [sum, part] = [sums[row], new Float32Array(columns * states)];
  const width = ((end - start) / columns) * perCycle;
  const before = (at, state) => {
    const bin = Math.min(bins, Math.max(0, at));
    const [whole, rest] = [Math.min(bins - 1, bin | 0), bin - Math.min(bins - 1, bin | 0)];
    const low = sum[whole * states + state];
    return low + rest * (sum[(whole + 1) * states + state] - low);
  };
  for (let state = 0; state < states; state++) {
    if (!sum[bins * states + state]) continue;
    let low = before((start - from) * perCycle, state);
    for (let column = 0; column < columns; column++) {
      const high = before((start - from) * perCycle + (column + 1) * width, state);
      part[column * states + state] = (high - low) / width;
      low = high;
    }
  }
  return { states, columns, part };
}

/** A function that computes its result at its first call. */
function once(compute) {
  let result;
  return () => (result ??= compute());
}
