// The sums of the cycles and instructions shown, beside the pipeline.

function sumsOf(view, { run }) {
  const all = sumOfAll(run);
  const [from, to] = run.span;
  const lost = [...sumByReason(run, run.lost)].sort((a, b) => b[1] - a[1]);
  const slots = Math.max(1, ((to - from) * run.schedulers) / run.interval);
  return element(
    "section",
    {},
    element("h2", {}, `${run.letter}Cycles ${counted(from)} to ${counted(to)}`),
    element(
      "p",
      {},
      `${counted(all.issues)} warp instructions${isFiltered(run) ? " of those chosen" : ""}; warps waited for`,
    ),
    shareList(run, [...all.by], all.waited),
    element("h3", {}, "Issue slots lost by all warps"),
    shareList(run, lost.map(([name, cycles]) => [name, cycles / run.interval]), slots),
  );
}

/** The issues and waits of all instructions that rows show, in the cycles shown. */
function sumOfAll(run) {
  return totals(run, () => 0).get(0) ?? { ...NO_FIGURES, by: new Map() };
}

/** A bar for each reason with its share, the greatest first. */
function shareList(run, pairs, whole) {
  const of = new Map(run.letters.map((letter) => [letter.name, letter]));
  const rows = pairs
    .sort((a, b) => b[1] - a[1])
    .filter(([, cycles]) => cycles >= 0.0005 * whole)
    .map(([name, cycles]) =>
      element(
        "li",
        { title: of.get(name).meaning },
        swatch(of.get(name)),
        element("span", {}, name),
        element("span", { class: "figure" }, percent(cycles, whole)),
        element("i", { style: `width:${Math.min(100, (100 * cycles) / whole)}%;background:${colourOf(name)}` }),
      ),
    );
  return rows.length ? element("ul", { class: "shares" }, ...rows) : element("p", {}, "nothing");
}
