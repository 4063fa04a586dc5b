// The bar on top of the source page: which run and file it shows.

/** What the page shows, and the choice of it where there is one. */
function fillBar(view) {
  const { source } = view;
  const { run } = source.pane;
  const runs = view.panes.map(({ run: one }, k) => [k, `${"AB"[k]}: ${one.kernel} on ${one.machine}, ${one.policy}`]);
  const parts = [];
  if (runs.length > 1)
    parts.push(picker("Run", runs, view.panes.indexOf(source.pane), (k) => openSource(view, view.panes[k])));
  const { all } = bySource(run);
  const names = source.files.map(({ name, waited }) => [name, `${baseName(name)}, ${percent(waited, all)}`]);
  if (names.length > 1) parts.push(picker("File", names, source.file, (name) => showFile(view, name)));
  else
    parts.push(
      element("b", { title: source.file ?? "" }, source.file ? baseName(source.file) : "generated: no source"),
    );
  const within = `Waits and issues in cycles ${counted(run.span[0])} to ${counted(run.span[1])}; click a line or an instruction.`;
  const hot = element("button", { title: "key n", click: () => stepHot(view, 1) }, "Next hot spot");
  document.getElementById("source-bar").replaceChildren(...parts, hot, element("span", {}, within));
}

function picker(label, options, chosen, choose) {
  const made = options.map(([value, text]) =>
    element("option", { value, ...(value === chosen ? { selected: "" } : {}) }, text),
  );
  const list = element("select", { change: (event) => choose(options[event.target.selectedIndex][0]) }, ...made);
  return element("label", {}, `${label} `, list);
}
