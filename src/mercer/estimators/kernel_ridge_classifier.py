"""Classification by kernel ridge regression."""

from __future__ import annotations

import time
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
from mercer.training.kernelised import KernelLike
from mercer.training.ridge_machine import RidgeMachine
from mercer.training.targets import (
    Classes,
    classes_of,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
    width_of,
)


class KernelRidgeClassifier(ClassifierMixin, RidgeMachine):
    """Classes as numbers: kernel ridge regression on targets -1 and +1, one column per class where there are several.

    One factorisation of the Gram matrix serves all classes. Targets may also be a table of zeros and ones with a column
    for each label, any number of which an object may have.

    Parameters
    ----------
    alpha : the penalty on |w|^2.
    kernel, gamma, degree, coef0, memory, psd : as in `SVC`.
    dual : as in `KernelRidge`.
    fit_intercept : whether there is an unpenalised constant.
    class_weight : factors on the weights of objects by class, or ``"balanced"``; for several labels at once a list of
        dicts, one for each.

    >>> from mercer import KernelRidgeClassifier, kernels
    >>> model = KernelRidgeClassifier(kernel=kernels.Spectrum(2))
    >>> model.fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]).predict(["gatta", "gcgc"])
    array([1, 0])
    >>> model.fit(["gattaca", "cgcg", "gattacgcg"], [[1, 0], [0, 1], [1, 1]]).predict(["gcgatt"])
    array([[1, 1]])
    """

    _stored_arrays: ClassVar[dict[str, str]] = {**RidgeMachine._stored_arrays, "classes_": "fiubU"}
    _stored_values: ClassVar[dict[str, type]] = {"_multilabel": bool}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        memory: float | str = "auto",
        psd: str = "warn",
        dual: bool | str = "auto",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.memory = memory
        self.psd = psd
        self.dual = dual

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with one label each, or with a row of zeros and ones each."""
        began = time.monotonic()
        with self._all_or_nothing():
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            weights = sample_weights(sample_weight, objects)
            table = _label_table(y, objects)
            if table is None:
                classes = classes_of(self, y, objects, regressor="KernelRidge")
                refuse_weightless_classes(classes, weights)
                labels, targets = classes.labels, _signs(classes)
            else:
                labels, targets = np.arange(table.shape[1]), 2.0 * table - 1.0
            self._check_features(X, objects, reset=True)
            weights = weights * self._factors(y, table)
            alpha = self._alphas(targets.shape[1])
            self._fit_columns(kernel, objects, targets, weights, alpha, began)
            self.classes_ = labels
            self._multilabel = table is not None
        return self

    def _factors(self, y: Any, table: Float64 | None) -> Float64:
        if self.class_weight is None:
            return np.ones(1)
        given = np.asarray(y) if table is None else table.astype(np.intp)
        return np.asarray(compute_sample_weight(self.class_weight, given), dtype=np.float64)

    def decision_function(self, X: Any) -> Float64:
        """Regression values: for two classes flat, positive for ``classes_[1]``; else one column per class or label."""
        check_is_fitted(self)
        values = self.expansion_(self._new_objects(X, self.kernel_))
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
        targets = 2.0 * table - 1.0 if table is not None else _signs(known_classes(self.classes_, y))
        weights = sample_weights(sample_weight, objects) * self._factors(y, table)
        return self._verified(objects, targets, weights, began)

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

    def _refuse_inconsistent(self) -> None:
        super()._refuse_inconsistent()
        several = self._multilabel or len(self.classes_) > 2
        outputs = len(self.classes_) if several else 1
        if self.classes_.ndim != 1 or self.expansion_.coefficients.shape[1] != outputs:
            raise ModelFileError("classes and coefficients do not fit together.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _signs(classes: Classes) -> Float64:
    """+1 in the column of an object's class, -1 elsewhere; one column for two classes, +1 for the second."""
    n_classes = len(classes.labels)
    own = classes.codes[:, None] == (np.array([1]) if n_classes == 2 else np.arange(n_classes))
    return np.where(own, 1.0, -1.0)


def _label_table(y: Any, objects: Objects) -> Float64 | None:
    """Zeros and ones, a column for each label; None if y is no such table."""
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
