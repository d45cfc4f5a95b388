"""Certificates of optimality: primal objective, dual objective and the gap between them."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.gram.executors import ElsewhereError, staying_here
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.problem import LossProblem
from mercer.training.proof import Proof, percent

_NOT_FITTED = object()
_FAR = 0.5
"""A solution with a larger relative gap is not reported as near the optimum."""


@final
@dataclass(frozen=True)
class Certificate(Proof):
    """How close a machine is to the optimum of 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)).

    The objective is `primal`, and no machine can have a lower one than `dual`. Several machines (one per pair of
    classes) share a certificate: it has the sum of their objectives, the worst violation and the smallest margin, and
    `parts` has each. Printed, it is a few sentences.
    """

    primal: float
    dual: float
    kkt_violation: float
    """The largest violation of the optimality conditions, in units of the decision function. For machines that stopped
    early, such as those of the lectures, a bound: how far decision values can be from the optimal ones."""
    margin: float
    """1 / |w|, the distance of the margin from the decision boundary in feature space."""
    iterations: int
    kernel_entries: int
    """The number of kernel values computed."""
    seconds: float
    dtype: str
    """The precision of the Gram matrix used for training. The certificate is about the kernel in float64: if the matrix
    is float32, the relevant values were recomputed, or `primal`, `dual` and the violation allow for its errors."""
    parts: tuple[Certificate, ...] = ()

    @property
    def reached(self) -> float:
        return self.primal

    @property
    def bound(self) -> float:
        return self.dual

    @property
    def duality_gap(self) -> float:
        """An upper bound on how far the objective is above the optimum."""
        return self.gap

    @property
    def worst(self) -> Certificate:
        """The part with the largest relative gap, which a sum may hide; the certificate itself if it has no parts."""
        return max(self.parts, key=lambda part: part.relative_gap, default=self)

    def __str__(self) -> str:
        return " ".join(part for part in (self._optimality(), self._machine(), self._cost()) if part)

    def _optimality(self) -> str:
        if math.isnan(self.primal) or math.isnan(self.dual):
            return "It is not known how close this machine is to the optimum: it was trained elsewhere."
        if math.isinf(self.dual) and self.dual > 0:
            return "No hyperplane separates the classes, so there is no margin and no optimal machine."
        if math.isinf(self.primal) and math.isinf(self.dual):
            return "It is not known how close this machine is to the optimum: time ran out first. Use `verify`."
        if math.isinf(self.primal):
            known = f"no machine has less than {self.dual:.6g}" if math.isfinite(self.dual) else "nothing more is known"
            return f"The objective is infinite, because hard constraints are violated; {known}."
        if math.isinf(self.dual):
            return f"The objective is {self.primal:.6g}; how far that is from the optimum is not known."
        text = f"The objective is {self.primal:.6g}, and no machine has less than {self.dual:.6g}"
        if self.relative_gap > _FAR:
            far = f", which is {percent(self.dual / self.primal)} of it" if self.dual > 0 else ""
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
        """Combine the certificates of several machines."""
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
        """The numbers as rows for model files: first this certificate, then one row per part."""
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
    """An estimator whose certificate is computed on first access."""

    _known_certificate: Any = _NOT_FITTED
    _prove: Callable[[], Proof] | None = None
    """Computes the certificate; None once it has been computed."""

    @property
    def certificate_(self) -> Any:
        """How close the solution is to the optimum: numbers that print as sentences.

        None if the model was loaded from a file of an older version that did not store it.
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
        """Compute the certificate only on first access: for small machines it takes longer than training."""
        self._known_certificate, self._prove = None, prove

    def __getstate__(self) -> Any:
        """Include the certificate, which is computed now; if that would need a cluster, the copy has none."""
        if self._prove is not None:
            with contextlib.suppress(ElsewhereError), staying_here():
                self._known_certificate, self._prove = self._prove(), None  # its ingredients are not worth pickling
        state: Any = super().__getstate__()
        return state if self._prove is None else dict(state, _prove=None)


_LOST = 4.0 * float(np.finfo(np.float64).eps)
"""The rounding error of a sum of products, relative to the sum of |x| |z| |b|: entries and sums are both rounded."""
_NOTHING = 1e-13
"""Errors below this fraction of the largest output change no digit that is shown."""


def lost_in_double(lengths: Float64, coefficients: Float64, outputs: Float64) -> Float64 | float:
    """An estimate of the error of K @ coefficients in float64, from the norms of the objects; 0 if negligible.

    If large terms cancel, such as those of distant objects with large coefficients, their sum has few correct digits.
    """
    terms = _LOST * np.tensordot(lengths, np.abs(coefficients), axes=1)
    if float(np.max(terms) * lengths.max(initial=0.0)) <= _NOTHING * float(np.abs(outputs).max(initial=0.0)):
        return 0.0
    return np.asarray(np.multiply.outer(lengths, terms))


