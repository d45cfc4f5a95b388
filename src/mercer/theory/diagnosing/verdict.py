"""The verdict in one line (good, weak, diagonal, constant, indefinite or broken), its reason, and what to try next."""

from __future__ import annotations

from mercer.theory.diagnosing.findings import CONSTANT, FLAT, NEARLY_CONSTANT, VERY_FLAT, Finding, Measurements
from mercer.theory.diagnosing.targets import Labels

GOOD = 0.5
"""The minimum success of neighbours or a ridge machine, on a scale from chance (0) to always right (1). A higher
threshold would call kernels weak that work on noisy labels."""
_GOOD_THOUGH_FLAT = 0.7
"""The same for a matrix that is nearly diagonal, where luck with a few neighbours matters more."""
_BECAUSE = {
    "diagonal": ("irrelevant features", "narrow kernel", "unscaled features", "diagonal"),
    "constant": ("wide kernel", "constant", "unscaled features"),
    "indefinite": ("indefinite",),
    "weak": ("one label", "narrow kernel", "wide kernel", "unscaled features", "irrelevant features", "no blocks"),
}


def verdict_of(seen: Measurements, findings: tuple[Finding, ...]) -> tuple[str, str, str]:
    """Verdict, reason, and next step."""
    verdict, reason = _judged(seen)
    known = {finding.name: finding for finding in reversed(findings)}
    steps = [known[name].advice for name in _BECAUSE.get(verdict, ()) if name in known and known[name].advice]
    if steps:
        return verdict, reason, " ".join(steps[:2])
    if verdict == "weak":
        return verdict, reason, "Try other kernels and widths side by side: compare([...], objects, y)."
    step = "Train with it, and choose C by cross-validation."
    serious = [finding for finding in findings if finding.severity != "note" and finding.advice]
    return verdict, reason, f"{step} But first: {serious[0].advice}" if serious else step


def _judged(seen: Measurements) -> tuple[str, str]:
    shape, labels = seen.shape, seen.labels
    if not seen.mercer.psd:
        return "indefinite", seen.mercer.reason
    if seen.examined < 2:
        return "weak", "There is one object, and nothing to compare it with."
    lift = labels.lift if labels is not None else 0.0
    if _constant(seen, lift):
        reason = f"All objects look nearly the same (mean similarity {shape.mean_similarity:.4g})."
        return "constant", reason
    if _diagonal(seen, lift):
        return "diagonal", (
            "No object resembles another: the nearest one has, typically, a similarity of "
            f"{shape.nearest_similarity:.2g}, and {shape.participation:.0f} of {seen.examined - 1} directions are "
            "equally important."
        )
    if seen.one_label:
        return "weak", "All labels are the same."
    if labels is None:
        return "good", (
            f"Objects form groups ({shape.components_90} directions have 90 % of the variation). Without labels, it is "
            "not known whether groups share them."
        )
    if lift >= GOOD and (labels.p_value is None or labels.p_value <= 0.05):
        return "good", f"Similar objects share their labels: {_agreement(labels)}."
    return "weak", f"Similar objects hardly share their labels: {_agreement(labels)}."


def _constant(seen: Measurements, lift: float) -> bool:
    wide = any(width.too == "wide" for width in seen.widths)
    return seen.shape.variation < CONSTANT or (seen.shape.variation < NEARLY_CONSTANT and (wide or lift < GOOD))


def _diagonal(seen: Measurements, lift: float) -> bool:
    flatness = seen.shape.flatness
    return seen.examined > 3 and (flatness > VERY_FLAT or (flatness > FLAT and lift < _GOOD_THOUGH_FLAT))


def _agreement(labels: Labels) -> str:
    if labels.kind == "numbers":
        return f"a ridge machine explains {labels.left_out:.0%} of the variance of numbers it has not seen"
    said = (
        f"nearest neighbours agree in {labels.neighbours:.0%} of cases (by chance {labels.chance:.0%}), and a ridge "
        f"machine is right about {labels.left_out:.0%} of objects it has not seen (always the same answer: "
        f"{labels.left_out_chance:.0%})"
    )
    return said if labels.p_value is None else f"{said}; p = {labels.p_value:.2g} by permutation"
