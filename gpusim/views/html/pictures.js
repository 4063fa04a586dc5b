// Pictures of a run in SVG: their frame, and resident blocks over time.

const FRAME = { width: 560, height: 200, left: 64, right: 12, top: 24, bottom: 34 };

/** A picture with axes: to place a point, give its part of the width and of the height, each from 0 to 1. */
function frame(caption, horizontal, vertical) {
  const { width, height, left, right, top, bottom } = FRAME;
  const x = (part) => left + part * (width - left - right);
  const y = (part) => height - bottom - part * (height - top - bottom);
  const picture = drawing(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption },
    drawing("path", { d: `M${x(0)} ${y(1)}V${y(0)}H${x(1)}`, class: "axis" }),
    drawing("text", { x: x(1), y: height - 4, "text-anchor": "end" }, horizontal),
    drawing("text", { x: 4, y: 11 }, vertical),
  );
  return { picture, x, y, add: (...parts) => picture.append(...parts) };
}

function ticks({ add, x, y }, marks, vertical) {
  for (const [part, text] of marks) {
    if (vertical) add(drawing("text", { x: x(0) - 5, y: y(part) + 4, "text-anchor": "end" }, text));
    else add(drawing("text", { x: x(part), y: y(0) + 14, "text-anchor": part === 1 ? "end" : "middle" }, text));
  }
}

/** Blocks as bars from placement to retirement, one row per warp slot, and how many warps that makes. */
function occupancyPicture(run) {
  const [from, to] = run.span;
  const part = (cycle) => clamp((cycle - from) / Math.max(1, to - from), 0, 1);
  const slots = Math.max(run.warp_slots, run.summary?.warps ?? 0);
  const picture = frame("Resident blocks over time", "cycle", "warp slot");
  const { add, x, y } = picture;
  const tones = tonesOf(run.blocks);
  for (const block of run.blocks) {
    const [left, right] = [block.placed, retirement(run, block)].map((cycle) => x(part(cycle)));
    if (block.placed >= to || retirement(run, block) <= from) continue;
    for (const [first, last] of stretchesOf(block.warps)) {
      const [low, high] = [y(first / slots), y((last + 1) / slots)];
      add(
        drawing("rect", {
          x: left,
          y: high,
          width: Math.max(1, right - left),
          height: Math.max(0.5, low - high - 0.5),
          class: `block tone${tones.get(block)}`,
        }),
      );
    }
    const label = y((Math.min(...block.warps) + Math.max(...block.warps) + 1) / 2 / slots) + 4;
    if (right - left > 60) add(drawing("text", { x: left + 5, y: label, class: "inside" }, `block ${block.id}`));
  }
  ticks(picture, [
    [0, counted(from)],
    [0.5, counted(Math.round((from + to) / 2))],
    [1, counted(to)],
  ]);
  ticks(
    picture,
    [
      [0, "0"],
      [0.5, rounded(slots / 2)],
      [1, String(slots)],
    ],
    true,
  );
  if (run.summary) addLimit(picture, run.summary, slots);
  return element("figure", {}, element("figcaption", {}, occupancyCaption(run)), picture.picture);
}

/** Two tones by turns for the blocks that follow each other in a warp slot. */
function tonesOf(blocks) {
  const [tones, before] = [new Map(), new Map()];
  for (const block of [...blocks].sort((a, b) => a.placed - b.placed)) {
    const tone = 1 - (before.get(block.warps[0]) ?? (block.warps[0] / block.warps.length) & 1);
    tones.set(block, tone);
    for (const slot of block.warps) before.set(slot, tone);
  }
  return tones;
}

/** First and last of each row of neighbouring warp slots. */
function stretchesOf(warps) {
  const sorted = [...warps].sort((a, b) => a - b);
  const firsts = sorted.filter((slot) => !warps.includes(slot - 1));
  const lasts = sorted.filter((slot) => !warps.includes(slot + 1));
  return firsts.map((first, k) => [first, lasts[k]]);
}

/** A line at the warps of a full SM, with what limits them. */
function addLimit({ add, x, y }, { warps, occupancy_limiter: limiter }, slots) {
  const at = y(warps / slots);
  add(
    drawing("path", { d: `M${x(0)} ${at}H${x(1)}`, class: "limit" }),
    drawing("text", { x: x(1), y: at - 4, "text-anchor": "end", class: "name" }, `${warps} warps: limit by ${limiter}`),
  );
}

/** When a block leaves, or the last cycle shown if it stays beyond. */
function retirement(run, { retired }) {
  return retired === NONE ? run.to : Math.min(retired, run.to);
}

function occupancyCaption(run) {
  const warps = run.blocks.map(
    (block) => block.warps.length * cyclesShown(run, block.placed, retirement(run, block)),
  );
  const mean = warps.reduce((sum, cycles) => sum + cycles, 0) / Math.max(1, run.span[1] - run.span[0]);
  return `${run.letter}Resident warps: ${mean.toFixed(1)} of ${run.warp_slots} on average${fullSm(run)}.`;
}

function fullSm({ summary }) {
  if (!summary) return "";
  const { blocks, warps, occupancy_limiter: limiter } = summary;
  return `; a full SM holds ${many(blocks, "block")}, ${many(warps, "warp")}, limited by ${limiter}`;
}
