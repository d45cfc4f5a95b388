"""Errors, calibration, margins and bounds of an outcome, as HTML."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics

from mercer.errors import MercerError
from mercer.jobs.fitting import Outcome
from mercer.readers.problems import readable
from mercer.report.drawing import Axes
from mercer.report.mistakes import confused
from mercer.report.page import figure, listed, paragraph, table
from mercer.selection.learner import evenly_spread
from mercer.theory.bounds import Bound, support_vector_bound
from mercer.theory.of_model import radius_margin_of

_MOST_CLASSES = 15  # a wider confusion matrix is hard to read; the commonest mistakes are listed instead
_MOST_POINTS = 1500  # dots of a picture: more overlap, and make the page slow
_BINS = 8  # of the reliability curve: more bins have too few objects each for a smooth curve


def errors(outcome: Outcome) -> str:
    """Confusion matrix and curves, or predictions against truth; all on objects that were held out."""
    y, best = outcome.problem.y[outcome.search.rows], outcome.search.best
    opening = paragraph("Each object was predicted by a machine that had not seen it.", "soft")
    if outcome.problem.task == "regression":
        return opening + _residuals(y, best.predicted)
    labels = np.unique(y)
    text = opening
    if len(labels) <= _MOST_CLASSES:
        text += confused(y, best.predicted, labels)
    else:
        pairs, times = np.unique(np.column_stack([y, best.predicted])[y != best.predicted], axis=0, return_counts=True)
        order = np.argsort(-times)[:10]
        text += table(
            ("truth", "predicted", "times"),
            [(pairs[p][0], pairs[p][1], f"{times[p]:,}") for p in order],
            "commonest mistakes",
        )
    if len(labels) == 2:
        text += _curves(y == labels[1], best.decisions[:, 0], str(labels[1]))
    return text


def _curves(positive: npt.NDArray[np.bool_], decisions: npt.NDArray[np.float64], name: str) -> str:
    false, true, _ = metrics.roc_curve(positive, decisions)
    area = float(metrics.roc_auc_score(positive, decisions))
    roc = Axes((0, 1), (0, 1), "false alarms", "found", f"ROC curve, area {area:.3f}")
    roc.line([(0, 0), (1, 1)], faint=True)
    roc.line(_thinned(false, true))
    precision, recall, _ = metrics.precision_recall_curve(positive, decisions)
    average, share = float(metrics.average_precision_score(positive, decisions)), float(positive.mean())
    found = f"average precision {average:.3f}"
    pr = Axes(
        (0, 1), (0, 1), "found (recall)", "right among those predicted (precision)", f"Precision, recall, {found}"
    )
    pr.line([(0, share), (1, share)], faint=True)
    pr.line(_thinned(recall, precision))
    first = figure(roc.svg(), f"ROC for {name}: area {area:.3f}; the dashed line is guessing.", "roc")
    second = figure(pr.svg(), f"Precision and recall for {name}: {found}; guessing gives {share:.3f}.", "precision")
    return f"<div class=pair>{first}{second}</div>"


def _thinned(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> list[tuple[float, float]]:
    """Points of a curve, no more than a picture can show."""
    kept = evenly_spread(len(x), 300)
    return list(zip(x[kept].tolist(), y[kept].tolist(), strict=True))


def _histogram(values: npt.NDArray[np.float64], bins: int, name: str, alt: str) -> Axes:
    middle, reach = float(np.mean(values)), float(np.ptp(values))
    if reach <= 1e-9 * abs(middle):  # one value, up to rounding: too narrow to be cut into bins
        values = np.full_like(values, middle)
    heights, edges = np.histogram(values, bins=bins)
    axes = Axes((float(edges[0]), float(edges[-1])), (0, float(heights.max())), name, "objects", alt)
    axes.bars(edges.tolist(), heights.tolist())
    return axes


def _residuals(y: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> str:
    low, high = float(min(y.min(), predicted.min())), float(max(y.max(), predicted.max()))
    both = Axes((low, high), (low, high), "truth", "prediction", "Predictions against the truth")
    both.line([(low, low), (high, high)], faint=True)
    rows = evenly_spread(len(y), _MOST_POINTS)
    both.dots(list(zip(y[rows].tolist(), predicted[rows].tolist(), strict=True)), size=2.5)
    apart = y - predicted
    shape = _histogram(apart, 24, "truth minus prediction", "Distribution of the errors")
    rmse, mae = float(np.sqrt(np.mean(np.square(apart)))), float(np.mean(np.abs(apart)))
    words = paragraph(
        f"Root mean squared error {readable(rmse)}, mean absolute error {readable(mae)}, "
        f"largest {readable(float(np.abs(apart).max()))}."
    )
    pictures = figure(both.svg(), "Predictions on the dashed line are right.", "predictions")
    pictures += figure(shape.svg(), "Errors, by size.", "errors")
    return words + f"<div class=pair>{pictures}</div>"


def calibration(outcome: Outcome) -> str:
    """How often the most probable label is right, by its probability."""
    chances = outcome.probabilities
    if chances is None or not np.isfinite(chances).all():
        return ""
    y = outcome.problem.y[outcome.search.rows]
    labels = np.unique(y)
    said, top = labels[chances.argmax(axis=1)], chances.max(axis=1)
    right = said == y
    edges = np.unique(np.quantile(top, np.linspace(0, 1, _BINS + 1)))
    points = []
    for low, high in itertools.pairwise(edges):
        inside = (top >= low) & (top <= high if high == edges[-1] else top < high)
        if inside.any():
            points.append((float(top[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    if not points:
        return ""
    start = 1.0 / len(labels)
    lowest = min(start, min(right for _, right, _ in points))
    axes = Axes((start, 1), (lowest, 1), "probability", "share that is right", "Reliability of the probabilities")
    axes.line([(start, start), (1, 1)], faint=True)
    axes.line([(a, b) for a, b, _ in points])
    axes.dots([(a, b) for a, b, _ in points], size=4)
    gap = sum(abs(a - b) * n for a, b, n in points) / sum(n for *_, n in points)
    brier = float(np.mean(np.square(chances - (y[:, None] == labels[None, :])).sum(axis=1)))
    words = (
        f"On average, probabilities are off by {100 * gap:.1f} points; the Brier score is {brier:.4f}. Above the "
        "dashed line the model is underconfident, below it overconfident."
    )
    return paragraph(words) + figure(
        axes.svg(),
        "Probabilities come from decision values, calibrated on folds that the object was not in.",
        "calibration",
    )


def margins(outcome: Outcome) -> str:
    """How clear decisions are, and how close the machine is to its optimum."""
    text = ""
    y, best = outcome.problem.y[outcome.search.rows], outcome.search.best
    labels = np.unique(y)
    if outcome.problem.task == "classification" and len(labels) == 2:
        values = np.where(y == labels[1], 1.0, -1.0) * best.decisions[:, 0]
        low, high = np.quantile(values, (0.005, 0.995))
        what = "Distribution of the margins of held-out objects"
        axes = _histogram(np.clip(values, low, high), 30, "y f(x)", what)
        axes.line([(0, 0), (0, axes.y[1])], faint=True)
        wrong, narrow = float((values <= 0).mean()), float(((values > 0) & (values < 1)).mean())
        text += figure(
            axes.svg(),
            f"Left of 0 the decision is wrong ({100 * wrong:.1f} %), between 0 and 1 it is right but narrow "
            f"({100 * narrow:.1f} %).",
        )
    proof = outcome.model.estimator.certificate_
    rows = [
        ("objective reached", f"{proof.primal:.6g}", "what training minimised"),
        ("lower bound", f"{proof.dual:.6g}", "no machine with this kernel and penalty has less"),
        ("gap", f"{100 * max(proof.relative_gap, 0.0):.3g} %", "how far this one can be above the optimum"),
        ("largest violation", f"{proof.kkt_violation:.3g}", "of the conditions of optimality"),
        ("margin", f"{proof.margin:.4g}", "1/|w|, in feature space; the smallest of all pairs of classes"),
        ("precision", proof.dtype, "of the matrix that was trained on; the certificate is about float64"),
    ]
    if proof.parts:
        worst = f"{100 * max(proof.worst.relative_gap, 0.0):.3g} %"
        rows.insert(3, ("largest gap of a part", worst, "of one pair of classes, or of one of several outputs"))
    return text + table(("certificate", "value", "meaning"), rows)


def bounds(outcome: Outcome) -> str:
    """Bounds on the error that hold for this machine, each with what it assumes."""
    if outcome.problem.task != "classification":
        return ""
    model = outcome.model.estimator
    found: list[Bound] = [support_vector_bound(len(outcome.problem.y), int(outcome.model.about["support"]))]
    with contextlib.suppress(MercerError, AttributeError):  # it holds for hard margins only
        found.append(radius_margin_of(model, outcome.problem.objects))
    lines: list[Any] = []
    for bound in found:
        use = (
            "vacuous: an error rate is at most 1" if bound.vacuous else f"an error of at most {100 * bound.value:.1f} %"
        )
        lines.append(f"{bound.name}: {use}. {bound.formula}. {bound.assumptions}")
    return listed(lines)
