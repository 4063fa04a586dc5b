// The source page: which run and file it shows, what is chosen there, and what is marked for that.

/** Show the pipeline view or the source view. */
function setPage(view, name) {
  view.page = name;
  document.body.classList.toggle("source", name === "source");
  for (const button of document.querySelectorAll("#pages button"))
    button.setAttribute("aria-pressed", button.dataset.page === name);
  history.replaceState(null, "", `#${name}`);
  hideTip();
  if (name !== "source") {
    showDetails(view, document.getElementById("details"));
    return resize(view);
  }
  if (!view.source) openSource(view, view.active);
  else showChosen(view);
}

/** Fill the source page with a run, and choose what is chosen of another one, else where its warps waited longest. */
function openSource(view, pane) {
  const { run } = pane;
  const [files, before] = [filesOf(run), view.source];
  view.source = { pane, files, file: files[0]?.name };
  const { source } = view;
  source.code = halfTable(codeColumns(run), codeRows(run), "Machine code", ...answers(view));
  fillLines(view);
  fillBar(view);
  document.getElementById("source").classList.toggle("alone", !files.length);
  document.getElementById("code").replaceChildren(source.code.element);
  const same = before?.chosen && source.code.rows.find((row) => row.pc === before.chosen.pcs[0]);
  if (!same) return chooseHottest(view, files.length ? source.lines : source.code);
  for (const half of ["lines", "code"]) source[half].sort(before[half].by, before[half].down);
  chooseRow(view, same);
  if (before.chosen.half === "lines") chooseRow(view, linesOf(view, same)[0] ?? same);
}

/** The source files, those whose instructions waited longest first. */
function filesOf(run) {
  const { byPc } = bySource(run);
  const found = new Map();
  for (const { pc, file, line } of run.program)
    if (line) found.set(file, (found.get(file) ?? 0) + (byPc.get(pc)?.waited ?? 0));
  const missing = (name) => !run.sources.find((one) => one.name === name)?.lines;
  const files = [...found].map(([name, waited]) => ({ name, missing: missing(name), waited }));
  return files.sort((a, b) => b.waited - a.waited);
}

const answers = (view) => [(row) => chooseRow(view, row), (row) => hoverRow(view, row)];

function fillLines(view) {
  const { source } = view;
  const { run } = source.pane;
  source.lines = halfTable(lineColumns(run), lineRows(run, source.file), "Source", ...answers(view));
  const missing = source.files.find(({ name }) => name === source.file)?.missing;
  const note = `${baseName(source.file ?? "")} was not found; put it next to the file that was loaded, or give --source-root DIR`;
  const notes = missing ? [element("p", { class: "note" }, note)] : [];
  document.getElementById("lines").replaceChildren(...notes, source.lines.element);
}

function showFile(view, name) {
  view.source.file = name;
  fillLines(view);
  fillBar(view);
  chooseHottest(view, view.source.lines);
}

function chooseHottest(view, half) {
  const [hottest] = byWaits(half);
  if (hottest) chooseRow(view, hottest);
  else showChosen(view);
}

/** The rows of a half that have instructions, the longest waits first. */
function byWaits(half) {
  return half.rows.filter((row) => row.pcs.length).sort((a, b) => (b.sum?.waited ?? 0) - (a.sum?.waited ?? 0));
}

/** Choose a row: mark what belongs to it on the other side, and bring that into sight; again: the next of these. */
function chooseRow(view, row) {
  const { source } = view;
  if (!row?.pcs.length) return;
  const again = source.chosen === row;
  source.chosen = row;
  const file = row.half === "code" && row.place ? row.file : source.file;
  if (file !== source.file) {
    source.file = file;
    fillLines(view);
    fillBar(view);
  }
  source.turn = again ? source.turn + 1 : 0;
  showChosen(view);
}

function showChosen(view) {
  const { source } = view;
  const { chosen, turn, code } = source;
  if (!chosen) return showSourceDetails(view, document.getElementById("details"));
  source.selected?.setAttribute("aria-selected", false);
  source.selected = chosen.element;
  chosen.element.setAttribute("aria-selected", true);
  mark(view, chosen, "marked");
  const others = chosen.half === "code" ? linesOf(view, chosen) : stretches(code, chosen);
  reveal(chosen);
  if (others.length) reveal(others[turn % others.length]);
  showSourceDetails(view, document.getElementById("details"));
}

/** The row of an instruction's line, if there is one. */
function linesOf({ source }, row) {
  return row.place ? (source.lines.byPlace.get(row.place) ?? []) : [];
}

/** The first row of each stretch of a line's instructions, as they are sorted. */
function stretches(half, row) {
  const own = new Set(row.pcs);
  return half.shown.filter((one, k) => own.has(one.pc) && !own.has(half.shown[k - 1]?.pc));
}

function hoverRow(view, row) {
  mark(view, row?.pcs.length ? row : null, "hovered");
}

/** Give a class to a row and to those that belong to it in either half, and take it from the others. */
function mark({ source }, row, name) {
  for (const one of source[name] ?? []) one.element.classList.remove(name);
  const same = ({ byPlace }) => (row?.place ? (byPlace.get(row.place) ?? []) : []);
  source[name] = row ? new Set([row, ...same(source.lines), ...same(source.code)]) : [];
  for (const one of source[name]) one.element.classList.add(name);
}
