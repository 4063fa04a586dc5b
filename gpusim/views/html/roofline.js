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

/** Whether a run has work and a byte, without which there is no roofline. */
function hasRoofline(run) {
  const { speed, intensity } = ratesOf(run);
  return Boolean(speed && intensity);
}

/** Speed over work per byte, on logarithmic scales, under the peak and the memory bandwidth. */
function rooflinePicture(run) {
  const { speed: reached, bound, peak, intensity, unit, of } = ratesOf(run);
  const bandwidth = run.summary.bandwidth_gbs;
  const ridge = peak / bandwidth;
  const [low, high] = [Math.min(ridge, intensity) / 8, Math.max(ridge, intensity) * 8];
  const [slow, fast] = [Math.min(reached / 2, bandwidth * low), peak * 2];
  const across = (number) => Math.log(number / low) / Math.log(high / low);
  const up = (number) => clamp(Math.log(number / slow) / Math.log(fast / slow), 0, 1);
  const picture = frame("Roofline", `${of} per byte of DRAM traffic, logarithmic`, `${unit}, logarithmic`);
  const { add, x, y } = picture;
  const place = x(across(intensity));
  add(
    drawing("path", {
      d: `M${x(0)} ${y(up(bandwidth * low))}L${x(across(ridge))} ${y(up(peak))}H${x(1)}`,
      class: "roof",
    }),
  );
  add(drawing("path", { d: `M${place - 8} ${y(up(bound))}h16`, class: "bound" }));
  add(drawing("circle", { cx: place, cy: y(up(reached)), r: 4, class: "point" }));
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

/** Names of two speeds beside their marks, that of the higher one above its mark and that of the lower one below. */
function separated(one, other, y, x) {
  const ordered = one[0] >= other[0] ? [one, other] : [other, one];
  return ordered.map(([speed, text], k) => drawing("text", { x, y: y(speed) + [-4, 11][k], class: "name" }, text));
}

function rooflineCaption(run) {
  const { speed, bound, peak, unit } = ratesOf(run);
  const { bound_limiter: limiter, bandwidth_gbs: bandwidth } = run.summary;
  const { letter } = run;
  const reached = `${rounded(speed)} ${unit}, ${percent(speed, peak)} of the peak`;
  const roofs = `${rounded(bandwidth)} GB/s and ${rounded(peak)} ${unit}`;
  return `${letter}The launch: ${reached}; bound ${rounded(bound)}, set by ${limiter}. The roof: ${roofs}.`;
}

/** Powers of ten from a number up to another; twice and five times these as well where there are few. */
function powers(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.floor(Math.log10(high))];
  const tens = Array.from({ length: last - first + 1 }, (_, k) => 10 ** (first + k));
  const inside = (numbers) => numbers.filter((number) => number >= low && number <= high);
  return inside(tens).length > 2 ? inside(tens) : inside(tens.flatMap((ten) => [ten, 2 * ten, 5 * ten]));
}
