"""Bounds for fitted machines, which provide the numbers in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.errors import ParameterError
from mercer.gram.make import gram_of
from mercer.kernels.precomputed import Precomputed
from mercer.losses.squared_hinge import SquaredHinge
from mercer.theory.ball import enclosing_ball
from mercer.theory.bounds import Bound, margin_bound, radius_margin_bound, support_vector_bound
from mercer.theory.margins import model_margins, weight_norms


def radius_margin_of(model: Any, X: Any) -> Bound:
    """The radius-margin bound of a classifier of two classes with hard margin (C = inf) or squared hinge.

    >>> from mercer import SVC
    >>> model = SVC(kernel="linear", C=float("inf"), tol=1e-9).fit([[-1.0], [1.0]], [0, 1])
    >>> round(radius_margin_of(model, [[-1.0], [1.0]]).value, 6)
    2.0
    """
    if len(model.classes_) != 2:
        raise ParameterError(f"The bound is for two classes; this model has {len(model.classes_)}.")
    squared_hinge = isinstance(getattr(model, "loss_", None), SquaredHinge)
    if not squared_hinge and not math.isinf(model.C):
        raise ParameterError(
            "The radius-margin bound holds for the hard margin and the squared hinge only. Train with C=inf, or with "
            "KernelMachineClassifier(SquaredHinge()); for the hinge see support_vector_bound."
        )
    expansion = model.expansion_
    gram = gram_of(expansion.kernel, expansion.kernel.kernel.coerce(X), dtype=np.float64)
    norm = float(weight_norms(expansion)[0])
    if squared_hinge:
        # Slack is the component of w along an additional feature sqrt(1 / (2C)) of each object.
        K = gram.exact()
        K = K + np.eye(len(K)) / (2.0 * model.C)
        norm = math.sqrt(norm**2 + float(np.square(expansion.coefficients).sum()) / (2.0 * model.C))
        gram = gram_of(Precomputed().fit(K), K, dtype=np.float64)
    intercept = bool(model.fit_intercept)
    radius = enclosing_ball(gram).radius if intercept else math.sqrt(float(gram.diagonal().max()))
    return radius_margin_bound(gram.shape[0], radius, norm, intercept=intercept)


def margin_of(model: Any, X: Any, y: Any) -> Bound:
    """The margin bound of a classifier of two classes, with L and gamma taken from the model and its training objects.

    gamma is the smallest geometric margin; L is the largest |phi(x)|.

    >>> from mercer import SVC
    >>> model = SVC(kernel="linear", C=float("inf"), tol=1e-9).fit([[-1.0], [1.0]], [0, 1])
    >>> round(margin_of(model, [[-1.0], [1.0]], [0, 1]).value, 6)
    0.5
    """
    gamma = float(model_margins(model, X, y).min())
    if gamma <= 0.0:
        raise ParameterError(
            f"The margin bound is for training objects that are separated; the smallest margin of these is "
            f"{gamma:.4g}. Use a larger C, or rademacher_bound."
        )
    fitted = model.expansion_.kernel
    objects = fitted.kernel.coerce(X)
    return margin_bound(len(objects), math.sqrt(float(gram_of(fitted, objects).diagonal().max())), gamma)


def support_vectors_of(model: Any, X: Any) -> Bound:
    """The support vector bound of a fitted classifier; X are its training objects."""
    return support_vector_bound(len(model.expansion_.kernel.kernel.coerce(X)), len(model.expansion_.support))
