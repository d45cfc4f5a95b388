"""The findings of a diagnosis in words, with what to do about them; the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from mercer.theory.diagnosing.columns import Columns
from mercer.theory.diagnosing.cost import Cost
from mercer.theory.diagnosing.objects import UnusualObjects
from mercer.theory.diagnosing.spectrum import Shape
from mercer.theory.diagnosing.targets import Labels
from mercer.theory.diagnosing.width import Width
from mercer.theory.mercer import MercerCheck

FLAT, VERY_FLAT = 0.8, 0.97
"""Above the first flatness a matrix counts as nearly diagonal unless it fits the labels well, above the second always.
Lower thresholds would warn of good kernels on data with many groups."""
CONSTANT, NEARLY_CONSTANT = 1e-6, 1e-3
"""The same for the variation of a matrix that is nearly constant. Higher thresholds would warn of kernels that only
need centring."""
_RISE = 0.05  # gain in agreement worth reporting; less is often chance on a few hundred objects
_UNSCALED = 30.0  # ratio of the variation of two columns; a lower one is common and does little harm


@final
@dataclass(frozen=True)
class Finding:
    """One finding: its name, its level ("problem", "warning" or "note"), what was found, and what to do."""

    name: str
    severity: str
    text: str
    advice: str = ""


@final
@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything that was measured."""

    shape: Shape
    mercer: MercerCheck
    labels: Labels | None
    standing: UnusualObjects
    columns: Columns | None
    widths: tuple[Width, ...]
    cost: Cost | None
    examined: int
    one_label: bool


def findings_of(seen: Measurements) -> tuple[Finding, ...]:
    """All findings."""
    order = {"problem": 0, "warning": 1, "note": 2}
    return tuple(sorted(_all(seen), key=lambda finding: order[finding.severity]))


def _all(seen: Measurements) -> Iterator[Finding]:
    if not seen.mercer.psd:
        best = [remedy.name for remedy in seen.mercer.remedies if remedy.works]
        others = f", or: {', '.join(best)} (see check_mercer)" if best else ""
        advice = f"Use a positive semi-definite kernel{others}."
        yield Finding("indefinite", "problem", seen.mercer.reason, advice)
    yield from _of_widths(seen.widths)
    if seen.examined > 1 and seen.shape.variation < NEARLY_CONSTANT:
        yield Finding(
            "constant", "problem" if seen.shape.variation < CONSTANT else "warning",
            f"All objects look almost the same: only {seen.shape.variation:.2g} of their squared lengths differs "
            "between them.",
            "Rescale the data, choose a narrower kernel, or take out the common part with kernels.centre(kernel).",
        )  # fmt: skip
    if seen.columns is not None:
        yield from _of_columns(seen.columns, seen.shape.flatness)
    if seen.examined > 3 and seen.shape.flatness > FLAT:
        yield Finding(
            "diagonal", "problem" if seen.shape.flatness > VERY_FLAT else "warning",
            f"The matrix is nearly diagonal: {seen.shape.participation:.0f} of {seen.examined - 1} directions are "
            f"equally important, and the nearest other object has a similarity of {seen.shape.nearest_similarity:.2g}.",
            "Compare by fewer, relevant features, or with a wider kernel: shorter substrings, fewer iterations, a "
            "smaller gamma or degree.",
        )  # fmt: skip
    yield from _of_objects(seen)
    yield from _of_labels(seen)
    if seen.cost is not None and not seen.cost.fits:
        yield Finding("cost", "warning", "The Gram matrix does not fit into memory.", seen.cost.advice)


def _of_widths(widths: tuple[Width, ...]) -> Iterator[Finding]:
    for width in widths:
        if width.too:
            size = "too small" if width.too == "narrow" else "too large"
            yield Finding(
                f"{width.too} kernel", "problem",
                f"The bandwidth of {width.kernel} is {size}: at {width.parameter} = {width.value:.3g} a typical pair "
                f"of objects has a similarity of exp(-{width.exponent:.3g}).",
                f"Try a {width.direction} {width.parameter}: {width.suggested:.3g} (from {width.by}).",
            )  # fmt: skip


