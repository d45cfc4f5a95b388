"""Linear support vector classification."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from mercer import _check
from mercer._progress import reporting
from mercer._stored import Stored
from mercer.errors import InputError, ModelFileError
from mercer.estimators.certificate import Certificate
from mercer.estimators.linear_machine import LinearMachine, refuse_overflow, used_problem
from mercer.estimators.targets import Classes, class_weights, classes_of, refuse_weightless_classes, sample_weights
from mercer.gram.executors import single_threaded_blas
from mercer.losses.base import Loss
from mercer.losses.hinge import Hinge
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers import linear
from mercer.solvers.linear_problem import LinearProblem, LinearSolution

Float64 = npt.NDArray[np.float64]

_LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


class LinearSVC(ClassifierMixin, LinearMachine):
    """Linear support vector classification: the machine of `SVC(kernel="linear")`, trained on its weights.

    For two classes it minimises 1/2 |w|^2 + C sum_i loss(y_i, <w, x_i> + c); for more, each class against the rest. A
    drop-in for scikit-learn's LinearSVC, with the same attributes, except that the intercept c is not penalised unless
    `intercept_scaling` says so.

    Up to about a thousand features: Newton's method, for the hinge on ever closer smooth losses. More: dual coordinate
    descent, where an unpenalised intercept takes more epochs.

    Parameters
    ----------
    penalty : ``"l2"``; there is no other.
    loss : ``"squared_hinge"``, or ``"hinge"``, the loss of `SVC`.
    dual : ``"auto"`` chooses as above; True for dual coordinate descent, False for Newton's method (with conjugate
        gradients where features are many), which the hinge is not smooth enough for.
    tol : training ends once the duality gap is at most so much of the objective.
    C : the penalty on slack, in (0, inf).
    multi_class : ``"ovr"``, one class against the rest; there is no other.
    fit_intercept : whether c is there at all.
    intercept_scaling : ``None`` leaves c unpenalised; a number s adds 1/2 (c / s)^2, as scikit-learn does with s = 1.
    class_weight : factors on C per class, or ``"balanced"``. As in scikit-learn, with more than two classes each counts
        in its own machine alone.
    verbose : accepted for scikit-learn's sake; progress shows by itself on a terminal.
    random_state : the order in which dual coordinate descent visits rows; ``None`` is the same order each time.
    max_iter : limit on Newton steps or epochs of each machine; -1 for none.
    time_limit : limit on seconds for the whole fit.

    Attributes: `coef_`, `intercept_`, `classes_`, `n_iter_`, `n_features_in_`, and `certificate_`, whose
    `kkt_violation` bounds the distance of `coef_` from the best weights.

    >>> from mercer import LinearSVC
    >>> model = LinearSVC(C=10.0).fit([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([0, 1])
    >>> bool(model.certificate_.relative_gap <= model.tol)
    True
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        time_limit: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.time_limit = time_limit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        owner = type(self).__name__
        _check.choice(owner, "loss", self.loss, _LOSSES)
        _check.choice(owner, "penalty", self.penalty, ("l2",), "Penalties that make weights sparse are not offered.")
        _check.choice(owner, "multi_class", self.multi_class, ("ovr",))
        if self.loss == "hinge" and not self.dual:
            raise _check.fail(owner, "dual", "True or 'auto' with loss='hinge', which is not smooth", self.dual)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X with labels y; `sample_weight` multiplies C for each row."""
        began = time.monotonic()
        with self._all_or_nothing(), single_threaded_blas():  # once for the whole fit: setting it takes a while
            self._check_parameters()
            objects: Any = self._kernel().coerce(X)
            classes = classes_of(self, y, objects, regressor="LinearSVR")
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            refuse_weightless_classes(classes, weights)
            refuse_overflow(objects.values)
            solutions = self._train(objects, classes, weights, began)
            self.classes_ = classes.labels
            self._set_solutions(solutions, objects, began)
        self._warn_if_unfinished(solutions)
        return self

    def _factors(self, classes: Classes) -> Float64:
        factors = class_weights(self.class_weight, classes)
        if (factors <= 0).any():
            label = classes.labels[int(np.flatnonzero(factors <= 0)[0])]
            raise InputError(f"class_weight must be greater than zero; class {label!r} has {factors.min():g}.")
        return factors

    def _train(self, objects: Any, classes: Classes, weights: Float64, began: float) -> list[LinearSolution]:
        with reporting("Training") as report:
            options = self._options(began, report)
            if len(classes.labels) == 2:
                return [linear.solve(self._problems(objects, classes, weights)[0], **options)]
            used = weights > 0
            rows = objects.values if used.all() else objects.values[used]
            return linear.solve_classes(
                rows, _LOSSES[self.loss], classes.codes[used], float(self.C) * weights[used], self._factors(classes),
                self._freedom(), **options,
            )  # fmt: skip

    def _problems(self, objects: Any, classes: Classes, weights: Float64) -> list[LinearProblem]:
        """The problem of each machine."""
        factors, C, loss, freedom = self._factors(classes), float(self.C) * weights, _LOSSES[self.loss], self._freedom()
        if len(factors) == 2:
            signs = np.where(classes.codes == 1, 1.0, -1.0)
            return [used_problem(objects, loss, signs, C * factors[classes.codes], freedom)]
        owns = [classes.codes == k for k in range(len(factors))]
        return [
            used_problem(objects, loss, np.where(own, 1.0, -1.0), np.where(own, C * factor, C), freedom)
            for own, factor in zip(owns, factors, strict=True)
        ]

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``, else one column per class."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """The predicted label of each row."""
        values = self.decision_function(X)
        winners = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winners]

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data and the fitted weights alone.

        For the hinge, whose weights do not tell the dual, that takes about as long as training.
        """
        began = time.monotonic()
        self._values(X)  # answers what cannot be compared
        objects: Any = self._kernel().coerce(X)
        classes = Classes(self.classes_, np.searchsorted(self.classes_, np.asarray(y)))
        return self._verified(self._problems(objects, classes, sample_weights(sample_weight, objects)), began)

    def _to_stored(self) -> Stored:
        stored = self._stored_machine()
        return Stored(stored.params, stored.values, {**stored.arrays, "classes_": self.classes_})

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        labels = stored.arrays.get("classes_")
        if labels is None or labels.ndim != 1 or len(labels) < 2:
            raise ModelFileError("it has no classes.")
        model._restore_machine(stored, 1 if len(labels) == 2 else len(labels))
        model.classes_ = labels
        return model
