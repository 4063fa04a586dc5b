// What lies under the pointer, in words.

function showTip(view, pane, event) {
  const tip = document.getElementById("tip");
  const words = wordsAt(view, pane, event.offsetX, event.offsetY);
  tip.hidden = !words;
  if (!words) return;
  tip.textContent = words;
  const [right, below] = [event.clientX + 14, event.clientY + 16];
  tip.style.left = `${Math.min(right, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 8 : below}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

function wordsAt(view, pane, x, y) {
  const i = instructionAt(view, pane, x, y);
  if (i === NONE) return y < pane.top ? wordsOfStrip(view, pane, x, y) : "";
  const { run } = pane;
  const head = `w${run.warp[i]} ${pointOf(run, run.pc[i])}  ${textOf(run, i)}`;
  if (x < pane.left) return head;
  const cycle = Math.floor(cycleAt(view, pane, x));
  return `cycle ${counted(cycle)}\n${head}\n${stateAt(run, i, cycle)}`.trim();
}

/** What an instruction does in a cycle, or waits for. */
function stateAt(run, i, cycle) {
  const words = [];
  const note = (state, start, end, blocker = NONE) => {
    if (cycle < start || cycle >= end) return;
    const { name, letter, meaning } = run.letters[state];
    const who = blocker === NONE ? "" : `, for #${blocker}`;
    words.push(`${letter} ${name}: ${meaning} (${counted(end - start)}${who})`);
  };
  eachWait(run, i, note);
  note(run.state.selected, run.issue[i], run.issue[i] + run.interval);
  eachStage(run, i, note);
  return words.join("\n");
}

/** What a scheduler's issue slots were lost for, under the pointer on its strip. */
function wordsOfStrip(view, pane, x, y) {
  const scheduler = Math.floor((y - pane.heat) / BANDS.scheduler);
  const lost = pane.run.lostBy[scheduler];
  if (x >= pane.left && y >= pane.units) return wordsOfUnit(view, pane, x, y);
  if (x < pane.left || y < pane.heat || !lost) return "";
  const cycle = Math.floor(cycleAt(view, pane, x));
  const k = lowerBound(lost.end, cycle + 1);
  const inside = k < lost.start.length && lost.start[k] <= cycle;
  const { name, meaning } = inside ? pane.run.letters[lost.reason[k]] : { name: "issue slot used" };
  return `cycle ${counted(cycle)}, scheduler ${scheduler}\n${inside ? `lost: ${name}, ${meaning}` : name}`;
}

/** What a unit that works by itself does under the pointer: all its works of the cycle. */
function wordsOfUnit(view, pane, x, y) {
  const unit = pane.run.units[Math.floor((y - pane.units) / BANDS.scheduler)];
  if (!unit) return "";
  const cycle = Math.floor(cycleAt(view, pane, x));
  const here = [...unit.start.keys()].filter((k) => unit.start[k] <= cycle && cycle < unit.end[k]);
  const works = here.map((k) => `${pane.run.letters[unit.state[k]].name}: ${unit.words[k]}`);
  return [`cycle ${counted(cycle)}, ${unit.name}`, ...(works.length ? works : ["idle"])].join("\n");
}
