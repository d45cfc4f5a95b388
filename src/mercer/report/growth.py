"""How the machine on all objects was chosen, where there are too many of them for an exact one."""

from __future__ import annotations

from mercer.jobs.fitting import Outcome
from mercer.report.naming import kernel_name
from mercer.report.page import paragraph, table

_MOST = 8
"""Settings of a round that are shown."""


def growth(outcome: Outcome) -> str:
    """Why it was trained in this way, and what all settings were worth on ever more objects."""
    trained, metric = outcome.trained, outcome.problem.metric
    if not trained.why:
        return ""
    text = paragraph(trained.why)
    found = trained.growth
    if found is None:
        return text
    rows = [
        (
            f"{one.objects:,}",
            str(one.setting.way),
            kernel_name(one.setting.kernel, outcome.model.preparation),
            "chosen with the model"
            if one.setting.way.solves_path(outcome.problem.learner)
            else f"{one.setting.penalty:g}",
            metric.shown(one.score),
            f"{one.seconds:.1f}",
        )
        for part in found.rounds
        for one in part[:_MOST]
    ]
    heads = ("trained on", "way", "kernel", outcome.problem.learner.penalty, metric.head, "seconds")
    more = sum(max(0, len(part) - _MOST) for part in found.rounds)
    scored = (
        f"All settings were scored on the same {len(found.rows):,} objects, which none of their machines had seen. The "
        "best third of each round went on to the next, joined by neighbours of the best. An exact machine is trained "
        "where it was better than all others by more than the noise."
    )
    return text + table(heads, rows, f"{more:,} more" if more else "") + paragraph(scored, "soft")
