// Colours of states and stall reasons, and of the letters on them: --NAME and --NAME-letters of the page, by scheme.

const STATES = ["selected", "queued", "occupies", "under_way"]; // of an instruction that issues, and behind

/** Colours of a run's letters: as CSS, as pixels of a canvas, and that of text on each. */
function paletteOf(run) {
  const style = getComputedStyle(document.documentElement);
  const value = (name, part) => style.getPropertyValue(`--${name}${part}`) || style.getPropertyValue(`--other${part}`);
  const all = (part) => run.letters.map(({ name }) => value(name, part).trim());
  const css = all("");
  return { css, pixel: Uint32Array.from(css, pixelOf), text: all("-letters") };
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

/** What occurs in the runs, states first, in the order of the documents. */
function occurring(runs) {
  const found = new Map(STATES.map((name) => [name, runs[0].letters[runs[0].state[name]]]));
  for (const run of runs) {
    for (const number of new Set(run.waits.reason)) found.set(run.letters[number].name, run.letters[number]);
    for (const number of new Set(run.lost.reason)) found.set(run.letters[number].name, run.letters[number]);
    for (const number of run.units.flatMap((unit) => unit.state)) found.set(run.letters[number].name, run.letters[number]);
  }
  return [...found.values()];
}

/** The colour of a state in CSS, in either scheme. */
function colourOf(name) {
  return `var(--${name}, var(--other))`;
}

/** A letter on its colour, as it stands in the pipeline view. */
function swatch({ name, letter, meaning }) {
  const letters = `var(--${name}-letters, var(--other-letters))`;
  const style = `background:${colourOf(name)};color:${letters}`;
  return element("span", { class: "swatch", style, title: meaning }, letter);
}
