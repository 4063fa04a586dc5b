// A half of the source view: a table whose rows can be marked, sorted and walked along.

/** A table of rows; it keeps their elements, so that marks stay when they are sorted. */
function halfTable(columns, rows, label, choose, hover) {
  const body = element("tbody");
  const of = new Map(rows.map((row) => [(row.element = halfRow(columns, row)), row]));
  const heads = columns.map((column, k) =>
    element(
      "th",
      { scope: "col", class: column.kind, title: column.title ?? "" },
      element("button", { click: () => sort(k) }, column.name),
    ),
  );
  const waits = columns.findIndex(({ name }) => name === "waited");
  const half = { rows, shown: rows, by: 0, down: false, waits, byPlace: grouped(rows) };
  const sort = (k, down = k === half.by ? !half.down : Boolean(columns[k].figure)) => {
    Object.assign(half, { by: k, down });
    const { natural } = columns[k];
    const some = natural ? rows : rows.filter((row) => row.pcs.length);
    const order = [...some].sort((a, b) => (down ? -1 : 1) * (columns[k].of(a) - columns[k].of(b)));
    half.shown = order;
    body.replaceChildren(...(natural && !down ? folded(order, columns.length) : elementsOf(order)));
    heads.forEach((head, h) => head.setAttribute("aria-sort", h !== k ? "none" : down ? "descending" : "ascending"));
  };
  const at = (event) => of.get(event.target.closest("tr"));
  body.addEventListener("click", (event) => at(event) && choose(at(event)));
  body.addEventListener("mouseover", (event) => hover(at(event)));
  body.addEventListener("mouseleave", () => hover());
  half.element = element(
    "table",
    { role: "grid", "aria-label": label },
    element("colgroup", {}, ...columns.map(({ name }) => element("col", { class: `col-${name}` }))),
    element("thead", {}, element("tr", {}, ...heads)),
    body,
  );
  half.sort = (k, down) => sort(columns[k] ? k : 0, down); // another run may have had more columns
  sort(0, false);
  return half;
}

/** The rows with instructions by their place in the source. */
function grouped(rows) {
  const found = new Map();
  for (const row of rows) if (row.place && row.pcs.length) appended(found, row.place, row);
  return found;
}

function halfRow(columns, row) {
  const cells = columns.map((column) => {
    const shown = column.show(row);
    const heat = column.heat ? { style: `--part:${column.heat(row).toFixed(3)}` } : {};
    const whole = column.kind === "code" ? { title: String(shown).trim() } : {};
    return element("td", { class: column.kind, ...heat, ...whole }, shown);
  });
  const inert = row.pcs.length ? {} : { class: "inert" };
  return element("tr", { tabindex: -1, ...inert }, ...cells);
}

/** The row so many further on in a half, of those that have instructions. */
function rowFrom(half, row, by) {
  const rows = half.shown.filter((one) => one.pcs.length);
  const at = rows.indexOf(row);
  return rows[clamp(at === -1 ? 0 : at + by, 0, rows.length - 1)];
}

/** Bring a row into the sight of its half, to the middle if it was out of it. */
function reveal(row) {
  const box = row.element.closest(".half");
  if (!box || !row.element.isConnected) return;
  const [own, frame] = [row.element.getBoundingClientRect(), box.getBoundingClientRect()];
  const head = box.querySelector("thead").getBoundingClientRect().height;
  if (own.top < frame.top + head || own.bottom > frame.bottom)
    box.scrollTop += own.top - frame.top - (frame.height - own.height) / 2;
}
