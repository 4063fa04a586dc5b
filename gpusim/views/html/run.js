// A run as the page holds it: the document's own fields, and its instructions, waits and lost slots as columns.

const NONE = -1;

/** The run in an element's text: base64 of gzip of JSON, packed by gpusim/views/html.py. */
async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent.trim()), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return toRun(JSON.parse(await new Response(plain).text()));
}

/** Times become cycles and blockers ids; the waits of instruction i are first[i] up to first[i + 1]. */
function toRun({ instructions, waits, lost, start: from, end: to, ...fields }) {
  const run = { ...fields, from, to, ...integers(instructions), waits: integers(waits), lost: integers(lost) };
  run.count = run.id.length;
  run.line = new Map(run.program.map((line) => [line.pc, line]));
  run.numbering = run.program.some(({ offset }) => offset >= 0) ? "offset" : "pc";
  accumulate(run.id);
  accumulate(run.issue);
  for (const name of ["begin", "end", "done"]) {
    run[name] = run[name].map((after, i) => (after === NONE ? NONE : run.issue[i] + after));
  }
  run.first = Int32Array.from([0, ...accumulate(run.waited)]);
  run.waits.owner = new Int32Array(run.waits.start.length);
  for (let i = 0; i < run.count; i++) placeWaits(run, i);
  run.lost.end = run.lost.end.map((cycles, k) => run.lost.start[k] + cycles);
  return run;
}

function placeWaits({ first, issue, id, waits }, i) {
  for (let k = first[i]; k < first[i + 1]; k++) {
    waits.owner[k] = i;
    waits.start[k] = issue[i] - waits.start[k];
    waits.end[k] += waits.start[k];
    waits.blocker[k] = waits.blocker[k] ? id[i] - waits.blocker[k] : NONE;
  }
}

function integers(table) {
  return Object.fromEntries(Object.entries(table).map(([name, column]) => [name, Int32Array.from(column)]));
}

/** The column with each number added to those before it, in place. */
function accumulate(column) {
  for (let k = 1; k < column.length; k++) column[k] += column[k - 1];
  return column;
}

/** First index of a sorted column whose number is not below the wanted one. */
function lowerBound(column, wanted, low = 0, high = column.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the instruction with an id, or NONE if the document does not hold it. */
function indexOf(run, id) {
  const index = lowerBound(run.id, id);
  return run.id[index] === id ? index : NONE;
}

/** The last cycle in which an instruction does something, plus one. */
function endOf(run, i) {
  return Math.max(run.issue[i] + 1, run.end[i], run.done[i]);
}

/** What tables call an instruction, by its pc: its offset in machine code, as 0x0490, else the pc. */
function numberOf(run, pc) {
  const offset = run.line.get(pc)?.offset ?? NONE;
  return offset >= 0 ? `0x${offset.toString(16).padStart(4, "0")}` : String(pc);
}

/** The same within a sentence. */
function pointOf(run, pc) {
  return run.numbering === "pc" ? `pc ${pc}` : numberOf(run, pc);
}

function textOf(run, i) {
  return run.line.get(run.pc[i])?.text ?? pointOf(run, run.pc[i]);
}

/** Call with each wait of an instruction: reason, start, end, id of its blocker. */
function eachWait(run, i, tell) {
  const { reason, start, end, blocker } = run.waits;
  for (let k = run.first[i]; k < run.first[i + 1]; k++) tell(reason[k], start[k], end[k], blocker[k]);
}

/** How many of the cycles from `start` up to `end` are shown: waits and lost slots reach beyond them. */
function cyclesShown({ span: [from, to] }, start, end) {
  return Math.max(0, Math.min(end, to) - Math.max(start, from));
}

/** Whether an instruction issues within the cycles shown; those that wait or are under way are there too. */
const issuesHere = ({ issue, span: [from, to] }, i) => issue[i] >= from && issue[i] < to;
const issuesOf = (run) => run.kept.reduce((sum, i) => sum + issuesHere(run, i), 0);

/** The longest wait of an instruction for another one of the document: its reason, and the other's index or NONE. */
function longestWait(run, i) {
  let [longest, found] = [0, { state: NONE, index: NONE }];
  eachWait(run, i, (state, start, end, blocker) => {
    const index = indexOf(run, blocker);
    if (index !== NONE && end - start > longest) [longest, found] = [end - start, { state, index }];
  });
  return found;
}

/** Longest waits from an instruction to its blocker, from that to its own, and so on, so many at most. */
function causes(run, i, most) {
  const chain = [];
  for (
    let wait = longestWait(run, i);
    wait.index !== NONE && chain.length < most;
    wait = longestWait(run, wait.index)
  ) {
    chain.push(wait);
  }
  return chain;
}
