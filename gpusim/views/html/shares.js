// Shares of states by column of pixels, for strips whose columns hold many cycles each.

/** Room for the shares of so many columns of the cycles from `start` up to `end`, by number of the state. */
function noShares(run, start, end, columns) {
  const states = run.letters.length;
  const perCycle = columns / Math.max(1, end - start);
  return { states, start, perCycle, columns, part: new Float32Array(columns * states) };
}

/** Add the cycles of a state, each by its weight. */
function addShare({ states, start, perCycle, columns, part }, state, from, to, weight) {
  const [left, right] = [Math.max(0, (from - start) * perCycle), Math.min(columns, (to - start) * perCycle)];
  for (let column = left | 0; column < right; column++) {
    part[column * states + state] += weight * (Math.min(right, column + 1) - Math.max(left, column));
  }
}

/** Fill a strip's columns with the shares, from the bottom up in order of the states. */
function fillShares(pen, { states, columns, part }, strip) {
  const width = strip.width / columns;
  for (let column = 0; column < columns; column++) {
    let y = strip.y + strip.height;
    for (let state = 0; state < states; state++) {
      const height = part[column * states + state] * strip.height;
      if (height > 0.02) pen.fill(strip.x + column * width, (y -= height), width, height, state);
    }
  }
}
