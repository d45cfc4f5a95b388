"""Proof of how good a solution is: primal and dual objective, and what lies between them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.problem import LossProblem
from mercer.training.proof import Proof, percent

_NOT_FITTED = object()
_FAR = 0.5
"""Objectives of which more than this share may be above the optimum are not said to be near it."""


@final
@dataclass(frozen=True)
class Certificate(Proof):
    """How close a machine is to the optimum of 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)).

    No machine can have an objective below `dual`; this one has `primal`. Several machines (one per pair of classes)
    are summed up: objectives add, the worst violation and the smallest margin are kept, and `parts` has each.
    Printed, it is a few sentences.
    """

    primal: float
    dual: float
    kkt_violation: float
    """The largest violation of the optimality conditions, in units of the decision function. Of machines that stopped
    on the way, as those of the lectures, a bound on it: how far decision values can be from those of the optimum."""
    margin: float
    """1 / |w|, the distance of the margin from the decision boundary in feature space."""
    iterations: int
    kernel_entries: int
    """Kernel values computed."""
    seconds: float
    dtype: str
    """The precision of the Gram matrix that was trained on. What is certified is the kernel in float64: where the
    matrix is float32, what matters was computed anew, or `primal`, `dual` and the violation allow for its errors."""
    parts: tuple[Certificate, ...] = ()

    @property
    def reached(self) -> float:
        return self.primal

    @property
    def bound(self) -> float:
        return self.dual

    @property
    def duality_gap(self) -> float:
        """How far, at most, the objective is above the optimum."""
        return self.gap

    @property
    def worst(self) -> Certificate:
        """The part with the largest gap as a share of its objective, which a sum may hide; itself if there is one."""
        return max(self.parts, key=lambda part: part.relative_gap, default=self)

    def __str__(self) -> str:
        return " ".join(part for part in (self._optimality(), self._machine(), self._cost()) if part)

    def _optimality(self) -> str:
        if math.isnan(self.primal) or math.isnan(self.dual):
            return "Nothing is known of how close this machine is to the optimum: it was trained elsewhere."
        if math.isinf(self.dual) and self.dual > 0:
            return "No hyperplane separates the classes, so that no machine is the best: a margin does not exist."
        if math.isinf(self.primal) and math.isinf(self.dual):
            return "How close this machine is to the optimum is not known: time was over before. `verify` tells."
        if math.isinf(self.primal):
            known = f"no machine has less than {self.dual:.6g}" if math.isfinite(self.dual) else "nothing more is known"
            return f"The objective is infinite, since conditions are violated that have to hold; {known}."
        if math.isinf(self.dual):
            return f"The objective is {self.primal:.6g}; how far that is from the optimum is not known."
        text = f"The objective is {self.primal:.6g}, and no machine has less than {self.dual:.6g}"
        if self.relative_gap > _FAR:
            far = f", a {self.dual / self.primal:.2g} part" if self.dual > 0 else ""
            text = f"Far from the optimum, or not known to be near: {text[0].lower()}{text[1:]}{far}."
        else:
            text = f"Within {percent(max(self.relative_gap, 0.0))} of the optimum: {text[0].lower()}{text[1:]}."
        if self.parts:
            worst = percent(max(self.worst.relative_gap, 0.0))
            text += f" That is the sum of {len(self.parts)} machines, the worst of them within {worst} of its optimum."
        return text

    def _machine(self) -> str:
        said = []
        if math.isfinite(self.kkt_violation):
            said.append(f"the largest violation of the optimality conditions is {self.kkt_violation:.3g}")
        if 0.0 < self.margin < math.inf:
            said.append(f"the {'smallest ' if self.parts else ''}margin is {self.margin:.4g}")
        return f"{said[0][0].upper()}{'; '.join(said)[1:]}." if said else ""

    def _cost(self) -> str:
        if math.isnan(self.seconds):
            return ""
        steps = f"{self.iterations:,} step{'' if self.iterations == 1 else 's'}"
        values = f", {self.kernel_entries:,} kernel values in {self.dtype}" if self.kernel_entries else ""
        return f"It took {steps}{values} and {self.seconds:.3g} s."

    @classmethod
    def together(cls, parts: tuple[Certificate, ...], kernel_entries: int, seconds: float) -> Certificate:
        """One certificate for several machines."""
        return cls(
            primal=sum(part.primal for part in parts),
            dual=sum(part.dual for part in parts),
            kkt_violation=max(part.kkt_violation for part in parts),
            margin=min(part.margin for part in parts),
            iterations=sum(part.iterations for part in parts),
            kernel_entries=kernel_entries,
            seconds=seconds,
            dtype=parts[0].dtype,
            parts=parts if len(parts) > 1 else (),
        )

    def to_array(self) -> Float64:
        """The numbers as rows, this one's first, then one per part: for model files."""
        names = [field.name for field in dataclasses.fields(self) if field.name not in ("dtype", "parts")]
        return np.array([[getattr(proof, name) for name in names] for proof in (self, *self.parts)], dtype=np.float64)

    @classmethod
    def from_array(cls, rows: Float64, dtype: str) -> Certificate:
        """The inverse of `to_array`."""
        whole, *parts = (
            cls(primal, dual, kkt, margin, int(iterations), int(entries), seconds, dtype)
            for primal, dual, kkt, margin, iterations, entries, seconds in rows.tolist()
        )
        return dataclasses.replace(whole, parts=tuple(parts))


