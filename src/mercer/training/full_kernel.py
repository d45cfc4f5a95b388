"""A bound on how far a machine on an approximate kernel is from the exact machine on the kernel itself.

The Nystrom approximation is the kernel after a projection of feature space, so its machine f has the same outputs and
the same |w| there: P = 1/2 |w|^2 + sum_i C_i loss(y_i, f_i) is also its objective among all machines of the full kernel
K. Its dual coefficients b keep their bounds and their sum, whatever the kernel. So by weak duality no machine of K has
an objective below

    D(t) = -1/2 t^2 b'Kb - sum_i C_i loss*(y_i, -t b_i / C_i),   0 <= t <= 1,

and the excess of f over the best one is at most P - max_t D(t). (The best t is at most 1, as b'Kb is at least what it
is on the approximation.) b'Kb takes one pass over the matrix. For very many objects it is estimated from sampled rows,
drawn with probability proportional to the part that the landmarks miss, and the bound holds with high probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.optimize
from sklearn.base import is_classifier, is_regressor

from mercer import _check
from mercer._types import Float64, Indices
from mercer.errors import KernelError
from mercer.gram.block_rows import rows_of_features
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.vectors import squared_lengths
from mercer.kernels.base import FittedKernel
from mercer.solvers.problem import LossProblem
from mercer.solvers.weights.problem import balanced

EXACT_ROWS = 300_000
"""Up to this many objects b'Kb is computed exactly: minutes for kernels on vectors."""
_SAMPLED_ROWS = 2048
"""Sampled rows for an estimate of b'Kb: its error falls with the square root of their number."""
_DEVIATIONS = 2.576
"""Half the width of a two-sided 99 % interval, in standard errors."""
_USELESS = 1.0
"""Bounds above this fraction of the exact machine's objective are not shown: "at most twice the optimum" is no help."""


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """One machine: its problem over the objects at `ids`, and its columns of coefficients."""

    problem: LossProblem
    ids: Indices
    columns: Any


@final
@dataclass(frozen=True, eq=False)
class FullView:
    """A machine on an approximate kernel, in the feature space of the full one."""

    length: Float64
    """|w|^2 of each output."""
    outputs: Float64
    energy: Float64
    """b'Kb of each output, or an upper bound on it that holds with high probability."""
    diagonal: Float64
    """Of the full matrix."""
    trace_left: float
    sampled_rows: int

    @classmethod
    def of(cls, expansion: Expansion, b: Float64, objects: Objects, exact_rows: int) -> FullView:
        """Of this expansion, and of dual coefficients b, one row per training object."""
        full = full_kernel_of(expansion)
        machine = expansion.condensed()
        seen = squared_lengths(rows_of_features(expansion.kernel, objects, hold=False))
        whole = full.diagonal(full.features(objects))
        sampled = 0 if len(objects) <= exact_rows else min(_SAMPLED_ROWS, len(objects))
        if sampled:
            image = Expansion(expansion.kernel, objects, b, np.zeros(b.shape[1])).condensed()
            energy = _sampled_energy(full, objects, b, image, np.maximum(whole - seen, 0.0), sampled)
        else:
            energy = (b * gram_of(full, objects).matvec(b)).sum(axis=0)
        left = max(0.0, 1.0 - float(seen.sum()) / max(float(whole.sum()), np.finfo(float).tiny))
        return cls(_squared(full, machine), machine(objects), energy, whole, left, sampled)


@final
@dataclass(frozen=True)
class Excess:
    """The objective of an approximate machine, and a lower bound on the objective of any machine with the full
    kernel.
    """

    primal: float
    bound: float
    trace_left: float
    """The fraction of the trace of the full matrix that the approximation misses."""
    sampled_rows: int = 0
    """Rows from which b'Kb was estimated, so the bound holds with 99 % probability; 0 if it is exact."""
    held_out: int = 0
    """Objects that the approximate machine was scored on ..."""
    score: float = math.nan
    """... and its `score` on them: the accuracy for classes, R^2 for numbers."""
    by_accuracy: bool = True
    """Whether that is an accuracy."""

    @property
    def excess(self) -> float:
        """An upper bound on how far the objective is above the objective of the exact machine."""
        return self.primal - self.bound

    @property
    def share(self) -> float:
        """The same relative to the exact machine's objective, or more; infinite if the bound is trivial."""
        if self.primal < 0.0:  # that of the exact machine is even further below zero
            return self.excess / -self.primal
        return self.excess / self.bound if self.bound > 0 else math.inf

    def __str__(self) -> str:
        left = f"the landmarks leave {self.trace_left:.2g} of the trace{self._scored()}"
        if not self.share < _USELESS:
            return f"Nothing useful is known about the exact machine's objective; {left}. Take more landmarks."
        chance = f", with 99 % probability ({self.sampled_rows:,} rows sampled)" if self.sampled_rows else ""
        return f"At most {100 * self.share:.2g} % above the exact machine's objective{chance}; {left}."

    def _scored(self) -> str:
        if not self.held_out:
            return ""
        said = f"it is right for {100 * self.score:.3g} %" if self.by_accuracy else f"its score is {self.score:.3g}"
        return f"; on {self.held_out:,} objects held out, {said}"


