// Colours and letters of states and stall reasons. Colours are those of style.css, --NAME, for either scheme.

const STATES = ["selected", "queued", "occupies", "under_way"]; // of an instruction that issues, and behind

/** Colours of a run's letters: as CSS, as pixels of a canvas, and that of text on each. */
function paletteOf(run) {
  const style = getComputedStyle(document.documentElement);
  const css = run.letters.map(({ name }) =>
    (style.getPropertyValue(`--${name}`) || style.getPropertyValue("--other")).trim(),
  );
  const rgb = css.map(channels);
  return {
    css,
    pixel: Uint32Array.from(css, pixelOf),
    text: rgb.map((one) => (luminance(one) > 0.18 ? "#000" : "#fff")),
  };
}

/** Colours of what is no state: background, text, lines. */
function inkOf() {
  const style = getComputedStyle(document.documentElement);
  const names = ["background", "text", "faint", "line", "grid", "stripe", "accent"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** A colour as a pixel of a canvas. */
function pixelOf(hex) {
  const [red, green, blue] = channels(hex);
  return (0xff << 24) | (blue << 16) | (green << 8) | red;
}

function channels(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.trim().slice(place, place + 2), 16));
}

/** Relative luminance of WCAG 2.1, by which black or white reads better. */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** What occurs in the runs, states first, in the order of the documents. */
function occurring(runs) {
  const found = new Map(STATES.map((name) => [name, runs[0].letters[runs[0].state[name]]]));
  for (const run of runs) {
    for (const number of new Set(run.waits.reason)) found.set(run.letters[number].name, run.letters[number]);
    for (const number of new Set(run.lost.reason)) found.set(run.letters[number].name, run.letters[number]);
  }
  return [...found.values()];
}

/** The colour of a state in CSS, in either scheme. */
function colourOf(name) {
  return `var(--${name}, var(--other))`;
}

/** A letter on its colour, as it stands in the pipeline view. */
function swatch({ name, letter, meaning }) {
  const { text } = paletteOf({ letters: [{ name }] });
  return element(
    "span",
    { class: "swatch", style: `background:${colourOf(name)};color:${text[0]}`, title: meaning },
    letter,
  );
}
