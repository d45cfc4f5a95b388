// Pages of the reference that are named like the word that was looked for come first; otherwise Sphinx's own weights.
var Scorer = {
  score: ([page, title, anchor, , score]) =>
    page.startsWith("reference/") && !anchor && title.split(" ").pop() === page.split("/").pop() ? score + 20 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
