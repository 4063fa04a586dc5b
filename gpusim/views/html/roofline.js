// The roofline of a run in SVG.

/** Speed, bound, peak and work per byte of a run, counted in operations, or in instructions where it has none. */
function ratesOf({ summary }) {
  if (summary?.instructions) {
    const { speed, bound, peak, per_byte: intensity } = summary.instructions;
    return { speed, bound, peak, intensity, unit: "billion thread instructions/s", of: "thread instructions" };
  }
  const { gflops: speed, bound_gflops: bound, peak_gflops: peak, flops_per_byte: intensity } = summary ?? {};
  return { speed, bound, peak, intensity, unit: "GFLOP/s", of: "operations" };
}

/** Whether a run has work, and a byte at a level of memory, without which there is no roofline. */
function hasRoofline(run) {
  const { speed, intensity } = ratesOf(run);
  return Boolean(speed && (intensity || run.summary.roofs?.length));
}

/** The levels of memory with their bandwidths and the work per byte there, the DRAM last; a document may have no other. */
function roofsOf(run) {
  const { roofs, bandwidth_gbs } = run.summary;
  return roofs?.length ? roofs : [{ level: "DRAM", bandwidth_gbs, per_byte: ratesOf(run).intensity }];
}

/** Speed over work per byte of each level, on logarithmic scales, under the peak and the levels' bandwidths. */
function rooflinePicture(run) {
  const { speed: reached, bound, peak, unit, of } = ratesOf(run);
  const roofs = roofsOf(run);
  const places = roofs.flatMap(({ bandwidth_gbs: bandwidth, per_byte: each }) => [peak / bandwidth, each]);
  const [low, high] = [Math.min(...places) / 8, Math.max(...places) * 8];
  const [slow, fast] = [Math.min(reached / 2, ...roofs.map((roof) => roof.bandwidth_gbs * low)), peak * 2];
  const across = (number) => Math.log(number / low) / Math.log(high / low);
  const up = (number) => clamp(Math.log(number / slow) / Math.log(fast / slow), 0, 1);
  const picture = frame("Roofline", `${of} per byte of a level's traffic, logarithmic`, `${unit}, logarithmic`);
  const { add, x, y } = picture;
  for (const { level, bandwidth_gbs: bandwidth, per_byte: each } of roofs) {
    const ridge = x(across(peak / bandwidth));
    const d = `M${x(0)} ${y(up(bandwidth * low))}L${ridge} ${y(up(peak))}H${x(1)}`;
    add(drawing("path", { d, class: "roof" }));
    add(drawing("text", { x: x(0) + 4, y: y(up(bandwidth * low)) - 6, class: "name" }, level));
    add(drawing("circle", { cx: x(across(each)), cy: y(up(reached)), r: 4, class: "point" }));
  }
  for (const { at, names } of pointNames(roofs, across)) {
    add(drawing("text", { x: x(at), y: y(up(reached)) + 24, "text-anchor": "middle", class: "name" }, names));
  }
  const place = x(across(roofs.at(-1).per_byte));
  add(drawing("path", { d: `M${place - 8} ${y(up(bound))}h16`, class: "bound" }));
  add(...separated([bound, "bound"], [reached, "simulated"], (speed) => y(up(speed)), place + 11));
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

/** Names of the levels' points below them, those of points that nearly cover each other together. */
function pointNames(roofs, across) {
  const found = [];
  for (const { level, per_byte: each } of roofs) {
    const at = across(each);
    const near = found.find((other) => Math.abs(other.at - at) < 0.05);
    if (near) near.names += `, ${level}`;
    else found.push({ at, names: level });
  }
  return found;
}

/** Names of two speeds beside their marks, that of the higher one above its mark and that of the lower one below. */
function separated(one, other, y, x) {
  const ordered = one[0] >= other[0] ? [one, other] : [other, one];
  return ordered.map(([speed, text], k) => drawing("text", { x, y: y(speed) + [-4, 11][k], class: "name" }, text));
}

function rooflineCaption(run) {
  const { speed, bound, peak, unit } = ratesOf(run);
  const { bound_limiter: limiter } = run.summary;
  const { letter } = run;
  const reached = `${rounded(speed)} ${unit}, ${percent(speed, peak)} of the peak`;
  const levels = roofsOf(run).map(({ level, bandwidth_gbs }) => `${level} ${rounded(bandwidth_gbs)} GB/s`);
  const roofs = `${levels.join(", ")} and ${rounded(peak)} ${unit}`;
  return `${letter}The launch: ${reached}; bound ${rounded(bound)}, set by ${limiter}. The roof: ${roofs}.`;
}

/** Powers of ten from a number up to another; twice and five times these as well where there are few. */
function powers(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.floor(Math.log10(high))];
  const tens = Array.from({ length: last - first + 1 }, (_, k) => 10 ** (first + k));
  const inside = (numbers) => numbers.filter((number) => number >= low && number <= high);
  return inside(tens).length > 2 ? inside(tens) : inside(tens.flatMap((ten) => [ten, 2 * ten, 5 * ten]));
}
