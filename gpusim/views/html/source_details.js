// The panel beside the source: the figures of the chosen line or instruction, and what its warps waited for.

const HOTTEST = 6; // instructions of a line that are listed

function showSourceDetails(view, panel) {
  const { chosen, pane } = view.source;
  const parts = chosen
    ? [figuresOf(view, pane, chosen)]
    : [element("p", { class: "hint" }, "No line has instructions.")];
  panel.replaceChildren(...parts);
}

function figuresOf(view, { run }, row) {
  const { all } = bySource(run);
  const sum = row.sum ?? { ...NO_FIGURES, by: new Map() };
  const facts = [
    ...(row.half === "code" ? instructionFacts(run, row) : [["instructions", counted(row.pcs.length)]]),
    ["warp instructions", counted(sum.issues)],
    ["threads each", sum.issues ? rounded(sum.threads / sum.issues) : "none"],
    ["warp-cycles waited", counted(sum.waited)],
    ["share", percent(sum.waited, all)],
  ];
  if (sum.conflicts) facts.push(["added by conflicts", counted(sum.conflicts)]);
  const name = row.half === "code" ? "" : `${baseName(view.source.file)}:${row.line} `;
  return element(
    "section",
    {},
    element("h2", {}, name, element("code", {}, row.text.trim())),
    element("dl", {}, ...facts.flatMap(([title, value]) => [element("dt", {}, title), element("dd", {}, value)])),
    element("h3", {}, "Waited for"),
    reasonList(run, sum),
    ...(row.half === "code" ? instructionLinks(view, row) : hottestOf(view, row)),
  );
}

function instructionFacts(run, row) {
  const place = row.offset >= 0 ? [["function", `${row.function} + 0x${row.offset.toString(16)}`]] : [];
  const region = row.region ? [["region", row.region]] : [];
  const inlined = row.inlined_line ? [["inlined from", inlinedOf(row)]] : [];
  return [[`${run.numbering}, unit`, `${numberOf(run, row.pc)}, ${row.unit}`], ...place, ...inlined, ...region];
}

/** Each reason with its warp-cycles, the most first. */
function reasonList(run, { by, waited }) {
  const meaning = new Map(run.letters.map((letter) => [letter.name, letter]));
  const rows = [...by]
    .sort((a, b) => b[1] - a[1])
    .map(([name, cycles]) => {
      const words = `${counted(cycles)}, ${percent(cycles, waited)}: ${meaning.get(name).meaning}`;
      return element("li", {}, swatch(meaning.get(name)), ` ${name} `, element("small", {}, words));
    });
  return rows.length ? element("ul", { class: "waits" }, ...rows) : element("p", {}, "nothing");
}

/** Links to the instructions of a line before which warps waited longest. */
function hottestOf(view, row) {
  const own = byWaits(view.source.code).filter(({ pc }) => row.pcs.includes(pc));
  const links = own.slice(0, HOTTEST).map((one) => {
    const link = element("button", { class: "link", click: () => chooseRow(view, one) }, `${nameOf(one)} ${one.text}`);
    return element("li", {}, `${counted(one.sum?.waited ?? 0)} `, link);
  });
  const more = own.length > links.length ? [element("li", {}, `and ${own.length - links.length} more`)] : [];
  return [
    element("h3", {}, "Its instructions, by warp-cycles waited"),
    element("ul", { class: "waits brief" }, ...links, ...more),
  ];
}

/** Links to an instruction's line, and to its next issue in the pipeline view. */
function instructionLinks(view, row) {
  const [line] = linesOf(view, row);
  const toLine = () => chooseRow(view, line);
  const links = line ? [element("button", { class: "link", click: toLine }, `${baseName(row.file)}:${row.line}`)] : [];
  if (row.sum?.issues)
    links.push(
      element("button", { class: "link", click: () => showInPipeline(view, row.pc) }, "its next issue in the pipeline"),
    );
  return links.length ? [element("h3", {}, "See"), ...links] : [];
}

function showInPipeline(view, pc) {
  const { pane } = view.source;
  setPage(view, "pipeline");
  select(view, pane, nextIssue(pane, pc));
}

/** Links from an instruction of the pipeline view to its row in the source view. */
function sourceLink(view, pane, pc) {
  const { file, line } = pane.run.line.get(pc) ?? {};
  const words = line ? `source: ${baseName(file)}:${line}` : "its figures in the program";
  return element("button", { class: "link", click: () => showInSource(view, pane, pc) }, words);
}

function showInSource(view, pane, pc) {
  setPage(view, "source");
  if (view.source.pane !== pane) openSource(view, pane);
  const row = view.source.code.rows.find((one) => one.pc === pc);
  if (row) chooseRow(view, row);
}
