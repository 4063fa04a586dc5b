// What the whole launch moved, as the tables of gpusim/views/timeline/memory_tables.py.

const LEVELS = ["the L1", "the L2; the L1 missed", "the far side of the L2; the L1 missed", "the DRAM; L1 and L2 missed"];
const FIGURES = {
  l1: ["instructions", "requests", "wavefronts", "sectors", "sectors_per_request", "hit_rate", "bytes", "needed", "l2_sectors"],
  shared: ["instructions", "requests", "wavefronts", "bank_conflicts"],
  l2: ["requests", "sectors", "sectors_per_request", "hit_rate", "bytes", "misses"],
  dram: ["sectors", "bytes", "gbs", "percent"],
  buffers: ["sectors", "hit_rate", "needed", "l2_sectors", "l2_hit_rate", "dram_read", "dram_written"],
  instructions: ["sectors", "hit_rate", "needed", "l2_sectors", "l2_hit_rate", "dram_read", "dram_written"],
};
const MEMORY_HEADS = {
  l1: "L1/TEX cache, and caches of constants",
  shared: "Shared memory",
  l2: "L2 cache",
  dram: "Device memory",
  buffers: "By buffer",
  instructions: "By instruction",
};

/** Whether a run says what it moved. */
const hasMemory = (run) => Boolean(run.summary?.memory);

/** The tables of a run that have rows. */
function memoryTables(run) {
  const { memory } = run.summary;
  return Object.keys(FIGURES)
    .filter((name) => memory[name].length)
    .map((name) => memoryTable(run, name, memory[name]));
}

function memoryTable(run, name, rows) {
  const heads = ["", ...FIGURES[name].map((figure) => figure.replaceAll("_", " "))];
  return element(
    "table",
    { class: "memory" },
    element("caption", {}, `${run.letter}${MEMORY_HEADS[name]}`),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {}, head)))),
    element("tbody", {}, ...rows.map((row) => memoryRow(row, FIGURES[name]))),
  );
}

function memoryRow(row, figures) {
  const cells = figures.map((figure) => element("td", {}, memoryFigure(figure, row[figure])));
  return element("tr", {}, element("th", {}, row.name ?? row.operation), ...cells);
}

function memoryFigure(figure, number) {
  if (number === null) return "";
  return figure.endsWith("rate") ? percent(number, 1) : rounded(number);
}