def _of_columns(columns: Columns, flatness: float) -> Iterator[Finding]:
    if columns.constant:
        yield Finding("constant features", "note", f"{columns.constant} of {columns.count} features never change.",
                      "Drop them: they cost time and carry no information.")  # fmt: skip
    yield from _of_scales(columns)
    yield from _of_irrelevant(columns, flatness)
    if columns.giveaways:
        yield Finding(
            "leakage", "problem",
            f"Feature {columns.name(columns.giveaways[0])} has one value for each class: it is probably the label in "
            "disguise.",
            "Find out whether it will be known for new objects; if not, drop it.",
        )  # fmt: skip


def _of_scales(columns: Columns) -> Iterator[Finding]:
    risen = (columns.standardised or 0.0) - (columns.before or 0.0)
    # A column that makes four fifths of all squared distances leaves the others hardly any effect.
    if columns.scale_ratio > _UNSCALED and (columns.widest_share > 0.8 or risen > _RISE):
        gain = "" if columns.standardised is None or risen < _RISE else (
            f" Standardised, agreement with the labels rises from {columns.before:.2f} to {columns.standardised:.2f}."
        )  # fmt: skip
        yield Finding(
            "unscaled features", "problem" if risen > _RISE else "warning",
            f"Feature {columns.name(columns.widest)} varies {columns.scale_ratio:.3g} times as much as feature "
            f"{columns.name(columns.narrowest)} and makes {columns.widest_share:.0%} of all squared distances.{gain}",
            "Standardise the features, for example with sklearn.preprocessing.StandardScaler"
            + ("(with_mean=False), which keeps zeros." if columns.sparse else "."),
        )  # fmt: skip


def _of_irrelevant(columns: Columns, flatness: float) -> Iterator[Finding]:
    if columns.irrelevant is None or columns.before is None or columns.irrelevant <= columns.count / 2:
        return
    alone = columns.before if columns.relevant_alone is None else columns.relevant_alone
    if alone > columns.before + _RISE or flatness > FLAT:
        kept = ", ".join(columns.name(i) for i in columns.relevant[:5])
        gain = "" if alone <= columns.before else (
            f" With the most informative few, agreement rises from {columns.before:.2f} to {alone:.2f}."
        )  # fmt: skip
        yield Finding(
            "irrelevant features", "problem",
            f"{columns.irrelevant} of {columns.count} features, taken one at a time, predict the labels no better than "
            f"chance.{gain} Too many irrelevant features make every object unlike every other.",
            f"Drop irrelevant features; start with features {kept}." if kept else "Drop irrelevant features.",
        )  # fmt: skip


def _of_objects(seen: Measurements) -> Iterator[Finding]:
    standing = seen.standing
    if seen.shape.variation < NEARLY_CONSTANT:
        return  # every object is a copy of every other, which is already reported
    if standing.conflicting:
        i, j = standing.conflicting_pairs[0]
        yield Finding(
            "leakage", "warning",
            f"{standing.conflicting} objects have a copy, or nearly one, with another label, for example {i} and {j}: "
            "labels that are wrong, or features that leak.",
            "Look at these pairs before anything else.",
        )  # fmt: skip
    if standing.duplicates:
        i, j = standing.duplicate_pairs[0]
        yield Finding(
            "duplicates", "warning",
            f"To this kernel, {_count(standing.duplicates)} identical to another one, for example {j} to {i}.",
            "Copies that fall into training and test parts flatter every score: keep them together (groups) or drop "
            "them.",
        )  # fmt: skip
    if standing.near_duplicates:
        i, j = standing.near_pairs[0]
        near = f"To this kernel, {_count(standing.near_duplicates)} nearly identical to another, such as {j} to {i}."
        yield Finding("near-duplicates", "note", near, "Keep them together when the data are split.")
    if standing.outliers:
        yield Finding("outliers", "note", f"Objects far from all others: {', '.join(map(str, standing.outliers))}.",
                      "Check them; predictions for objects like these are unreliable.")  # fmt: skip


def _of_labels(seen: Measurements) -> Iterator[Finding]:
    if seen.one_label:
        yield Finding(
            "one label", "problem", "All objects have the same label.", "Nothing can be learnt from one class."
        )
    labels = seen.labels
    if labels is None:
        return
    if labels.p_value is not None and labels.p_value > 0.05:
        yield Finding("no blocks", "warning",
                      f"Random labels fit the matrix as well as these (p = {labels.p_value:.2g}).",
                      "Try another kernel; this one does not capture what determines the labels.")  # fmt: skip
    if labels.p_value is None:
        yield Finding("few objects", "note", "There are too few objects for a p-value.", "")


def _count(number: int) -> str:
    return "1 object is" if number == 1 else f"{number} objects are each"
