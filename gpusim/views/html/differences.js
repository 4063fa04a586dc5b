// The differences of two runs in the cycles shown: issues, lost slots and warp-cycles by reason, instructions by pc.

/** Everything of a run that is compared: [what, of which kind, number]. */
function figures(run) {
  const issued = issuesOf(run);
  const rows = [
    ["cycles of the run", "run", run.cycles],
    ["cycles shown", "run", run.span[1] - run.span[0]],
    ["warp instructions issued", "run", issued],
    ["issued per 1,000 cycles", "run", (1000 * issued) / Math.max(1, run.span[1] - run.span[0])],
    ...rateFigures(run),
  ];
  for (const [name, cycles] of sumByReason(run, run.lost)) rows.push([name, "lost by all schedulers", cycles]);
  for (const [name, cycles] of sumByReason(run, run.waits)) rows.push([name, "warp-cycles waited", cycles]);
  return rows;
}

function rateFigures({ summary }) {
  if (!summary?.gflops) return [];
  const { gflops, bound_gflops: bound } = summary;
  return [
    ["GFLOP/s", "run", gflops],
    ["GFLOP/s of the bound", "run", bound],
  ];
}

function sumByReason(run, { reason, start, end }) {
  const sums = new Map();
  reason.forEach((number, k) => {
    const [{ name }, cycles] = [run.letters[number], cyclesShown(run, start[k], end[k])];
    if (cycles) sums.set(name, (sums.get(name) ?? 0) + cycles);
  });
  return sums;
}

/** Rows of two lists of [what, kind, number], paired by their first two. */
function paired(one, other) {
  const rows = new Map();
  [one, other].forEach((list, side) => {
    for (const [what, kind, number] of list) {
      const key = `${kind} ${what}`;
      if (!rows.has(key)) rows.set(key, { what, kind, numbers: [0, 0] });
      rows.get(key).numbers[side] = number;
    }
  });
  return [...rows.values()];
}

function differenceColumns(names) {
  const change = ({ numbers: [a, b] }) => b - a;
  return [
    { name: "A", head: `A: ${names[0]}`, of: (row) => row.numbers[0], show: (row) => rounded(row.numbers[0]) },
    { name: "B", head: `B: ${names[1]}`, of: (row) => row.numbers[1], show: (row) => rounded(row.numbers[1]) },
    { name: "B - A", of: (row) => Math.abs(change(row)), show: (row) => signed(change(row)) },
    {
      name: "B / A",
      of: (row) => row.numbers[1] / row.numbers[0] || 0,
      show: ({ numbers: [a, b] }) => (a ? (b / a).toFixed(3) : ""),
    },
  ];
}

function signed(number) {
  return number > 0 ? `+${rounded(number)}` : rounded(number).replace("-", "\u2212");
}

function differenceTable(runs, names) {
  const columns = [
    { name: "of", of: (row) => row.kind, text: "name" },
    { name: "what", of: (row) => row.what, text: "name" },
    ...differenceColumns(names),
  ];
  return sortable(columns, paired(...runs.map(figures)), {
    caption: "Cycles of the two runs; issues, lost slots and warp-cycles in the cycles shown.",
  });
}

/** Warp-cycles waited before each instruction, of two runs of programs with the same texts. */
function instructionDifferences(runs, names) {
  const lists = runs.map((run) =>
    [...totals(run, (pc) => pc)].map(([pc, sum]) => [`${pc} ${run.line.get(pc)?.text ?? ""}`, pc, sum.waited]),
  );
  const [run] = runs;
  const columns = [
    { name: run.numbering, of: (row) => row.kind, show: (row) => numberOf(run, row.kind) },
    { name: "instruction", of: (row) => row.what.replace(/^\d+ /, ""), text: "code" },
    ...differenceColumns(names),
  ];
  return sortable(columns, paired(...lists), {
    order: { by: "B - A", down: true },
    caption: "Warp-cycles waited in the cycles shown before each instruction.",
  });
}
