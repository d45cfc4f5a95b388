"""What a report says, section by section; each is a function from the outcome to HTML."""

from __future__ import annotations

from mercer.jobs.fitting import Outcome
from mercer.jobs.summary import summary
from mercer.readers.problems import count
from mercer.report import drawing, evidence, growth, influence, learning, matrices, mistakes, shares, support
from mercer.report.naming import kernel_name
from mercer.report.page import escape, figure, folded, listed, paragraph, table

_MOST_COLUMNS = 100  # rows of a table that somebody may still look up
_AT_A_GLANCE = 12  # rows of a table that is not folded


def sections(outcome: Outcome) -> list[tuple[str, str, str]]:
    """(anchor, heading, content) in the order of reading; sections without content are left out."""
    found = [
        ("top", "", _top(outcome)),
        ("influence", "What moves the predictions", influence.influence(outcome)),
        ("shares", "What decisions are made of", shares.shares(outcome)),
        ("errors", "Where it errs", evidence.errors(outcome) + mistakes.worst(outcome)),
        ("calibration", "How reliable its probabilities are", evidence.calibration(outcome)),
        ("kernels", "Kernels compared", _kernels(outcome)),
        ("growth", "From a sample to all objects", growth.growth(outcome)),
        ("learning", "What more data would bring", learning.learning(outcome)),
        ("machine", "The machine, for specialists", _machine(outcome)),
        ("data", "The data", _data(outcome)),
        ("run", "How to repeat it", _run(outcome)),
    ]
    return [section for section in found if section[2]]


def _machine(outcome: Outcome) -> str:
    """What it is made of, and what is proven about it: folded, since few readers need it."""
    parts = (
        ("Support objects", support.objects(outcome)),
        ("Margins and certificate", evidence.margins(outcome)),
        ("The kernel matrix", matrices.matrix(outcome)),
        ("What theory promises", evidence.bounds(outcome)),
    )
    return "".join(folded(head, content) for head, content in parts)


def _top(outcome: Outcome) -> str:
    data, task = outcome.problem.data, outcome.problem.task
    what = f"{task} of {data.target}" if data.target else task
    found, metric = outcome.estimate, outcome.problem.metric
    shown = [
        ("the model", found.low, found.value, found.high),
        ("guessing", found.baseline, found.baseline, found.baseline),
    ]
    between = f"between {found.low:.4g} and {found.high:.4g}"
    alt = f"{found.name} {found.value:.4g}, {between}; guessing has {found.baseline:.4g}"
    values = [found.low, found.high, found.baseline]
    ends = {1.0: (0.0, 1.0), 0.0: (0.0, max(values))}.get(-1.0 if metric.perfect is None else metric.perfect)
    better = " Less is better." if metric.sign < 0 else ""
    picture = figure(
        drawing.intervals(shown, found.name, alt, ends or (min(values), max(values))),
        f"The line is where the score lies with 95 % confidence.{better}",
        "score",
    )
    unbroken = outcome.verdict.replace(" %", "\N{NO-BREAK SPACE}%")
    words = f'<p class="verdict">{escape(unbroken)}</p>'
    return f"<h1>{escape(data.name)}: {escape(what)}</h1><div class=lead>{words}{picture}</div>"


def _data(outcome: Outcome) -> str:
    data = outcome.problem.data
    told = summary(data)
    kind = "rows" if data.kind == "table" else data.kind
    text = paragraph(
        f"{len(data):,} {kind}, read as {data.format}. {data.target or 'Label'}: {told['labels']['content']}."
    )
    if outcome.notes:
        text += listed(outcome.notes)
    if told["columns"]:
        rows = [(c["name"], c["kind"], f"{c['missing']:,}", c["content"]) for c in told["columns"][:_MOST_COLUMNS]]
        more = len(told["columns"]) - len(rows)
        cells = table(
            ("column", "kind", "missing", "content"),
            rows,
            f"and {count(more, 'more column')}" if more > 0 else "",
            stacked=True,
        )
        text += cells if len(rows) <= _AT_A_GLANCE else folded(f"All {len(rows)} columns", cells)
    return text


def _kernels(outcome: Outcome) -> str:
    trials = outcome.search.by_kernel()
    sign = outcome.problem.metric.sign
    names = [
        f"{place}. {kernel_name(trial.kernel, outcome.model.preparation)}" for place, trial in enumerate(trials, 1)
    ]
    rows = [(name, (sign * trial.fold_scores).tolist()) for name, trial in zip(names, trials, strict=True)]
    score = outcome.estimate.name
    folds = len(trials[0].fold_scores)
    alt = f"{score} of {len(rows)} kernels in {folds} folds; best: {rows[0][0]}, mean {sign * trials[0].score:.4g}"
    picture = figure(
        drawing.spread(rows, score, alt),
        "Dots are folds, bars their mean. Each kernel has its best penalty.",
        "kernels",
    )
    cells = [
        (
            name,
            f"{trial.penalty:g}",
            f"{sign * trial.score:.4g}",
            f"{float(trial.fold_scores.std()):.2g}",
            f"{trial.seconds:.2f}",
        )
        for (name, _), trial in zip(rows, trials, strict=True)
    ]
    heads = ("kernel", outcome.model.about["penalty_name"], score, "deviation", "seconds")
    honest = outcome.estimate
    if len(outcome.held_out):
        scored = f"The model itself was scored on {len(outcome.held_out):,} objects that it was not trained on"
        return picture + table(heads, cells, stacked=True) + paragraph(f"{scored}: {honest.name} {honest.value:.4f}.")
    note = paragraph(
        f"The best of {len(outcome.search.trials)} settings looks better than it is on the objects that it was chosen "
        f"on. Corrected for that, {honest.name} is {honest.value:.4f}, and 95 % of resamples lie between "
        f"{honest.low:.4f} and {honest.high:.4f}."
    )
    return picture + table(heads, cells, stacked=True) + note


def _run(outcome: Outcome) -> str:
    cost = outcome.model.estimator.certificate_
    text = paragraph(
        f"Everything took {outcome.seconds:.1f} s; the last training took {cost.seconds:.2f} s, {cost.iterations:,} "
        f"iterations and {cost.kernel_entries:,} kernel values. Seed {outcome.problem.plan.seed}."
    )
    command = outcome.model.about["command"]
    if command:
        text += f"<pre>{escape(command)}</pre>"
    written = paragraph("The kernel as it is written:", "soft") + f"<pre>{escape(outcome.model.about['kernel'])}</pre>"
    return text + written + folded("Versions", table(("part", "version"), outcome.model.about["versions"].items()))
