// A page whose title was asked for comes first, then the place of a function or method of that name, then everything else.
var Scorer = {
  score: ([page, title, anchor, , score]) =>
    page.startsWith("reference/") && !anchor && title.split(" ").pop() === page.split("/").pop() ? score + 20 : score,
  objNameMatch: 45,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 40,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
