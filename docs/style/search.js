// How the site's search ranks: pages that explain come first, then lists and records of what was measured,
// then those of the Python interface and of schemas.
const RECORDS =
  /^(calibration|reproduction|validation|performance|hopper|reference\/(kernels|machines\/|contributing))/;
const INTERFACE = /^reference\/(api|documents)/;
var Scorer = {
  score: ([docname, , , , score]) => score - (INTERFACE.test(docname) ? 200 : RECORDS.test(docname) ? 4 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 5, 1: 0, 2: -15 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
