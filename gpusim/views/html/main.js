// Puts the page together.

async function start() {
  const runs = await Promise.all([...document.querySelectorAll("script.run")].map(unpack));
  runs.forEach((run, k) => complete(run, runs.length > 1 ? `${"AB"[k]}  ` : ""));
  const canvases = [...document.querySelectorAll("canvas")];
  const view = { panes: runs.map((run, k) => toPane(run, canvases[k])), scale: 1, height: 1, history: [], ink: {} };
  view.active = view.panes[0];
  recolour(view);
  for (const pane of view.panes) listen(view, pane);
  document.addEventListener("keydown", (event) => onKey(view, event));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => recolour(view));
  new ResizeObserver(() => resize(view)).observe(document.getElementById("panes"));
  fillTabs(tabsOf(view));
  fillHelp(runs);
  connectButtons(view);
  showDetails(view, document.getElementById("details"));
  resize(view);
  readable(view);
  setPage(view, location.hash === "#source" ? "source" : "pipeline");
  drawNow(view);
  document.documentElement.dataset.ready = Math.round(performance.now());
  return view;
}

/** What is found from a run once: numbers of its states, its instructions by warp, its lost slots by scheduler. */
function complete(run, letter) {
  const state = Object.fromEntries(run.letters.map(({ name }, number) => [name, number]));
  Object.assign(run, { letter, state, byWarp: groupByWarp(run), lostBy: groupLost(run) });
}

function recolour(view) {
  view.ink = inkOf();
  for (const pane of view.panes) pane.palette = paletteOf(pane.run);
  fillLegend(view.panes.map((pane) => pane.run));
  redraw(view);
}

function resize(view) {
  if (view.page === "source") return; // its canvases have no size
  for (const pane of view.panes) measure(pane);
  keepInside(view);
  redraw(view);
}

/** Draw all panes with the next frame, once. */
function redraw(view) {
  view.frame ??= requestAnimationFrame(() => drawNow(view));
}

function drawNow(view) {
  view.frame = null;
  if (view.page === "source") return;
  for (const pane of view.panes) drawPane(view, pane);
}

function setLayout(view, name) {
  for (const pane of view.panes) {
    pane.layout = LAYOUTS[name](pane.run);
    measure(pane);
  }
  readable(view);
  choose(view, view.active, view.active.selected);
}

function connectButtons(view) {
  const act = (id, action) => document.getElementById(id).addEventListener("click", () => (action(view), redraw(view)));
  act("zoom-in", (each) => zoomMiddle(each, 2));
  act("zoom-out", (each) => zoomMiddle(each, 0.5));
  act("fit", fit);
  act("readable", readable);
  act("about", () => document.getElementById("help").showModal());
  for (const button of document.querySelectorAll("#pages button"))
    button.addEventListener("click", () => setPage(view, button.dataset.page));
  document.getElementById("layout").addEventListener("change", (event) => setLayout(view, event.target.value));
}

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
function fillTabs(tabs) {
  const buttons = Object.keys(tabs).map((name) =>
    element(
      "button",
      { role: "tab", id: `tab-${name}`, "aria-controls": "tables", click: () => openTab(tabs, name) },
      name,
    ),
  );
  document.getElementById("tabs").replaceChildren(...buttons);
  openTab(tabs, Object.keys(tabs)[0]);
}

function openTab(tabs, name) {
  const chosen = document.getElementById(`tab-${name}`);
  const again = chosen.getAttribute("aria-selected") === "true";
  document.body.classList.toggle("folded", again && !document.body.classList.contains("folded"));
  for (const button of document.querySelectorAll("#tabs button"))
    button.setAttribute("aria-selected", button === chosen);
  const panel = document.getElementById("tables");
  panel.setAttribute("aria-labelledby", chosen.id);
  if (!again) panel.replaceChildren(element("div", { class: "side" }, ...tabs[name]()));
}

const opened = start(); // a promise of the view
opened.catch((error) => {
  document.getElementById("details").textContent =
    `This page can't be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
