// Search and go-to: instructions by text, pc, offset, warp and number, a cycle, or a range of cycles.

const NUMBERED = /(?:^|\s)(warp|pc|cycle|w|#|@)\s*(\d[\d,]*)(?=\s|$)/gi;
const HEXADECIMAL = /^0x[0-9a-f]+$/;
const FULL_NAMES = { w: "warp", "#": "id", "@": "cycle" };
const HINT = "FFMA, pc 19, w3, #120, cycle 900, 900:1200";

/** What a text asks for: numbers by what they number, a range of cycles, words that an instruction's text has. */
function asked(text) {
  const found = {};
  const range = text.match(/^\s*(\d[\d,]*)\s*:\s*(\d[\d,]*)\s*$/);
  if (range) return { range: range.slice(1).map(numeric) };
  const rest = text.replace(NUMBERED, (_, kind, number) => {
    found[FULL_NAMES[kind.toLowerCase()] ?? kind.toLowerCase()] = numeric(number);
    return "";
  });
  const words = rest.trim().toLowerCase();
  if (/^\d[\d,]*$/.test(words) && found.pc === undefined) return { ...found, pc: numeric(words), words: "" };
  return { ...found, words };
}

const numeric = (text) => Number(text.replaceAll(",", ""));

/** Whether a line of a program is asked for: 0x0490 is the offset of one, or stands in its text. */
function lineMatches({ pc, offset, text, unit, region }, { pc: wanted, words }) {
  if (wanted !== undefined && pc !== wanted) return false;
  if (offset >= 0 && HEXADECIMAL.test(words) && offset === Number(words)) return true;
  return `${text} ${unit} ${region}`.toLowerCase().includes(words);
}

/** Indices of the instructions asked for, in order of issue, among those that rows show. */
function matching(run, query) {
  const lines = new Set(run.program.filter((line) => lineMatches(line, query)).map((line) => line.pc));
  return run.kept.filter(
    (i) =>
      lines.has(run.pc[i]) &&
      (query.warp === undefined || run.warp[i] === query.warp) &&
      (query.id === undefined || run.id[i] === query.id) &&
      (query.cycle === undefined || run.issue[i] >= query.cycle),
  );
}

/** Go to what is asked for, the next match after the selected one or the previous one; tell how many there are. */
function search(view, by) {
  const field = document.getElementById("search");
  view.mark = null;
  redraw(view);
  tellFound(field.value.trim() ? seek(view, asked(field.value), by) : "");
}

/** Go there, and return what there is to tell. */
function seek(view, query, by) {
  if (query.range) return goToRange(view, query.range);
  if (view.page === "source") return searchRows(view, query, by);
  const { active: pane } = view;
  if (Object.keys(query).join() === "cycle,words" && !query.words) return goToCycle(view, query.cycle);
  return goToMatch(view, pane, matching(pane.run, query), by);
}

/** Say beside the field what was found; what has no room there is in its title. */
function tellFound(words) {
  const told = document.getElementById("found");
  [told.textContent, told.title] = [words, words];
}

/** Select cycles and zoom to them, if a run has some of them. */
function goToRange(view, [from, to]) {
  if (from >= to) return "none; give the first cycle and a later one";
  if (!view.panes.some(({ run }) => Math.max(from, run.from) < Math.min(to, run.to))) return cyclesHere(view);
  const [first, last] = [view.panes.map(({ run }) => run.from), view.panes.map(({ run }) => run.to)];
  setRange(view, [Math.max(from, Math.min(...first)), Math.min(to, Math.max(...last))]);
  zoomToRange(view);
  return "";
}

/** Bring a cycle to the middle, and mark it, if a run has it. */
function goToCycle(view, cycle) {
  if (!view.panes.some(({ run }) => cycle >= run.from && cycle <= run.to)) return cyclesHere(view);
  for (const pane of view.panes) center(view, pane, cycle);
  view.mark = cycle;
  redraw(view);
  return `cycle ${counted(cycle)}`;
}

/** What is told of cycles that no run has. */
function cyclesHere({ panes }) {
  const spans = panes.map(({ run }) => `${counted(run.from)} to ${counted(run.to)}`);
  return `none; cycles ${[...new Set(spans)].join(" and ")} are here`;
}

function goToMatch(view, pane, all, by) {
  const found = view.range ? all.filter((i) => issuesHere(pane.run, i)) : all;
  if (!found.length) return all.length ? "none in these cycles" : `none; try ${HINT}`;
  const at = pane.selected === NONE ? -1 : lowerBound(found, pane.selected + (by > 0 ? 1 : 0)) - 1;
  const next = pane.selected === NONE ? 0 : (at + (by > 0 ? 1 : 0) + found.length) % found.length;
  select(view, pane, found[next]);
  return `${counted(next + 1)} of ${counted(found.length)}`;
}

/** The same among lines and instructions of the source view. */
function searchRows(view, query, by) {
  if ([query.warp, query.id, query.cycle].some((number) => number !== undefined))
    return "of the pipeline view: key v";
  const { lines, code, chosen } = view.source;
  const rows = [...lines.shown, ...code.shown].filter((row) => row.pcs.length);
  const wanted = (row) => (row.half === "code" ? lineMatches(row, query) : sourceMatches(row, query));
  const found = rows.filter(wanted);
  if (!found.length) return "none";
  const at = found.indexOf(chosen);
  const next = at === -1 ? 0 : (at + by + found.length) % found.length;
  chooseRow(view, found[next]);
  return `${next + 1} of ${found.length}`;
}

const sourceMatches = ({ text }, { pc, words }) => pc === undefined && text.toLowerCase().includes(words);
