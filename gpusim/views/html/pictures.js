// Pictures of a run in SVG: resident blocks over time, and the roofline.

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
  const picture = frame("Resident blocks over time", "cycle", `warp slot, of ${run.warp_slots}`);
  const { add, x, y } = picture;
  for (const block of run.blocks) {
    const [from, to] = [block.placed, retirement(run, block)].map((cycle) => x(part(cycle)));
    for (const slot of block.warps) {
      const [low, high] = [y(slot / run.warp_slots), y((slot + 1) / run.warp_slots)];
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
    const label = y((Math.min(...block.warps) + Math.max(...block.warps) + 1) / 2 / run.warp_slots) + 4;
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
      [0.5, String(run.warp_slots / 2)],
      [1, String(run.warp_slots)],
    ],
    true,
  );
  return element("figure", {}, element("figcaption", {}, occupancyCaption(run)), picture.picture);
}

/** When a block leaves, or the last cycle shown if it stays beyond. */
function retirement(run, { retired }) {
  return retired === NONE ? run.to : Math.min(retired, run.to);
}

function occupancyCaption(run) {
  const warps = run.blocks.map(
    (block) => block.warps.length * cyclesShown(run, block.placed, retirement(run, block)),
  );
  const mean = warps.reduce((sum, cycles) => sum + cycles, 0) / Math.max(1, run.to - run.from);
  return `${run.letter}Resident warps: ${mean.toFixed(1)} of ${run.warp_slots} on average${fullSm(run)}.`;
}

function fullSm({ summary }) {
  if (!summary) return "";
  const { blocks, warps, occupancy_limiter: limiter } = summary;
  return `; a full SM holds ${counted(blocks)} blocks, ${counted(warps)} warps, limited by ${limiter}`;
}

/** Whether a run has an operation and a byte, without which there is no roofline. */
function hasRoofline({ summary }) {
  return Boolean(summary?.gflops && summary.flops_per_byte);
}

/** Speed over operations per byte, on logarithmic scales, under the peak and the memory bandwidth. */
function rooflinePicture(run) {
  const {
    gflops,
    bound_gflops: bound,
    peak_gflops: peak,
    bandwidth_gbs: bandwidth,
    flops_per_byte: intensity,
  } = run.summary;
  const ridge = peak / bandwidth;
  const [low, high] = [Math.min(ridge, intensity) / 8, Math.max(ridge, intensity) * 8];
  const [slow, fast] = [Math.min(gflops / 2, bandwidth * low), peak * 2];
  const across = (number) => Math.log(number / low) / Math.log(high / low);
  const up = (number) => clamp(Math.log(number / slow) / Math.log(fast / slow), 0, 1);
  const picture = frame("Roofline", "operations per byte of DRAM traffic", "GFLOP/s");
  const { add, x, y } = picture;
  const place = x(across(intensity));
  add(
    drawing("path", {
      d: `M${x(0)} ${y(up(bandwidth * low))}L${x(across(ridge))} ${y(up(peak))}H${x(1)}`,
      class: "roof",
    }),
  );
  add(drawing("path", { d: `M${place - 8} ${y(up(bound))}h16`, class: "bound" }));
  add(drawing("circle", { cx: place, cy: y(up(gflops)), r: 4, class: "point" }));
  add(...separated([bound, "bound"], [gflops, "simulated"], (speed) => y(up(speed)), place + 11));
  ticks(
    picture,
    powers(low, high).map((number) => [across(number), rounded(number)]),
  );
  ticks(
    picture,
    powers(slow, fast).map((number) => [up(number), rounded(number)]),
    true,
  );
  return element("figure", {}, element("figcaption", {}, rooflineCaption(run)), picture.picture);
}

/** Names of two speeds beside their marks, that of the higher one above its mark and that of the lower one below. */
function separated(one, other, y, x) {
  const ordered = one[0] >= other[0] ? [one, other] : [other, one];
  return ordered.map(([speed, text], k) => drawing("text", { x, y: y(speed) + [-4, 11][k], class: "name" }, text));
}

function rooflineCaption({ summary, letter }) {
  const { gflops, bound_gflops: bound, bound_limiter: limiter, peak_gflops: peak, bandwidth_gbs: bandwidth } = summary;
  const reached = `${rounded(gflops)} GFLOP/s, ${percent(gflops, peak)} of the peak`;
  const roofs = `${rounded(bandwidth)} GB/s and ${rounded(peak)} GFLOP/s`;
  return `${letter}The launch: ${reached}; bound ${rounded(bound)}, set by ${limiter}. The roof: ${roofs}.`;
}

/** Powers of ten from a number up to another. */
function powers(low, high) {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => 10 ** (first + k));
}
