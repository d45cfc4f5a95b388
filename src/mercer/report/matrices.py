"""The kernel matrix and its spectrum, as pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer.gram.make import gram_of
from mercer.jobs.fitting import Outcome
from mercer.jobs.sizing import take
from mercer.report.drawing import Axes, png
from mercer.report.page import figure, paragraph, picture_of
from mercer.selection.learner import evenly_spread

_MOST = 240  # pixels along a side: a sharp picture of a few tens of kilobytes


def matrix(outcome: Outcome) -> str:
    """Similarities of a sample of objects sorted by label, and how quickly the eigenvalues fall."""
    y = outcome.problem.y
    order = np.argsort(y, kind="stable")
    chosen = order[evenly_spread(len(order), _MOST)]
    part = _similarities(outcome, chosen)
    own = np.sqrt(np.maximum(np.diagonal(part), np.finfo(float).tiny))
    cosines = np.clip(part / np.outer(own, own), -1, 1)
    off = cosines[~np.eye(len(cosines), dtype=bool)]
    words = f"Of {len(y):,} objects, {len(chosen):,} are shown, sorted by label; dark means similar. "
    if outcome.problem.task == "classification":
        same = y[chosen][:, None] == y[chosen][None, :]
        inside, outside = cosines[same & ~np.eye(len(same), dtype=bool)], cosines[~same]
        if len(inside) and len(outside):
            words += (
                f"Two objects of one class have a similarity of {inside.mean():.3f} on average, of different classes "
                f"{outside.mean():.3f}. "
            )
    if len(off) and off.mean() < 0.02 and np.abs(off).mean() < 0.05:
        words += "Nearly all similarity is on the diagonal: to this kernel, each object resembles only itself."
    alt = f"Matrix of {len(chosen)} by {len(chosen)} similarities, sorted by label. {words}"
    first = figure(picture_of(png(cosines), alt), "Similarities between objects, from light (none) to dark.")
    values = np.maximum(np.linalg.eigvalsh(part)[::-1], 0.0)
    shown = values[values > 1e-12 * max(values[0], 1e-300)][:100]
    total = float(values.sum()) or 1.0
    many = int(np.searchsorted(np.cumsum(values) / total, 0.95) + 1)
    logs = np.log10(shown / shown[0]) if len(shown) else np.zeros(1)
    ends = (1, max(len(logs), 2)), (float(logs.min()), 0)
    axes = Axes(*ends, "number", "log10 of eigenvalue / largest", "Eigenvalues of the kernel matrix")
    axes.line([(number + 1, float(value)) for number, value in enumerate(logs)])
    second = figure(axes.svg(), f"Eigenvalues; {many:,} of {len(values):,} directions hold 95 % of the variation.")
    return paragraph(words) + f"<div class=pair>{first}{second}</div>"


def _similarities(outcome: Outcome, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """By the kernel as it was fitted to all objects."""
    part, fitted = take(outcome.problem.objects, rows), outcome.model.machine.expansion.kernel
    if outcome.model.preparation.kind == "gram":
        return np.asarray(part, dtype=np.float64)
    return gram_of(fitted, part, dtype=np.float64).exact()
