// The legend, and the help about letters and keys.

function fillLegend(runs) {
  const items = occurring(runs).map((letter) =>
    element("li", { title: letter.meaning }, swatch(letter), ` ${letter.name}`),
  );
  document.getElementById("legend").replaceChildren(...items);
}

function fillHelp(runs) {
  const meanings = occurring(runs).map((letter) =>
    element("tr", {}, element("td", {}, swatch(letter), ` ${letter.name}`), element("td", {}, letter.meaning)),
  );
  document.getElementById("help-letters").replaceChildren(...meanings);
  document.getElementById("help-keys").replaceChildren(...KEYS.map(helpOf));
  document.getElementById("help-source-keys").replaceChildren(...SOURCE_KEYS.map(helpOf));
}

/** A row of the help about keys. */
function helpOf([keys, text]) {
  const names = keys.map((key) => element("kbd", {}, key));
  return element("tr", {}, element("td", {}, ...names), element("td", {}, text));
}
