// The source view: lines of source and instructions side by side, each with its share of the cycles that warps waited.

const FOLDED = 24; // lines without instructions behind each other from which on they are folded
const AROUND = 4; // of these, so many stay at either end

/** The place of an instruction in the source as a key, empty if it has none. */
function placeOf(run, pc) {
  const { file, line } = run.line.get(pc) ?? {};
  return line ? keyOf(file, line) : "";
}

/** Append to the list that a map has by a key. */
function appended(map, key, value) {
  if (!map.get(key)?.push(value)) map.set(key, [value]);
}

const keyOf = (file, line) => `${line} ${file}`;
const hasLines = (run) => run.program.some((one) => one.line);
const inlinedOf = (line) => `${baseName(line.inlined_file)}:${line.inlined_line}`;
const baseName = (file) => file.split(/[\\/]/).at(-1) || file;

/** A run by instruction and by line: figures of each, and the instructions of each line in the order of the program. */
function bySource(run) {
  if (run.bySource) return run.bySource;
  const [byPc, byPlace, pcs] = [totals(run, (pc) => pc), totals(run, (pc) => placeOf(run, pc)), new Map()];
  for (const { pc } of run.program) {
    const place = placeOf(run, pc);
    if (place) appended(pcs, place, pc);
  }
  const most = { lines: mostOf(byPlace), code: mostOf(byPc) };
  const all = [...byPc.values()].reduce((sum, { waited }) => sum + waited, 0);
  return (run.bySource = { byPc, byPlace, pcs, most, all });
}

/** The greatest of each figure of totals; 1 where there is none, to divide by, and 0 for conflicts. */
function mostOf(found) {
  const most = { waited: 1, issues: 1, conflicts: 0 };
  for (const sum of found.values()) for (const name in most) most[name] = Math.max(most[name], sum[name]);
  return most;
}

/** A row for each line of a file; if the file is missing, for each of its lines that has instructions. */
function lineRows(run, file) {
  const { byPlace, pcs } = bySource(run);
  const lines = run.sources.find(({ name }) => name === file)?.lines;
  const own = run.program.filter((one) => one.line && one.file === file).map((one) => one.line);
  const last = Math.max(lines?.length ?? 0, ...own);
  const numbers = lines ? Array.from({ length: last }, (_, k) => k + 1) : [...new Set(own)].sort((a, b) => a - b);
  return numbers.map((line) => {
    const place = keyOf(file, line);
    const made = pcs.get(place) ?? [];
    return { half: "lines", line, text: lines?.[line - 1] ?? "", place, pcs: made, sum: byPlace.get(place) };
  });
}

const END = "end of the program";

/** A row for each instruction; the row after the program's end only if warps waited there. */
function codeRows(run) {
  const { byPc } = bySource(run);
  const rows = run.program.map((one) => {
    const place = placeOf(run, one.pc);
    return { half: "code", ...one, place, pcs: [one.pc], sum: byPc.get(one.pc) };
  });
  return rows.filter((row) => row.sum || row.text !== END);
}

/** Elements of rows in the order of the lines, long stretches of lines without instructions folded. */
function folded(rows, width) {
  const made = [];
  for (let k = 0; k < rows.length;) {
    let end = k;
    while (end < rows.length && !rows[end].pcs.length) end++;
    const [first, last] = [k ? k + AROUND : k, end < rows.length ? end - AROUND : end];
    if (end - k >= FOLDED) {
      made.push(
        ...elementsOf(rows.slice(k, first)),
        foldOf(rows.slice(first, last), width),
        ...elementsOf(rows.slice(last, end)),
      );
    } else made.push(...elementsOf(rows.slice(k, end)));
    if (end < rows.length) made.push(rows[end].element);
    k = end + 1;
  }
  return made;
}

const elementsOf = (rows) => rows.map((row) => row.element);

/** A row in place of those of a stretch, which a click brings back. */
function foldOf(rows, width) {
  const words = `lines ${rows[0].line} to ${rows.at(-1).line}, without instructions`;
  const unfold = (event) => event.currentTarget.closest("tr").replaceWith(...elementsOf(rows));
  return element(
    "tr",
    { class: "fold" },
    element("td", { colspan: width }, element("button", { click: unfold }, words)),
  );
}
