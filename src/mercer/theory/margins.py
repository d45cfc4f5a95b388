"""Margins of hyperplanes and of fitted machines.

The hyperplane is {x : w.x + b = 0}. The **functional margin** of a labelled object is y (w.x + b): positive when it is
classified correctly, and larger when w is scaled up. The **geometric margin** divides by |w|: the signed distance from
the hyperplane, which no scaling changes. The margin of a data set is that of its worst object.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.errors import InputError, KernelError
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of


def functional_margins(w: Any, b: float, X: Any, y: Any) -> Float64:
    """y_i (w.x_i + b) of each object; y is -1 or +1.

    >>> functional_margins([1, 1], -1, [[1, 1]], [1])
    array([1.])
    """
    scores = _scores(w, b, X)
    signs = signs_of(y)
    if signs.shape != scores.shape:
        raise InputError(f"One label per object is needed: got {len(scores)} objects and {len(signs)} labels.")
    return signs * scores


def geometric_margins(w: Any, b: float, X: Any, y: Any) -> Float64:
    """y_i (w.x_i + b) / |w| of each object: its distance from the hyperplane, negative on the wrong side.

    >>> geometric_margins([1, 1], -1, [[1, 1]], [1]).round(6)
    array([0.707107])
    """
    return functional_margins(w, b, X, y) / _length(w)


def margin(w: Any, b: float, X: Any, y: Any) -> float:
    """The geometric margin of a data set: the smallest margin of its objects, negative if one is misclassified.

    >>> margin([1, 0], 0, [[2, 5], [-3, 1]], [1, -1])
    2.0
    """
    return float(geometric_margins(w, b, X, y).min())


def distances(w: Any, b: float, X: Any) -> Float64:
    """|w.x + b| / |w|: the distance of each point from the hyperplane, on either side.

    >>> distances([1, 2], 0, [[1, 1]]).round(2)
    array([1.34])
    """
    return np.abs(_scores(w, b, X)) / _length(w)


def canonical(w: Any, b: float, X: Any) -> tuple[Float64, float]:
    """The same hyperplane, scaled so that the nearest point has |w.x + b| = 1: then its distance is 1 / |w|.

    >>> w, b = canonical([3, 3], -3, [[1, 1], [0, 0]])
    >>> w, b
    (array([1., 1.]), -1.0)
    """
    nearest = float(np.abs(_scores(w, b, X)).min())
    if nearest == 0:
        raise InputError("A point lies on the hyperplane, so no scaling gives it the score 1: the margin is 0.")
    return np.asarray(w, dtype=np.float64) / nearest, float(b) / nearest


def weight_norms(expansion: Expansion) -> Float64:
    """|w| of each output in feature space: sqrt(c'Kc), with c the coefficients of the support objects."""
    c = expansion.coefficients
    if not len(expansion.support):
        return np.zeros(c.shape[1])
    K = gram_of(expansion.kernel, expansion.support, dtype=np.float64)
    squared = np.einsum("ij,ij->j", c, K.matvec(c))
    if (squared < -1e-9 * np.abs(squared).max()).any():
        raise KernelError(
            f"|w|^2 = c'Kc is negative ({squared.min():g}): {expansion.kernel.kernel} is not positive semi-definite, "
            "so there is no feature space in which to measure a margin."
        )
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def model_margins(model: Any, X: Any, y: Any) -> Float64:
    """Geometric margins y f(x) / |w| in the feature space of a fitted classifier of two classes.

    >>> from mercer import SVC
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model_margins(SVC(kernel="linear", C=float("inf"), tol=1e-9).fit(X, y), X, y).round(6)
    array([2., 1., 1., 2.])
    """
    expansion: Expansion = model.expansion_
    if len(model.classes_) != 2:
        raise InputError(f"Margins are defined for two classes; this model has {len(model.classes_)}.")
    length = float(weight_norms(expansion)[0])
    if length == 0:
        raise InputError("w = 0: this model has no hyperplane, and so no margin.")
    labels = np.asarray(y)
    if not np.isin(labels, model.classes_).all():
        raise InputError(f"A label is not among the classes of the model, {model.classes_.tolist()}.")
    signs = np.where(labels == model.classes_[1], 1.0, -1.0)
    margins: Float64 = signs * model.decision_function(X) / length
    return margins


def signs_of(y: Any) -> Float64:
    """Labels -1 and +1 as floats; refuses anything else."""
    signs = np.asarray(y, dtype=np.float64)
    if signs.ndim != 1 or not np.isin(signs, (-1.0, 1.0)).all():
        raise InputError("Labels must be -1 or +1 here, one per object. For 0 and 1 use 2 * y - 1.")
    return signs


def _scores(w: Any, b: float, X: Any) -> Float64:
    weights, points = np.asarray(w, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if weights.ndim != 1 or points.ndim != 2 or points.shape[1] != len(weights) or not len(points):
        raise InputError(
            f"X must be rows of as many numbers as w has: got X of shape {points.shape}, w of {weights.shape}."
        )
    if not (np.isfinite(weights).all() and np.isfinite(points).all() and np.isfinite(b)):
        raise InputError("w, b and X must be finite.")
    return np.asarray(points @ weights + float(b))


def _length(w: Any) -> float:
    length = float(np.linalg.norm(np.asarray(w, dtype=np.float64)))
    if length == 0:
        raise InputError("w = 0 is the normal of no hyperplane.")
    return length
