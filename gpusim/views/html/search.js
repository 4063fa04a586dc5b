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
  const query = asked(field.value);
  const tell = (words) => (document.getElementById("found").textContent = words);
  view.mark = null;
  redraw(view);
  if (!field.value.trim()) return tell("");
  if (query.range) return void (setRange(view, query.range), zoomToRange(view), tell(""));
  if (view.page === "source") return tell(searchRows(view, query, by));
  const { active: pane } = view;
  if (Object.keys(query).join() === "cycle,words" && !query.words) {
    const { from, to } = pane.run;
    if (query.cycle < from || query.cycle > to) return tell(`none; cycles ${counted(from)} to ${counted(to)} are here`);
    center(view, pane, query.cycle);
    view.mark = query.cycle;
    tell(`cycle ${counted(query.cycle)}`);
    return redraw(view);
  }
  tell(goToMatch(view, pane, matching(pane.run, query), by));
}

function goToMatch(view, pane, found, by) {
  if (!found.length) return `none; try ${HINT}`;
  const at = pane.selected === NONE ? -1 : lowerBound(found, pane.selected + (by > 0 ? 1 : 0)) - 1;
  const next = pane.selected === NONE ? 0 : (at + (by > 0 ? 1 : 0) + found.length) % found.length;
  select(view, pane, found[next]);
  return `${counted(next + 1)} of ${counted(found.length)}`;
}

/** The same among lines and instructions of the source view. */
function searchRows(view, query, by) {
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
