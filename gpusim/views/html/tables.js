// Sortable tables: instructions and regions with what warps waited before them, and the differences of two runs.

const NO_FIGURES = { issues: 0, threads: 0, conflicts: 0, waited: 0 };

/** Issues and warp-cycles waited, by reason, in the cycles shown: of each pc that occurs, or of what has a key. */
function totals(run, keyOf) {
  const found = new Map();
  const entry = (key) => found.get(key) ?? found.set(key, { ...NO_FIGURES, by: new Map() }).get(key);
  for (let i = 0; i < run.count; i++) {
    const sum = entry(keyOf(run.pc[i]));
    if (issuesHere(run, i)) addIssue(sum, run, i);
    eachWait(run, i, (state, start, end) => {
      const [name, cycles] = [run.letters[state].name, cyclesShown(run, start, end)];
      sum.waited += cycles;
      if (cycles) sum.by.set(name, (sum.by.get(name) ?? 0) + cycles);
    });
  }
  return found;
}

function addIssue(sum, { lanes, conflicts }, i) {
  sum.issues++;
  sum.threads += lanes[i];
  sum.conflicts += conflicts[i];
}

/** Names of stall reasons in the totals, most warp-cycles first. */
function reasonsOf(found) {
  const sums = new Map();
  for (const { by } of found.values()) for (const [name, cycles] of by) sums.set(name, (sums.get(name) ?? 0) + cycles);
  return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
}

/** A table of columns { name, title, of(row), show(row) }, sorted by one of them at a click on its head. */
function sortable(columns, rows, { by = NONE, down = false, caption, choose } = {}) {
  const body = element("tbody");
  const heads = columns.map((column, k) =>
    element(
      "th",
      { scope: "col", title: column.title ?? "", class: column.text ? "" : "number" },
      element("button", { click: () => sort(k, k === by ? !down : !column.text) }, column.head ?? column.name),
    ),
  );
  const sort = (k, descending) => {
    [by, down] = [k, descending];
    heads.forEach((head, h) => head.setAttribute("aria-sort", h !== k ? "none" : down ? "descending" : "ascending"));
    const of = columns[k]?.of ?? (() => 0);
    const sorted = [...rows].sort((a, b) => (down ? -1 : 1) * compare(of(a), of(b)));
    body.replaceChildren(...sorted.map((row) => tableRow(columns, row, choose)));
  };
  sort(by, down);
  const captions = caption ? [element("caption", {}, caption)] : [];
  return element("table", {}, ...captions, element("thead", {}, element("tr", {}, ...heads)), body);
}

function tableRow(columns, row, choose) {
  const cells = columns.map((column) => {
    const value = column.of(row);
    const shown = column.show ? column.show(row) : typeof value === "number" ? counted(value) : value;
    return element("td", { class: column.text ? column.text : "number" }, shown);
  });
  if (!choose) return element("tr", {}, ...cells);
  const open = (event) => (event.type === "click" || event.key === "Enter") && choose(row);
  return element("tr", { tabindex: 0, click: open, keydown: open }, ...cells);
}

function compare(a, b) {
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b));
}

/** A table of what each instruction waited for; a click on a row selects its next issue in the pipeline view. */
function instructionTable(view, pane) {
  const { run } = pane;
  const found = totals(run, (pc) => pc);
  const rows = [...found].map(([pc, sum]) => ({ pc, ...run.line.get(pc), ...sum }));
  const columns = [
    { name: "pc", of: (row) => row.pc },
    ...(rows.some((row) => row.region) ? [{ name: "region", of: (row) => row.region, text: "name" }] : []),
    { name: "instruction", of: (row) => row.text ?? "", text: "code" },
    { name: "unit", of: (row) => row.unit ?? "", text: "name" },
    ...waitColumns(run, found),
  ];
  const choose = (row) => select(view, pane, nextIssue(pane, row.pc));
  return sortable(columns, rows, { by: 0, caption: captionOf(run, found), choose });
}

function regionTable(view, pane) {
  const { run } = pane;
  const found = totals(run, (pc) => run.line.get(pc)?.region || "(none)");
  const rows = [...found].map(([region, sum]) => ({ region, ...sum }));
  const columns = [{ name: "region", of: (row) => row.region, text: "name" }, ...waitColumns(run, found)];
  return sortable(columns, rows, { caption: captionOf(run, found) });
}

function captionOf(run, found) {
  const waited = [...found.values()].reduce((sum, row) => sum + row.waited, 0);
  const within = `in cycles ${counted(run.from)} to ${counted(run.to)}`;
  return `${run.letter}Warp-cycles waited ${within} before each, by reason: ${counted(waited)} in all.`;
}

function waitColumns(run, found) {
  const waited = [...found.values()].map((row) => row.waited);
  const [most, all] = [Math.max(1, ...waited), waited.reduce((sum, cycles) => sum + cycles, 0)];
  return [
    { name: "issues", of: (row) => row.issues },
    { name: "waited", title: "warp-cycles", of: (row) => row.waited },
    {
      name: "share",
      title: "of all warp-cycles waited",
      of: (row) => row.waited,
      show: (row) => percent(row.waited, all),
    },
    { name: "by reason", of: (row) => row.waited, show: (row) => bar(run, row, most), text: "bar" },
    ...reasonsOf(found).map((name) => reasonColumn(run, name)),
  ];
}

function reasonColumn(run, name) {
  const letter = run.letters.find((one) => one.name === name);
  const head = element("span", {}, swatch(letter), ` ${name}`);
  return {
    name,
    head,
    title: letter.meaning,
    of: (row) => row.by.get(name) ?? 0,
    show: (row) => (row.by.has(name) ? counted(row.by.get(name)) : ""),
  };
}

/** Warp-cycles by reason as lengths, of the most that any row has. */
function bar(run, row, most) {
  const parts = [...row.by]
    .sort((a, b) => b[1] - a[1])
    .map(([name, cycles]) =>
      element("i", {
        style: `width:${(100 * cycles) / most}%;background:${colourOf(name)}`,
        title: `${name}: ${counted(cycles)}`,
      }),
    );
  return element("span", { class: "stack" }, ...parts);
}

/** Index of the next instruction at a pc after the selected one, or in sight, around again at the end. */
function nextIssue(pane, pc) {
  const { run } = pane;
  const after = pane.selected === NONE ? lowerBound(run.issue, pane.cycle) : pane.selected + 1;
  const next = run.pc.indexOf(pc, after);
  return next === -1 ? run.pc.indexOf(pc) : next;
}
