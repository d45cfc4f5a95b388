"""Classification by kernel ridge regression."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer._types import Float64
from mercer.errors import InputError, ModelFileError
from mercer.inputs.base import Objects, refuse_masked
from mercer.training.certificate import Certificate
from mercer.training.choices import Dual
from mercer.training.explanation import By, Explanation, explanations
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import GramSettings, Recomputed
from mercer.training.parameters import KernelParameters
from mercer.training.ridge import RidgeProblem, certify_ridge, checked_alpha, fit_ridge, zero_weights
from mercer.training.storing import MACHINE, ArrayField, Field, ValueField, one_against_rest
from mercer.training.targets import (
    classes_of,
    given_targets,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
    signs_against_rest,
    width_of,
)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRidgeClassifier(ClassifierMixin, KernelParameters, KernelEstimator):
    """Classification by kernel ridge regression on targets -1 and +1, with one column per class if there are several.

    One factorisation of the Gram matrix serves all classes. Targets may also be a table of zeros and ones with one
    column per label, for objects with any number of labels.

    Parameters
    ----------
    alpha : the penalty on |w|^2.
    kernel, gamma, degree, coef0, memory, time_limit, psd : as in `SVC`.
    dual : as in `KernelRidge`.
    fit_intercept : whether to fit an unpenalised constant.
    class_weight : factors on the weights of objects by class, or ``"balanced"``; for several labels at once a list of
        dicts, one for each.

    Attributes
    ----------
    classes_ : the labels, sorted.
    dual_coef_, intercept_, kernel_, expansion_, certificate_ : as in `KernelRidge`.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelRidgeClassifier, kernels
    >>> model = KernelRidgeClassifier(kernel=kernels.Spectrum(2))
    >>> model.fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]).predict(["gatta", "gcgc"])
    array([1, 0])
    >>> model.fit(["gattaca", "cgcg", "gattacgcg"], [[1, 0], [0, 1], [1, 1]]).predict(["gcgatt"])
    array([[1, 1]])
    """

    alpha: float = field(default=1.0, kw_only=False)
    coef0: float = 1.0
    fit_intercept: bool = True
    class_weight: Any = None
    dual: Dual = "auto"

    _precision = np.float64
    _fields: ClassVar[Mapping[str, Field]] = {
        **MACHINE,
        "_alpha": ArrayField("f", "outputs"),
        "_weights": ArrayField("f", "rows"),
        "classes_": ArrayField("fiubUO", "classes"),  # a table may have a single label
        "_multilabel": ValueField(bool),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X with one label each, or with a row of zeros and ones; blocks have their own."""
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            weights = sample_weights(sample_weight, objects)
            y = given_targets(y, objects)
            table = _label_table(y, objects)
            if table is None:
                classes = classes_of(self, y, objects, regressor="KernelRidge")
                refuse_weightless_classes(classes, weights)
                labels, targets = classes.labels, np.column_stack(signs_against_rest(classes))
            else:
                labels, targets = np.arange(table.shape[1]), 2.0 * table - 1.0
            self._check_features(X, objects, reset=True)
            given, weights = weights, weights * self._factors(y, table)
            alphas = checked_alpha(owner, self.alpha, targets.shape[1])
            fitted = self._fit_kernel(kernel, objects, given)
            settings = GramSettings(owner, self.dual, self.memory, self.psd, self._precision)
            problem = RidgeProblem(targets, weights, alphas, bool(self.fit_intercept))
            found = fit_ridge(problem, settings, fitted, objects, self._limits(), began)
        self.kernel_, self._alpha = fitted, alphas
        self.expansion_, self._repair, prove = found
        weights = np.broadcast_to(weights, len(objects))
        self._weights = weights if len(self.expansion_.support) == len(weights) else zero_weights(self.expansion_)
        self._certify_later(prove)
        self.classes_, self._multilabel = labels, table is not None
        return self

    def _factors(self, y: Any, table: Float64 | None) -> Float64:
        if self.class_weight is None:
            return np.ones(1)
        given = np.asarray(y) if table is None else table.astype(np.intp)
        return np.asarray(compute_sample_weight(self.class_weight, given), dtype=np.float64)

    def decision_function(self, X: Any) -> Float64:
        """Regression values: for two classes flat, positive for ``classes_[1]``; else one column per class or label."""
        values = self._outputs(X)
        return values[:, 0] if values.shape[1] == 1 and not self._multilabel else values

    def predict(self, X: Any) -> Any:
        """The predicted label of each object, or its row of zeros and ones."""
        values = self.decision_function(X)
        if self._multilabel:
            return (values > 0).astype(np.intp)
        winners = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winners]

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        table = _label_table(y, objects)
        if table is None:
            targets = np.column_stack(signs_against_rest(known_classes(self.classes_, y)))
        else:
            targets = 2.0 * table - 1.0
        weights = sample_weights(sample_weight, objects) * self._factors(y, table)
        problem = RidgeProblem(targets, weights, self._alpha, bool(self.fit_intercept))
        found = Recomputed.of(self.expansion_, self._repair, slice(None), objects)
        return certify_ridge(problem, found, self.expansion_.intercept, time.monotonic() - began)

    def explain(self, X: Any, by: By = "auto") -> list[Explanation]:
        """What every part of each object adds to its decision value, as in `SVC`."""
        return explanations(*self._machine_and_objects(X), by=by, support=getattr(self, "support_", None))

    @property
    def dual_coef_(self) -> Float64:
        """Coefficients of training objects, one column per output."""
        check_is_fitted(self)
        return self.expansion_.coefficients

    @property
    def intercept_(self) -> Float64:
        """The constant of each output."""
        check_is_fitted(self)
        return self.expansion_.intercept

    def _restored(self) -> None:
        n = len(self.classes_)
        if self.expansion_.coefficients.shape[1] != (n if self._multilabel else one_against_rest(n)):
            raise ModelFileError("classes and coefficients do not fit together.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _label_table(y: Any, objects: Objects) -> Float64 | None:
    """Zeros and ones, one column per label; None if y is not such a table."""
    refuse_masked(y, "y")
    if width_of(y) == 1 or type_of_target(y) != "multilabel-indicator":
        return None
    given: Any = y
    table = np.asarray(given.toarray() if sp.issparse(y) else y, dtype=np.float64)
    if len(table) != len(objects):
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{len(objects)}, {len(table)}]. "
            "X and y must have one entry per object each."
        )
    return table
