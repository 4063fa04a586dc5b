// Elements of the page, and numbers as text.

/** A new element with attributes (functions are listeners) and children (texts or elements). */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const counted = (number) => number.toLocaleString("en");
const many = (number, noun) => `${counted(number)} ${noun}${number === 1 ? "" : "s"}`;
const rounded = (number) =>
  Number.isInteger(number) ? counted(number) : number.toLocaleString("en", { maximumSignificantDigits: 4 });
const percent = (part, whole) => `${(whole ? (100 * part) / whole : 0).toFixed(1)} %`;
