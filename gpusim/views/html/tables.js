// Sortable tables: instructions and regions with what warps waited before them, and the differences of two runs.

/** A table of columns { name, title, of(row), show(row) }, sorted by one of them at a click on its head. */
function sortable(columns, rows, { order = {}, caption, choose } = {}) {
  let by = columns.findIndex(({ name }) => name === order.by);
  let { down = false } = order;
  const body = element("tbody");
  const heads = columns.map((column, k) =>
    element(
      "th",
      { scope: "col", title: column.title ?? "", class: column.text ? "" : "number" },
      element("button", { click: () => sort(k, k === by ? !down : largestFirst(column)) }, column.head ?? column.name),
    ),
  );
  const sort = (k, descending) => {
    [by, down] = [k, descending];
    Object.assign(order, { by: columns[k]?.name, down });
    heads.forEach((head, h) => head.setAttribute("aria-sort", h !== k ? "none" : down ? "descending" : "ascending"));
    const of = columns[k]?.of ?? (() => 0);
    const sorted = [...rows].sort((a, b) => (down ? -1 : 1) * compare(of(a), of(b)));
    body.replaceChildren(...sorted.map((row) => tableRow(columns, row, choose)));
  };
  sort(by, down);
  const captions = caption ? [element("caption", {}, caption)] : [];
  return element("table", {}, ...captions, element("thead", {}, element("tr", {}, ...heads)), body);
}

/** Whether a first click on a column's head puts the largest first: numbers, and lengths of bars. */
const largestFirst = ({ text }) => !text || text === "bar";

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
    { name: run.numbering, of: (row) => row.pc, show: (row) => numberOf(run, row.pc) },
    ...(rows.some((row) => row.region) ? [{ name: "region", of: (row) => row.region, text: "name" }] : []),
    { name: "instruction", of: (row) => row.text ?? "", text: "code" },
    ...(hasLines(run) ? [{ name: "source", of: sourceOf, text: "name" }] : []),
    { name: "unit", of: (row) => row.unit ?? "", text: "name" },
    ...waitColumns(run, found),
  ];
  const choose = (row) => select(view, pane, nextIssue(pane, row.pc));
  const order = (view.orders.instructions ??= { by: "waited", down: true });
  return sortable(columns, rows, { order, caption: captionOf(run, found), choose });
}

const sourceOf = ({ file, line }) => (line ? `${baseName(file)}:${line}` : "");

function regionTable(view, pane) {
  const { run } = pane;
  const found = totals(run, (pc) => run.line.get(pc)?.region || "(none)");
  const rows = [...found].map(([region, sum]) => ({ region, ...sum }));
  const columns = [{ name: "region", of: (row) => row.region, text: "name" }, ...waitColumns(run, found)];
  const order = (view.orders.regions ??= { by: "waited", down: true });
  return sortable(columns, rows, { order, caption: captionOf(run, found) });
}

function captionOf(run, found) {
  const waited = [...found.values()].reduce((sum, row) => sum + row.waited, 0);
  const within = `in cycles ${counted(run.span[0])} to ${counted(run.span[1])}`;
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
    { name: "mostly", of: mostly, text: "name" },
    ...reasonsOf(found).map((name) => reasonColumn(run, name)),
  ];
}

/** The reason for which warps waited most, and its share. */
function mostly({ by, waited }) {
  const [most] = [...by].sort((a, b) => b[1] - a[1]);
  return most ? `${most[0]} ${percent(most[1], waited)}` : "";
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
