// How the site's search ranks: pages that explain come before those of the Python interface and of schemas.
var Scorer = {
  score: ([docname, , , , score]) => (/^reference\/(api|documents)/.test(docname) ? score - 20 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 5, 1: 0, 2: -15 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
