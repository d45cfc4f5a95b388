"""Linear support vector classification."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._process import single_threaded_blas
from mercer._progress import reporting
from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.gram.expansion import Weights
from mercer.losses.base import Loss
from mercer.losses.hinge import Hinge
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.weights import absolute, choice, crammer_singer
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, OneVsRestProblem
from mercer.training.certificate import Certificate
from mercer.training.folds import FOLDS, folds_with_every_class, out_of_fold
from mercer.training.linear_machine import (
    LinearMachine,
    proof_of,
    refuse_combination,
    refuse_overflow,
    used_problem,
)
from mercer.training.probabilities import (
    Calibration,
    CalibrationField,
    evidence_of_classes,
    fit_calibration,
    log_probabilities,
    of_this_fit,
    probabilities,
    wanted,
    warn_of_weights,
)
from mercer.training.storing import Field, LabelsField, one_against_rest
from mercer.training.targets import (
    Classes,
    class_weights,
    classes_of,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
)

_LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSVC(ClassifierMixin, LinearMachine):
    """Linear support vector classification: the machine of `SVC(kernel="linear")`, trained on its weights.

    For two classes it minimises 1/2 |w|^2 + C sum_i loss(y_i, <w, x_i> + c); for more, each class against the rest. A
    drop-in for scikit-learn's LinearSVC, with the same attributes.

    Up to about a thousand features, it is trained by Newton's method (for the hinge, on closer and closer smooth
    approximations); beyond, by dual coordinate descent, which takes more epochs with an unpenalised intercept.

    Parameters
    ----------
    penalty : ``"l2"``, or ``"l1"`` for |w|_1 in place of 1/2 |w|^2, which makes most weights zero; only with the
        squared hinge.
    loss : ``"squared_hinge"``, or ``"hinge"``, the loss of `SVC`.
    dual : ``"auto"`` chooses as above; True for dual coordinate descent, False for Newton's method (with conjugate
        gradients if there are many features), which does not work for the hinge.
    tol : training ends when the duality gap is at most this fraction of the objective.
    C : the penalty on slack, in (0, inf).
    multi_class : ``"ovr"``, one class against the rest, or ``"crammer_singer"``, all at once: 1/2 sum_k |w_k|^2 + C
        sum_i max_k (1[k != y_i] + f_k(x_i) - f_y(x_i)), whatever `loss`, `penalty` and `dual` say.
    fit_intercept : whether to fit c; otherwise it is 0.
    intercept_scaling : a number s adds 1/2 (c / s)^2 (|c| / s with ``"l1"``), as scikit-learn does; ``None`` leaves c
        unpenalised.
    class_weight : factors on C per class, or ``"balanced"``. As in scikit-learn, with more than two classes each factor
        applies only to the machine of its class.
    verbose : accepted for compatibility with scikit-learn; progress is always shown on a terminal.
    random_state : the order in which dual coordinate descent visits rows; ``None`` is the same order each time.
    max_iter : limit on Newton steps or epochs of each machine; -1 for none.
    time_limit : limit on seconds for the whole fit.
    kernel : ``"linear"``, or any kernel with explicit features: polynomials of low degree, kernels that count
        (`Spectrum`, `GappedKmer`, `WeightedDegree`, `WeisfeilerLehman`, `SetIntersection` ...), their sums and
        normalised forms. X then contains the objects that the kernel compares, and `coef_` has a weight for each
        feature that occurs in training.
    probability : whether to learn `predict_proba`, as in `SVC`.

    Attributes
    ----------
    classes_ : the labels, sorted.
    coef_ : weights of the columns, or of the features of the kernel, one row per machine.
    intercept_ : one number for each machine.
    weights_ : `coef_` and `intercept_`, as a function of rows.
    n_iter_ : the number of training steps.
    kernel_ : the kernel, fitted to the training objects.
    certificate_ : how close the machine is to the optimum; its `kkt_violation` bounds the distance of `coef_` from the
        best weights.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import LinearSVC
    >>> model = LinearSVC(C=10.0).fit([[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([0, 1])
    >>> bool(model.certificate_.relative_gap <= model.tol)
    True

    >>> from mercer import kernels
    >>> model = LinearSVC(kernel=kernels.Spectrum(2)).fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0])
    >>> model.predict(["gatta", "gcgc"])
    array([1, 0])
    """

    penalty: Literal["l2", "l1"] = field(default="l2", kw_only=False)
    loss: Literal["squared_hinge", "hinge"] = field(default="squared_hinge", kw_only=False)
    multi_class: Literal["ovr", "crammer_singer"] = "ovr"
    class_weight: Any = None
    probability: bool = False

    _fields: ClassVar[Mapping[str, Field]] = {
        "classes_": LabelsField(one_against_rest, "one row of weights for each of them, or one for two"),
        **LinearMachine._fields,
        "calibration_": CalibrationField(of_pairs=False),
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        owner = type(self).__name__
        _check.choice(owner, "loss", self.loss, _LOSSES)
        _check.choice(owner, "penalty", self.penalty, ("l2", "l1"))
        _check.choice(owner, "multi_class", self.multi_class, ("ovr", "crammer_singer"))
        _check.boolean(owner, "probability", self.probability)
        if self._together():
            if self.fit_intercept and self.intercept_scaling is None:
                rule = "a number with multi_class='crammer_singer', whose intercepts are penalised"
                raise _check.fail(owner, "intercept_scaling", rule, None)
            return
        if self.penalty == "l1":
            refuse_combination(self, self.loss == "hinge", "the hinge has no solver with this penalty")
            refuse_combination(self, self.dual is True, "weights with this penalty are trained in the primal")
        refuse_combination(self, self.loss == "hinge" and not self.dual, "the hinge is not smooth: dual=True or 'auto'")

    def _together(self) -> bool:
        """Whether all classes are trained at once."""
        return self.multi_class == "crammer_singer"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y; `sample_weight` multiplies C for each."""
        began = time.monotonic()
        with self._all_or_nothing(), single_threaded_blas():  # once for the whole fit, because setting it is slow
            self._check_parameters()
            objects = self._kernel().coerce(X)
            classes = classes_of(self, y, objects, regressor="LinearSVR")
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects, dropping=True)
            refuse_weightless_classes(classes, weights)
            rows = self._rows(objects)
            refuse_overflow(rows)
            factors = self._factors(classes, weights)
            with reporting("Training") as report:
                share = 1.0 / (1 + FOLDS) if self.probability else 1.0
                options = self._options(lambda fraction, text: report(share * fraction, text))
                solutions = self._train(rows, classes.codes, weights, factors, options)
                self.__dict__.pop("calibration_", None)
                if self.probability:
                    self.calibration_ = self._calibration(rows, classes.codes, weights, factors, options)
            self.classes_ = classes.labels
            self._set_solutions(solutions, rows, began)
        if self.probability:
            warn_of_weights(self)
        self._warn_if_unfinished(solutions)
        return self

    def _factors(self, classes: Classes, weights: Float64) -> Float64:
        factors = class_weights(self.class_weight, classes, weights)
        if (factors <= 0).any():
            label = classes.labels[int(np.flatnonzero(factors <= 0)[0])]
            raise InputError(f"class_weight must be greater than zero; class {label!r} has {factors.min():g}.")
        return factors

    def _train(
        self, rows: Any, codes: Indices, weights: Float64, factors: Float64, options: dict[str, Any]
    ) -> list[LinearSolution]:
        sparse = self.penalty == "l1"
        if self._together():
            return self._train_together(rows, codes, weights, factors, options)
        if len(factors) == 2:
            return [choice.solve(self._problems(rows, codes, weights, factors)[0], sparse=sparse, **options)]
        used = weights > 0
        problem = OneVsRestProblem(
            rows if used.all() else rows[used], _LOSSES[self.loss], codes[used], float(self.C) * weights[used], factors,
            self._intercept_scale(),
        )  # fmt: skip
        return choice.solve_classes(problem, sparse=sparse, **options)

    def _train_together(
        self, rows: Any, codes: Indices, weights: Float64, factors: Float64, options: dict[str, Any]
    ) -> list[LinearSolution]:
        """Train all classes by the loss of Crammer and Singer; of two, the difference is kept, as in scikit-learn."""
        choice.refuse_blocks(rows, "multi_class='crammer_singer'")
        used, C = weights > 0, float(self.C) * weights * factors[codes]
        part = {name: value for name, value in options.items() if name != "dual"}
        rows = rows if used.all() else rows[used]
        found = crammer_singer.solve(rows, codes[used], C[used], self._intercept_scale(), **part)
        if len(found) > 2:
            return found
        first, second = found
        return [
            replace(
                second, w=second.w - first.w, intercept=second.intercept - first.intercept,
                primal=first.primal + second.primal, lower_bound=first.lower_bound + second.lower_bound,
            )
        ]  # fmt: skip

    def _problems(self, rows: Any, codes: Indices, weights: Float64, factors: Float64) -> list[LinearProblem]:
        """The problem of each machine."""
        C, loss, intercept_scale = float(self.C) * weights, _LOSSES[self.loss], self._intercept_scale()
        if len(factors) == 2:
            return [used_problem(rows, loss, np.where(codes == 1, 1.0, -1.0), C * factors[codes], intercept_scale)]
        owns = [codes == k for k in range(len(factors))]
        return [
            used_problem(rows, loss, np.where(own, 1.0, -1.0), np.where(own, C * factor, C), intercept_scale)
            for own, factor in zip(owns, factors, strict=True)
        ]

    def _calibration(
        self, rows: Any, codes: Indices, weights: Float64, factors: Float64, options: dict[str, Any]
    ) -> Calibration:
        """Calibrate on decision values of held-out objects; features are computed once."""
        quiet = {**options, "on_chunk": None}

        def decisions(train: Indices, test: Indices) -> Float64:
            found = self._train(rows[train], codes[train], weights[train], factors, quiet)
            machine = Weights(np.array([one.w for one in found]), np.array([one.intercept for one in found]))
            values: Float64 = machine(rows[test])
            return values[:, 0] if len(factors) == 2 else values

        seen, values = out_of_fold(folds_with_every_class(codes, weights, self.random_state), decisions)
        values = values if len(factors) == 2 else np.reshape(values, (len(seen), len(factors)))
        return fit_calibration(evidence_of_classes(values), codes[seen], weights[seen])

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``, else one column per class."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """The predicted label of each row: the most probable one if probabilities were learnt."""
        values = self.decision_function(X)
        if self.probability and "calibration_" in vars(self):
            return self.classes_[of_this_fit(self).winners(evidence_of_classes(values))]
        winners = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winners]

    @available_if(wanted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column each, in the order of `classes_`."""
        of_this_fit(self)
        return probabilities(self._log_odds(self.decision_function(X)))

    @available_if(wanted)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Float64:
        """Logarithms of `predict_proba`, without underflow."""
        of_this_fit(self)
        return log_probabilities(self._log_odds(self.decision_function(X)))

    def _log_odds(self, values: Float64) -> Float64:
        return of_this_fit(self).log_odds(evidence_of_classes(values))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data and the fitted weights alone.

        For the hinge, whose dual does not follow from the weights, that takes about as long as training.
        """
        check_is_fitted(self)
        began = time.monotonic()
        objects = self._new_objects(X)
        classes = known_classes(self.classes_, y)
        weights = sample_weights(sample_weight, objects, dropping=True)
        factors = self._factors(classes, weights)
        rows = self._columns.space.matrix(objects)
        if self._together():
            # Of two classes only the difference of weights is kept, so both are trained again and compared.
            options = self._options(lambda fraction, text: None)
            found = self._train_together(rows, classes.codes, weights, factors, options)
            gaps = [float(np.linalg.norm(one.w - w)) for one, w in zip(found, self.weights_.coef, strict=True)]
            parts = [replace(one, violation=(one.violation or 0.0) + gap) for one, gap in zip(found, gaps, strict=True)]
            return self._certificate(parts, rows, began)
        return self._verified(self._problems(rows, classes.codes, weights, factors), began)

    def _verify_one(self, problem: LinearProblem, w: Float64, c: float) -> Certificate:
        if self.penalty == "l2":
            return super()._verify_one(problem, w, c)
        primal, dual, violation = absolute.proof(problem, w, c)
        return proof_of(w, primal, dual, self.n_iter_, "float64", violation)