Prove = Callable[[], Certificate]


class Certified:
    """An estimator with a certificate, which is made when somebody asks for it."""

    _known_certificate: Any = _NOT_FITTED
    _prove: Callable[[], Proof] | None = None
    """What makes the certificate, until somebody asks for it."""

    @property
    def certificate_(self) -> Any:
        """How close what was found is to the optimum, in numbers and, printed, in words.

        It is None where a model comes from a file of a version that did not write it.
        """
        if self._prove is not None:
            self._known_certificate, self._prove = self._prove(), None
        if self._known_certificate is _NOT_FITTED:
            raise AttributeError(f"This {type(self).__name__} has no certificate: it is not fitted yet.")
        return self._known_certificate

    @certificate_.setter
    def certificate_(self, certificate: Proof | None) -> None:
        self._known_certificate, self._prove = certificate, None

    def _certify_later(self, prove: Callable[[], Proof]) -> None:
        """A certificate is made when somebody asks for it, since small machines are trained in less time."""
        self._known_certificate, self._prove = None, prove

    def __getstate__(self) -> Any:
        if self._prove is not None:
            self._known_certificate, self._prove = self._prove(), None  # what it is made of is not worth keeping
        return super().__getstate__()


_LOST = 4.0 * float(np.finfo(np.float64).eps)
"""What a sum of products loses of the sum of |x| |z| |b|: entries and sums are rounded, in either direction."""
_NOTHING = 1e-13
"""Losses below this share of the largest output change no digit that is shown."""


def lost_in_double(lengths: Float64, coefficients: Float64, outputs: Float64) -> Float64 | float:
    """About how far K @ coefficients may be off in float64, from the lengths of objects; 0 where that is nothing.

    Where large terms cancel, as those of far objects with large coefficients do, few digits are left of their sum.
    """
    terms = _LOST * np.tensordot(lengths, np.abs(coefficients), axes=1)
    if float(np.max(terms) * lengths.max(initial=0.0)) <= _NOTHING * float(np.abs(outputs).max(initial=0.0)):
        return 0.0
    return np.asarray(np.multiply.outer(lengths, terms))


def unproved(iterations: int, dtype: str) -> Certificate:
    """The certificate of a machine of which nothing is known, since time was over before."""
    return Certificate(math.inf, -math.inf, math.inf, 0.0, iterations, kernel_entries=0, seconds=0.0, dtype=dtype)


def certify(
    problem: LossProblem,
    coefficients: Float64,
    outputs: Float64,
    intercept: Any,
    *,
    iterations: int,
    dtype: str,
    off: Float64 | float = 0.0,
    diagonal: Float64 | None = None,
) -> Certificate:
    """The certificate of given coefficients, from K @ coefficients (`outputs`) alone.

    Where each output may be off by `off`, it tells the worst that this leaves possible; with the values k(x, x) of
    objects (`diagonal`), also the worst that rounding in float64 does.
    """
    if len(outputs) < len(coefficients):  # time was over before they were known
        return unproved(iterations, dtype)
    lengths = None if diagonal is None else np.sqrt(np.abs(diagonal))
    if lengths is not None:
        off = off + lost_in_double(lengths, coefficients, outputs)
    squared = max(float((coefficients * outputs).sum()), 0.0)
    if problem.loss.smooth:
        primal, dual, worst = _by_slopes(problem, coefficients, outputs, intercept, squared, off, lengths)
    else:
        primal, dual, worst = _by_box(problem, coefficients, outputs, intercept, squared, off)
    margin = 1.0 / math.sqrt(squared) if squared > 0 else math.inf
    return Certificate(primal, dual, worst, margin, iterations, kernel_entries=0, seconds=0.0, dtype=dtype)


