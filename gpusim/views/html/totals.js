// Sums of issues and waits, by reason, in the cycles and of the instructions shown.

const NO_FIGURES = { issues: 0, threads: 0, conflicts: 0, waited: 0 };

/** Issues and warp-cycles waited, by reason, in the cycles shown: of each pc that occurs, or of what has a key. */
function totals(run, keyOf) {
  const found = new Map();
  const entries = new Map(); // by pc
  const entry = (pc) => {
    const key = keyOf(pc);
    const sum = found.get(key) ?? { ...NO_FIGURES, states: new Float64Array(run.letters.length) };
    found.set(key, sum);
    entries.set(pc, sum);
    return sum;
  };
  for (const i of run.kept) addInstruction(entries.get(run.pc[i]) ?? entry(run.pc[i]), run, i);
  for (const sum of found.values()) sum.by = byReason(run, sum);
  return found;
}

/** Add an instruction's issue and waits; written out, as there may be very many. */
function addInstruction(sum, run, i) {
  const { reason, start, end } = run.waits;
  const [from, to] = run.span;
  if (run.issue[i] >= from && run.issue[i] < to) {
    sum.issues++;
    sum.threads += run.lanes[i];
    sum.conflicts += run.conflicts[i];
  }
  for (let k = run.first[i]; k < run.first[i + 1]; k++) {
    const cycles = Math.min(end[k], to) - Math.max(start[k], from);
    if (cycles <= 0) continue;
    sum.waited += cycles;
    sum.states[reason[k]] += cycles;
  }
}

/** Warp-cycles by the names of the reasons that have some. */
function byReason(run, { states }) {
  return new Map(run.letters.map(({ name }, number) => [name, states[number]]).filter(([, cycles]) => cycles));
}

/** Names of stall reasons in the totals, most warp-cycles first. */
function reasonsOf(found) {
  const sums = new Map();
  for (const { by } of found.values()) for (const [name, cycles] of by) sums.set(name, (sums.get(name) ?? 0) + cycles);
  return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
}
