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
    else add(drawing("text", { x: x(part), y: y(0) + 14, "text-anchor": "middle" }, text));
  }
}

/** Blocks as bars from placement to retirement, one row per warp slot, and how many warps that makes. */
function occupancyPicture(run) {
  const span = Math.max(1, run.to - run.from);
  const part = (cycle) => clamp((cycle - run.from) / span, 0, 1);
  const slots = Math.max(run.warp_slots, run.summary?.warps ?? 0);
  const picture = frame("Resident blocks over time", "cycle", "warp slot");
  const { add, x, y } = picture;
  for (const block of run.blocks) {
    const [from, to] = [block.placed, retirement(run, block)].map((cycle) => x(part(cycle)));
    for (const slot of block.warps) {
      const [low, high] = [y(slot / slots), y((slot + 1) / slots)];
      add(
        drawing("rect", {
          x: from,
          y: high,
          width: Math.max(1, to - from),
          height: Math.max(0.5, low - high - 0.5),
          class: `block tone${block.id % 2}`,
        }),
      );
    }
    const label = y((Math.min(...block.warps) + Math.max(...block.warps) + 1) / 2 / slots) + 4;
    if (to - from > 60) add(drawing("text", { x: from + 5, y: label, class: "inside" }, `block ${block.id}`));
  }
  ticks(picture, [
    [0, counted(run.from)],
    [0.5, counted(Math.round(run.from + span / 2))],
    [0.97, counted(run.to)],
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
  return `; a full SM holds ${counted(blocks)} blocks, ${counted(warps)} warps, limited by ${limiter}`;
}