def unknown_certificate(iterations: int, dtype: str) -> Certificate:
    """The certificate of a machine about which nothing is known, because time ran out."""
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
    """The certificate of given coefficients, computed from K @ coefficients (`outputs`) alone.

    `off` bounds the error of each output, and the certificate states the worst case it allows. Given the values k(x, x)
    (`diagonal`), it also allows for rounding in float64.
    """
    if len(outputs) < len(coefficients):  # time ran out before they were computed
        return unknown_certificate(iterations, dtype)
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
    """The dual, without -1/2 b'Kb, at the nearest point of its domain, found from the slopes of the loss.

    Near the optimum of a loss that saturates, b may lie slightly outside the domain of the dual, where there is no
    bound. If b is moved by m, 1/2 b'Kb changes by m'Kb + 1/2 m'Km, which is at most 1/2 (sum_i |m_i| |x_i|)^2 more than
    m'Kb. An intercept requires sum(b) = 0: some objects inside the domain are moved to restore it.
    """
    used = problem.C > 0
    loss, y, C = problem.loss, problem.y[used], problem.C[used]
    penalties = C if b.ndim == 1 else C[:, None]
    slopes = -b[used] / penalties
    slopes[beyond] = np.asarray(loss.slope(y, (outputs + intercept)[used]))[beyond]
    if problem.intercept:
        slopes = _balanced(problem, slopes, outputs[used])
        if not np.isfinite(slopes).all():
            return -math.inf
    moves = -penalties * slopes - b[used]
    change = float((moves * outputs[used]).sum())
    bend = 0.5 * float(np.square(np.tensordot(lengths[used], np.abs(moves), axes=1)).sum())
    return -float(C @ loss.conjugate(y, slopes)) - change - bend


def _balanced(problem: LossProblem, slopes: Float64, outputs: Float64) -> Float64:
    """Slopes inside the domain of the dual whose sum, each times its penalty, is zero.

    The remainder is taken from the object where that costs least; if none has room for it, two objects share it, or
    four. If no objects have room, there is no such point and so no bound: all slopes are infinite.
    """
    used = problem.C > 0
    loss, y, C = problem.loss, problem.y[used], problem.C[used]
    for rest in _transfers(np.asarray(C @ slopes)):
        before, parts = np.asarray(loss.conjugate(y, slopes)), 1
        while True:
            step = np.multiply.outer(1.0 / (parts * C), rest)
            price = C * (np.asarray(loss.conjugate(y, slopes - step)) - before)
            cost = price + np.tensordot(outputs, rest / parts, rest.ndim)
            cheapest = np.argsort(cost, kind="stable")[:parts]
            if np.isfinite(cost[cheapest]).all():
                break
            parts *= 2
            if parts > len(C):
                return np.full_like(slopes, np.inf)
        slopes = slopes.copy()
        slopes[cheapest] -= step[cheapest]
    return slopes


def _transfers(rest: Float64) -> Iterator[Float64]:
    """What to move: a number for a single column; for several columns, which add up to zero, from one column to
    another.
    """
    if rest.ndim == 0:
        yield rest
        return
    left = rest.copy()
    for _ in range(len(rest) - 1):
        most, least = int(left.argmax()), int(left.argmin())
        moved = np.zeros(len(rest))
        moved[most] = min(left[most], -left[least])
        moved[least] = -moved[most]
        if moved[most] <= 0.0:
            return
        left -= moved
        yield moved


def _ends(outputs: Float64, off: Float64 | float) -> list[Float64]:
    """The ends of the intervals that contain the outputs: a convex function and its slope are largest at an end."""
    return [outputs] if isinstance(off, float) and off == 0.0 else [outputs - off, outputs + off]


def _by_box(
    problem: LossProblem,
    coefficients: Float64,
    outputs: Float64,
    intercept: float,
    squared: float,
    off: Float64 | float,
) -> tuple[float, float, float]:
    """The same if the dual is a box problem, whose optimality conditions need no slope at a kink."""
    box = BoxProblem.of(problem)
    most = squared + float((np.abs(coefficients) * off).sum())
    inside = box.largest_share(coefficients)  # 1, unless the machine was trained on a part of the objects
    feasible = inside * coefficients if inside < 1.0 else coefficients
    dual = -0.5 * inside**2 * most - box.price(feasible)
    lost = _LOST * float(np.abs(box.linear) @ np.abs(feasible))  # if terms cancel, relative to their sum
    dual -= lost if lost > _NOTHING * abs(dual) else 0.0
    worst = box.violation(coefficients, -(outputs + box.linear), off)
    losses = np.max([problem.loss.value(problem.y, end + intercept) for end in _ends(outputs, off)], axis=0)
    return _primal(problem, losses, outputs, intercept, most), dual, worst


def _primal(problem: LossProblem, losses: Float64, outputs: Float64, intercept: float, squared: float) -> float:
    """The objective. If C is infinite, w is first scaled until every object is on its side of the margin."""
    loss, y, C = problem.loss, problem.y, problem.C
    hard = np.isinf(C)
    if not hard.any():
        return 0.5 * squared + float(C @ losses)
    stretch = 1.0 - float(losses[hard].max(initial=0.0))
    if stretch <= 0:
        return math.inf
    soft = ~hard
    return 0.5 * squared / stretch**2 + float(C[soft] @ loss.value(y[soft], (outputs[soft] + intercept) / stretch))
