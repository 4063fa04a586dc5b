// The panel about the selected instruction: text, times, waits, and links to those that it waited for.

const CAUSES = 6; // waits of a chain that are shown
const BARRIER_REASONS = new Set(["short_scoreboard", "long_scoreboard", "war_hazard"]); // reasons for which barriers are waited for

/** What was selected, if something is, above the sums of what is shown. */
function showDetails(view, panel) {
  const chosen = view.panes.filter((pane) => pane.selected !== NONE);
  view.sums ??= view.panes.map((pane) => sumsOf(view, pane));
  const above = chosen.length ? chosen.map((pane) => details(view, pane)) : [hint()];
  const told = element("div", { "aria-live": "polite" }, ...above);
  panel.replaceChildren(told, ...view.sums);
  panel.scrollTop = 0;
}

function hint() {
  return element(
    "p",
    { class: "hint" },
    "Click an instruction: what it waited for, and for whom. Drag on the axis selects cycles; ? lists the keys.",
  );
}

function details(view, pane) {
  const { run, selected: i } = pane;
  const line = run.line.get(run.pc[i]);
  const facts = [
    ["warp, block", `${run.warp[i]}, ${run.block[i]}`],
    [`${run.numbering}, unit`, `${numberOf(run, run.pc[i])}, ${line?.unit ?? "?"}`],
    ["scheduler", run.scheduler[i]],
    ["threads", run.lanes[i]],
    ["issued", counted(run.issue[i])],
    ["in its pipe", run.begin[i] === NONE ? "needs none" : `${counted(run.begin[i])} to ${counted(run.end[i])}`],
    ["result there", run.done[i] === NONE ? "has none" : counted(run.done[i])],
  ];
  if (run.conflicts[i]) facts.push(["conflicts add", `${counted(run.conflicts[i])} passes or requests`]);
  if (run.level[i] !== NONE) facts.push(["served by", LEVELS[run.level[i]]]);
  if (run.late[i]) facts.push(["memory is late", `${counted(run.late[i])} cycles beyond its latency`]);
  if (line?.inlined_line) facts.splice(2, 0, ["inlined from", inlinedOf(line)]);
  if (line?.region) facts.splice(2, 0, ["region", line.region]);
  return element(
    "section",
    {},
    element("h2", {}, `${run.letter}#${run.id[i]} `, element("code", {}, textOf(run, i))),
    element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))])),
    sourceLink(view, pane, run.pc[i]),
    element("h3", {}, "Waited for"),
    waitList(view, pane, i),
    ...causeList(view, pane, i),
    element("h3", {}, "Kept waiting"),
    heldList(view, pane, i),
  );
}

function waitList(view, pane, i) {
  const rows = [];
  eachWait(pane.run, i, (state, start, end, blocker) => {
    const letter = pane.run.letters[state];
    const cycles = `${counted(start)} to ${counted(end)}, ${counted(end - start)}`;
    rows.push(
      element(
        "li",
        {},
        swatch(letter),
        ` ${letter.name} `,
        element("small", {}, `${cycles}: ${letter.meaning}`),
        blockerLink(view, pane, blocker),
        sharedBarrierNote(pane.run, i, letter.name, blocker),
      ),
    );
  });
  return rows.length ? element("ul", { class: "waits" }, ...rows) : element("p", {}, "nothing");
}

/** The longest waits one behind the other, where there is more than one: what the first was for waited itself. */
function causeList(view, pane, i) {
  const chain = causes(pane.run, i, CAUSES);
  if (chain.length < 2) return [];
  const rows = chain.map(({ state, index }) =>
    element("li", {}, swatch(pane.run.letters[state]), " ", linkTo(view, pane, index)),
  );
  return [
    element("h3", {}, "Back to the cause, by the longest waits"),
    element("ol", { class: "waits brief" }, ...rows),
  ];
}

/** A button that goes to the instruction with an id, or words if it is none, or not in the document. */
function blockerLink(view, pane, id) {
  if (id === NONE) return "";
  const index = indexOf(pane.run, id);
  if (index === NONE) return element("p", {}, `for #${id}, which is not shown`);
  return linkTo(view, pane, index);
}

/** Why an instruction waits for one that it does not need: that one holds a barrier beside another that it needs. */
function sharedBarrierNote(run, i, reason, blocker) {
  const index = blocker === NONE || !BARRIER_REASONS.has(reason) ? NONE : indexOf(run, blocker);
  if (index === NONE) return "";
  const what = reason === "war_hazard" ? "sources" : "result";
  const own = run.line.get(run.pc[i])?.shared_barriers ?? [];
  const found = own.find((one) => one.pc === run.pc[index] && one.what === what);
  if (!found) return "";
  const needed = found.needed.at(-1);
  const other = `${pointOf(run, needed)} ${run.line.get(needed).text}`;
  return element("p", {}, `not needed: it holds barrier ${found.barrier} beside ${other}, which is`);
}

function linkTo(view, pane, index) {
  const { run } = pane;
  const text = `w${run.warp[index]} ${pointOf(run, run.pc[index])} ${textOf(run, index)}`;
  return element(
    "button",
    { class: "link", "data-id": run.id[index], click: () => select(view, pane, index) },
    `#${run.id[index]} ${text}`,
  );
}

/** The first of those that waited for an instruction, the longest waits first. */
function heldList(view, pane, i) {
  const { run } = pane;
  const { blocker, owner, start, end } = run.waits;
  const held = [...blocker.keys()].filter((k) => blocker[k] === run.id[i]);
  held.sort((a, b) => end[b] - start[b] - (end[a] - start[a]));
  if (!held.length) return element("p", {}, "nobody");
  const rows = held
    .slice(0, 8)
    .map((k) => element("li", {}, `${counted(end[k] - start[k])} `, linkTo(view, pane, owner[k])));
  const more = held.length - rows.length;
  return element(
    "ul",
    { class: "waits brief" },
    ...rows,
    ...(more > 0 ? [element("li", {}, `and ${counted(more)} more`)] : []),
  );
}