def _by_slopes(
    problem: LossProblem,
    coefficients: Float64,
    outputs: Float64,
    intercept: Any,
    squared: float,
    off: Float64 | float,
    lengths: Float64 | None,
) -> tuple[float, float, float]:
    """Primal, dual -1/2 b'Kb - sum_i C_i loss*(y_i, -b_i / C_i), and how far b_i is from -C_i slope(y_i, f_i)."""
    used = problem.C > 0
    loss, y, C = problem.loss, problem.y[used], problem.C[used]
    scaled = coefficients[used] / (C if coefficients.ndim == 1 else C[:, None])
    ends = [(end + intercept)[used] for end in _ends(outputs, off)]
    most = squared + float((np.abs(coefficients) * off).sum())
    primal = 0.5 * most + float(C @ np.max([loss.value(y, f) for f in ends], axis=0))
    conjugate = np.asarray(loss.conjugate(y, -scaled))
    beyond = ~np.isfinite(conjugate)
    if not beyond.any() or lengths is None:
        dual = -0.5 * most - float(C @ conjugate)
    else:
        dual = -0.5 * most + _within(problem, coefficients, outputs, intercept, lengths, beyond)
    return primal, dual, max(float(np.abs(scaled + loss.slope(y, f)).max(initial=0.0)) for f in ends)


def _within(
    problem: LossProblem, b: Float64, outputs: Float64, intercept: Any, lengths: Float64, beyond: npt.NDArray[np.bool_]
) -> float:
    """The dual, without -1/2 b'Kb, at the nearest point of its domain that the slopes of the loss give.

    Near the optimum of a loss that saturates, b may lie a little beyond the domain of the dual, where it says nothing.
    With moves m from there, 1/2 b'Kb changes by m'Kb + 1/2 m'Km, which is at most 1/2 (sum_i |m_i| |x_i|)^2 more than
    m'Kb; and what is left of sum(b) = 0 counts with the intercept.
    """
    used = problem.C > 0
    loss, y, C = problem.loss, problem.y[used], problem.C[used]
    penalties = C if b.ndim == 1 else C[:, None]
    slopes = -b[used] / penalties
    slopes[beyond] = np.asarray(loss.slope(y, (outputs + intercept)[used]))[beyond]
    feasible = -penalties * slopes
    moves = feasible - b[used]
    change = float((moves * outputs[used]).sum())
    bend = 0.5 * float(np.square(np.tensordot(lengths[used], np.abs(moves), axes=1)).sum())
    missed = float(np.sum(np.abs(intercept) * np.abs(feasible.sum(axis=0)))) if problem.intercept else 0.0
    return -float(C @ loss.conjugate(y, slopes)) - change - bend - missed


def _ends(outputs: Float64, off: Float64 | float) -> list[Float64]:
    """The ends of the intervals in which outputs lie: convex functions, and their slopes, are largest at an end."""
    return [outputs] if isinstance(off, float) and off == 0.0 else [outputs - off, outputs + off]


def _by_box(
    problem: LossProblem,
    coefficients: Float64,
    outputs: Float64,
    intercept: float,
    squared: float,
    off: Float64 | float,
) -> tuple[float, float, float]:
    """The same where the dual is a box problem, whose optimality conditions need no slope at a kink."""
    box = BoxProblem.of(problem)
    most = squared + float((np.abs(coefficients) * off).sum())
    inside = box.largest_share(coefficients)  # 1, but where a part of the objects stands for all
    dual = -0.5 * inside**2 * most - box.price(inside * coefficients if inside < 1.0 else coefficients)
    worst = box.violation(coefficients, -(outputs + box.linear), off)
    losses = np.max([problem.loss.value(problem.y, end + intercept) for end in _ends(outputs, off)], axis=0)
    return _primal(problem, losses, outputs, intercept, most), dual, worst


def _primal(problem: LossProblem, losses: Float64, outputs: Float64, intercept: float, squared: float) -> float:
    """The objective. Where C is infinite, that of w stretched until every object is on its side of the margin."""
    loss, y, C = problem.loss, problem.y, problem.C
    hard = np.isinf(C)
    if not hard.any():
        return 0.5 * squared + float(C @ losses)
    stretch = 1.0 - float(losses[hard].max(initial=0.0))
    if stretch <= 0:
        return math.inf
    soft = ~hard
    return 0.5 * squared / stretch**2 + float(C[soft] @ loss.value(y[soft], (outputs[soft] + intercept) / stretch))