def excess_of(
    expansion: Expansion, coefficients: Float64, claims: Sequence[Claim], objects: Objects, exact_rows: int = EXACT_ROWS
) -> Excess:
    """The bound for these machines together; `coefficients` are dual, one row per training object."""
    full_kernel_of(expansion)
    if not all(np.isfinite(claim.problem.C).all() for claim in claims):
        raise KernelError("A hard margin (C = inf) has no objective to compare: there is no bound for it.")
    b = coefficients.copy()
    for claim in claims:
        if claim.problem.intercept and claim.problem.outputs == 1:
            b[claim.ids, claim.columns] = balanced(b[claim.ids, claim.columns])
    view = FullView.of(expansion, b, objects, exact_rows)
    primal = bound = 0.0
    for claim in claims:
        problem, pick = claim.problem, claim.columns
        f, own = view.outputs[claim.ids][:, pick], b[claim.ids][:, pick]
        primal += 0.5 * float(np.sum(view.length[pick])) + float(problem.C @ problem.loss.value(problem.y, f))
        bound += _best_dual(problem, own, float(np.sum(view.energy[pick])))
    return Excess(primal, bound, view.trace_left, view.sampled_rows)


def full_kernel_of(expansion: Expansion) -> FittedKernel:
    """The kernel that landmarks approximate."""
    features = expansion.kernel.feature_map()
    full = None if features is None else features.approximates
    if full is None:
        raise KernelError(
            f"{expansion.kernel.kernel} is not a projection of another kernel, so there is no exact machine to compare "
            "with. Kernels seen through landmarks are: kernels.Nystrom(kernel)."
        )
    return full


def scored_on(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """The score of a machine on objects that it has not seen, as fields of `Excess`."""
    if not (is_classifier(estimator) or is_regressor(estimator)):
        owner = type(estimator).__name__
        raise _check.fail(owner, "held_out", "None for a learner without predictions to score", X)
    objects = estimator.kernel_.kernel.coerce(X)
    score = float(estimator.score(objects, y))
    return {"held_out": len(objects), "score": score, "by_accuracy": is_classifier(estimator)}


def _squared(full: FittedKernel, machine: Expansion) -> Float64:
    """|w|^2 of each output of an expansion over landmarks."""
    c = machine.coefficients
    return np.asarray((c * gram_of(full, machine.support, dtype=np.float64).matvec(c)).sum(axis=0))


def _sampled_energy(
    full: FittedKernel, objects: Objects, b: Float64, image: Expansion, unseen: Float64, rows: int
) -> Float64:
    """An upper bound on b'Kb of each output: exact in the span of the landmarks, the rest estimated from rows."""
    chance = np.abs(b).sum(axis=1) * np.sqrt(unseen)
    exact = _squared(full, image)
    if not chance.sum() > 0.0:
        return exact
    chance = chance / chance.sum()
    drawn = np.random.default_rng(0).choice(len(chance), size=rows, p=chance)
    part = objects.take(drawn)
    beyond = gram_of(full, part, objects).matvec(b) - image(part)
    terms = b[drawn] * beyond / chance[drawn][:, None]
    spread = terms.std(axis=0, ddof=1) / math.sqrt(rows)
    return np.asarray(exact + np.maximum(terms.mean(axis=0) + _DEVIATIONS * spread, 0.0))


def _best_dual(problem: LossProblem, b: Float64, energy: float) -> float:
    """max over t in [0, 1] of the dual objective at t b, on a matrix with b'Kb = energy."""
    used = problem.C > 0
    y, C, b = problem.y[used], problem.C[used], b[used]
    dual = None if problem.loss.joint else problem.loss.dual(y, C)

    def value(t: float) -> float:
        scaled = t * b
        if dual is not None:
            price = dual.price(scaled).sum()
        else:
            price = C @ problem.loss.conjugate(y, -scaled / (C if b.ndim == 1 else C[:, None]))
        found = -0.5 * t * t * energy - float(price)
        return found if math.isfinite(found) else -math.inf

    best = scipy.optimize.minimize_scalar(lambda t: -value(t), bounds=(0.0, 1.0), method="bounded")
    return max(value(float(best.x)), value(1.0), value(0.0))
