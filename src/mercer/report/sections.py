"""What a report says, section by section; each is a function from the outcome to HTML."""

from __future__ import annotations

from mercer.jobs.candidates import short_text
from mercer.jobs.fitting import Outcome
from mercer.jobs.summary import summary
from mercer.report import drawing, evidence, matrices, support
from mercer.report.page import escape, figure, listed, paragraph, table

_MOST_COLUMNS = 25  # rows of a table that still reads at a glance


def sections(outcome: Outcome) -> list[tuple[str, str, str]]:
    """(anchor, heading, content) in the order of reading; sections without content are left out."""
    found = [
        ("top", "", _top(outcome)),
        ("data", "The data", _data(outcome)),
        ("kernels", "Kernels compared", _kernels(outcome)),
        ("errors", "Errors", evidence.errors(outcome)),
        ("calibration", "How reliable its probabilities are", evidence.calibration(outcome)),
        ("margins", "Margins and certificate", evidence.margins(outcome)),
        ("matrix", "The kernel matrix", matrices.matrix(outcome)),
        ("support", "Support objects", support.objects(outcome)),
        ("bounds", "What theory promises", evidence.bounds(outcome)),
        ("run", "How to repeat it", _run(outcome)),
    ]
    return [section for section in found if section[2]]


def _top(outcome: Outcome) -> str:
    data, task = outcome.problem.data, outcome.problem.task
    what = f"{task} of {data.target}" if data.target else task
    return f'<h1>{escape(data.name)}: {escape(what)}</h1><p class="verdict">{escape(outcome.verdict)}</p>'


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
        text += table(("column", "kind", "missing", "content"), rows, f"{more:,} more columns" if more > 0 else "")
    return text


def _kernels(outcome: Outcome) -> str:
    trials = outcome.search.by_kernel()
    rows = [(short_text(trial.kernel, outcome.model.preparation), trial.fold_scores.tolist()) for trial in trials]
    score = outcome.estimate.name
    folds = len(trials[0].fold_scores)
    alt = f"{score} of {len(rows)} kernels in {folds} folds; best: {rows[0][0]}, mean {trials[0].score:.3f}"
    picture = figure(
        drawing.spread(rows, score, alt), "Dots are folds, bars their mean. Each kernel has its best penalty."
    )
    cells = [
        (
            name,
            f"{trial.penalty:g}",
            f"{trial.score:.4f}",
            f"{float(trial.fold_scores.std()):.4f}",
            f"{trial.seconds:.2f}",
        )
        for (name, _), trial in zip(rows, trials, strict=True)
    ]
    heads = ("kernel", outcome.model.about["penalty_name"], score, "deviation", "seconds")
    honest = outcome.estimate
    note = paragraph(
        f"The best of {len(outcome.search.trials)} settings looks better than it is on the objects that it was chosen "
        f"on. Corrected for that, {honest.name} is {honest.value:.4f}, and 95 % of resamples lie between "
        f"{honest.low:.4f} and {honest.high:.4f}."
    )
    return picture + table(heads, cells) + note


def _run(outcome: Outcome) -> str:
    cost = outcome.model.estimator.certificate_
    text = paragraph(
        f"Everything took {outcome.seconds:.1f} s; the last training took {cost.seconds:.2f} s, {cost.iterations:,} "
        f"iterations and {cost.kernel_entries:,} kernel values. Seed {outcome.problem.plan.seed}."
    )
    command = outcome.model.about["command"]
    if command:
        text += f"<pre>{escape(command)}</pre>"
    return text + table(("part", "version"), outcome.model.about["versions"].items())
