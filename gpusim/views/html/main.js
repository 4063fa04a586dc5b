// Puts the page together.

async function start() {
  const runs = await Promise.all([...document.querySelectorAll("script.run")].map(unpack));
  runs.forEach((run, k) => complete(run, runs.length > 1 ? `${"AB"[k]}  ` : ""));
  const view = toView(runs, [...document.querySelectorAll("canvas")]);
  recolour(view);
  for (const pane of view.panes) listen(view, pane);
  document.addEventListener("keydown", (event) => onKey(view, event));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => recolour(view));
  new ResizeObserver(() => resize(view)).observe(document.getElementById("panes"));
  fillTabs(view);
  fillHelp(runs);
  fillUnits(runs);
  connectButtons(view);
  connectFields(view);
  showDetails(view, document.getElementById("details"));
  resize(view);
  readable(view);
  setPage(view, location.hash === "#source" ? "source" : "pipeline");
  document.documentElement.dataset.ready = Math.round(performance.now());
  return view;
}

function toView(runs, canvases) {
  const layout = firstLayout(runs);
  document.getElementById("layout").value = layout;
  const panes = runs.map((run, k) => toPane(run, canvases[k], layout));
  const seen = { range: null, mark: null, sums: null, orders: {}, scale: 1, height: 1, history: [], ink: {} };
  return { panes, active: panes[0], layout, ...seen };
}

/** What is found from a run once: numbers of its states, its instructions by warp, its lost slots by scheduler. */
function complete(run, letter) {
  const state = Object.fromEntries(run.letters.map(({ name }, number) => [name, number]));
  Object.assign(run, { letter, state, byWarp: groupByWarp(run), lostBy: groupLost(run), span: [run.from, run.to] });
  keep(run, null, "");
}

function recolour(view) {
  view.ink = inkOf();
  for (const pane of view.panes) pane.palette = paletteOf(pane.run);
  fillLegend(view.panes.map((pane) => pane.run));
  redraw(view);
}

/** Draw at once: a canvas of a new size is blank, and the page may be painted before the next frame. */
function resize(view) {
  if (view.page === "source") return; // its canvases have no size
  for (const pane of view.panes) measure(pane);
  keepInside(view);
  drawNow(view);
}

/** Draw all panes with the next frame, once. */
function redraw(view) {
  view.frame ??= requestAnimationFrame(() => drawNow(view));
}

function drawNow(view) {
  if (view.frame) cancelAnimationFrame(view.frame);
  view.frame = null;
  if (view.page === "source") return;
  for (const pane of view.panes) drawPane(view, pane);
}

function setLayout(view, name) {
  view.layout = name;
  for (const pane of view.panes) {
    pane.layout = LAYOUTS[name](pane.run);
    measure(pane);
  }
  readable(view);
  choose(view, view.active, view.active.selected);
}

/** Show the sums anew, after other cycles or instructions have been chosen. */
function refresh(view) {
  for (const { run } of view.panes) run.bySource = null;
  view.sums = null;
  fillRange(view);
  fillTab(view);
  if (view.page === "source") return openSource(view, view.source.pane);
  view.source = null;
  showDetails(view, document.getElementById("details"));
  redraw(view);
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
}

function connectFields(view) {
  const field = (id) => document.getElementById(id);
  field("layout").addEventListener("change", (event) => setLayout(view, event.target.value));
  field("warps").addEventListener("change", () => applyFilter(view));
  field("unit").addEventListener("change", () => applyFilter(view));
  field("search").addEventListener("input", () => tellFound(""));
  field("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") search(view, event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      field("search").blur();
      tellFound("");
    }
  });
}

const opened = start(); // a promise of the view
opened.catch((error) => {
  document.getElementById("details").textContent =
    `This page can't be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
