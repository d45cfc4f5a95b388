"""What is true of a fitted learner, from its public attributes alone, in more digits than float64 has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .cases import Case

Wide = np.longdouble


@dataclass(frozen=True)
class Truth:
    """Objectives of the machine, and by how much it misses optimality."""

    primal: float
    dual: float
    violation: float
    lost: float
    """What float64 may lose of an output."""
    scale: float
    """Of the terms that the objectives are made of."""
    beyond: bool = False
    """Whether the machine lies beyond the domain of the dual, where `dual` is that of a point nearby: no bound."""


def gram(case: Case) -> Any:
    """The kernel, from its formula."""
    X = case.X.astype(Wide)
    if case.kernel == "linear":
        return X @ X.T
    if case.kernel == "polynomial":
        return (Wide(case.gamma) * (X @ X.T) + 1) ** 2
    differences = X[:, None] - X[None]
    if case.kernel == "rbf":
        return np.exp(-Wide(case.gamma) * (differences**2).sum(-1))
    return np.exp(-Wide(float(np.sqrt(case.gamma))) * np.abs(differences).sum(-1))


def truth(case: Case, model: Any) -> Truth:
    """Of SVC, SVR, KernelLogisticRegression and KernelRidge."""
    K, n = gram(case), len(case.X)
    b = np.zeros(n, dtype=Wide)
    if case.learner == "KernelRidge":
        b[:] = np.ravel(model.dual_coef_)
        constant = 0.0
    else:
        coefficients = model.dual_coef_
        b[model.support_] = np.ravel(coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients)
        constant = float(np.ravel(model.intercept_)[0])
    outputs = K @ b
    f, C, squared = outputs + constant, case.C * case.weights.astype(Wide), b @ outputs
    loss, conjugate, violation = _terms(case, b, f, C)
    lengths = np.sqrt(np.abs(np.diag(K)))
    lost = 16 * np.finfo(float).eps * float(lengths.max() * (lengths @ np.abs(b)))
    terms = float(squared + C @ loss + np.abs(conjugate).sum())
    share = (Wide(2) * case.y - 1) * b / C if case.learner == "KernelLogisticRegression" else np.zeros(1)
    return Truth(
        float(squared / 2 + C @ loss), float(-squared / 2 - conjugate.sum()), float(violation), lost,
        terms + float(C.sum()) * lost + float(np.abs(b).sum()) * lost, bool(((share < 0) | (share > 1)).any()),
    )  # fmt: skip


def _terms(case: Case, b: Any, f: Any, C: Any) -> tuple[Any, Any, Any]:
    """Losses, C times their conjugates at -b / C, and the largest violation."""
    if case.learner == "KernelRidge":
        y = case.y.astype(Wide)
        return (y - f) ** 2 / 2, b * b / (2 * C) - b * y, np.abs(b / C - (y - f)).max()
    if case.learner == "SVR":
        y, epsilon = case.y.astype(Wide), Wide(case.epsilon)
        loss = np.maximum(np.abs(y - f) - epsilon, 0)
        rise, fall = y - f - np.where(b >= 0, epsilon, -epsilon), y - f - np.where(b > 0, epsilon, -epsilon)
        return loss, epsilon * np.abs(b) - b * y, _gap(rise, fall, b < C, b > -C)
    signs = Wide(2) * case.y - 1
    if case.learner == "SVC":
        rise = signs - f
        upper, lower = np.where(signs > 0, C, 0), np.where(signs > 0, 0, -C)
        gap = _gap(rise, rise, b < upper, b > lower) if case.intercept else _one_sided(rise, b < upper, b > lower)
        return np.maximum(1 - signs * f, 0), -signs * b, gap
    share = np.clip(signs * b / C, 0, 1)
    entropy = np.where(share > 0, share * np.log(np.where(share > 0, share, 1)), 0)
    rest = 1 - share
    entropy = entropy + np.where(rest > 0, rest * np.log(np.where(rest > 0, rest, 1)), 0)
    slope = signs / (1 + np.exp(np.clip(signs * f, -11000, 11000)))
    return np.logaddexp(0, -signs * f), C * entropy, np.abs(b / C - slope).max()


def _gap(rise: Any, fall: Any, may_rise: Any, may_fall: Any) -> Any:
    highest = np.where(may_rise, rise, -np.inf).max(initial=-np.inf)
    lowest = np.where(may_fall, fall, np.inf).min(initial=np.inf)
    return max(highest - lowest, 0) if np.isfinite(highest - lowest) else 0


def _one_sided(slopes: Any, may_rise: Any, may_fall: Any) -> Any:
    highest = np.where(may_rise, slopes, -np.inf).max(initial=-np.inf)
    return max(highest, -np.where(may_fall, slopes, np.inf).min(initial=np.inf), 0)
