// What lies below the pipeline view, tab by tab.

/** What lies below the pipeline view, tab by tab, filled when it is opened. */
function tabsOf(view) {
  const { panes } = view;
  const runs = panes.map((pane) => pane.run);
  const names = namesOf(runs);
  const tabs = {};
  if (runs.length > 1) tabs.Differences = () => [differenceTable(runs, names), instructionDifferences(runs, names)];
  tabs.Instructions = () => panes.map((pane) => instructionTable(view, pane));
  if (runs.some((run) => run.program.some((line) => line.region)))
    tabs.Regions = () => panes.map((pane) => regionTable(view, pane));
  tabs.Occupancy = () => runs.map(occupancyPicture);
  if (runs.some(hasMemory)) tabs.Memory = () => runs.filter(hasMemory).flatMap(memoryTables);
  if (runs.some(hasRoofline)) tabs.Roofline = () => runs.filter(hasRoofline).map(rooflinePicture);
  return tabs;
}

/** What tells two runs apart: machine, policy, kernel, settings, whatever differs first. */
function namesOf(runs) {
  const parts = (run) => [run.machine, run.policy, run.kernel, settingsOf(run.settings), settingsOf(run.parameters)];
  const [one, other] = [runs[0], runs.at(-1)].map(parts);
  const telling = one.findIndex((part, k) => part !== other[k]);
  return runs.map((run) => parts(run)[telling] ?? run.machine);
}

function settingsOf(settings) {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** Fill the list of tabs and open the first; a click on the open one folds what is below, or unfolds it. */
function fillTabs(view) {
  view.tabs = tabsOf(view);
  const buttons = Object.keys(view.tabs).map((name) =>
    element(
      "button",
      { role: "tab", id: `tab-${name}`, "aria-controls": "tables", click: () => openTab(view, name) },
      name,
    ),
  );
  document.getElementById("tabs").replaceChildren(...buttons);
  openTab(view, Object.keys(view.tabs)[0]);
}

function openTab(view, name) {
  const chosen = document.getElementById(`tab-${name}`);
  const again = chosen.getAttribute("aria-selected") === "true";
  document.body.classList.toggle("folded", again && !document.body.classList.contains("folded"));
  for (const button of document.querySelectorAll("#tabs button"))
    button.setAttribute("aria-selected", button === chosen);
  document.getElementById("tables").setAttribute("aria-labelledby", chosen.id);
  if (again) return;
  view.tab = name;
  fillTab(view);
}

/** Open the tab beside one that has the keyboard, around again at the end. */
function stepTab(view, { target, key }) {
  const names = Object.keys(view.tabs);
  const next = (names.indexOf(target.textContent) + (key === "ArrowRight" ? 1 : -1) + names.length) % names.length;
  openTab(view, names[next]);
  document.getElementById(`tab-${names[next]}`).focus();
}

function fillTab(view) {
  document.getElementById("tables").replaceChildren(element("div", { class: "side" }, ...view.tabs[view.tab]()));
}
