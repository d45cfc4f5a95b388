"""The base of support vector classifiers: one machine per pair of classes on one Gram matrix, votes, probabilities."""

from __future__ import annotations

import dataclasses
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._process import single_threaded_blas
from mercer._progress import reporting
from mercer._types import Float64, Indices
from mercer.errors import InputError, ModelFileError, ParameterError
from mercer.gram.condensing import machine_over
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel
from mercer.losses.hinge import Hinge
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training import pairs as ovo
from mercer.training.certificate import Certificate, certify
from mercer.training.explanation import By, Explanation, explanations
from mercer.training.folds import FOLDS
from mercer.training.full_kernel import Claim
from mercer.training.held_out import LearntProbabilities, MeanField, learn_probabilities, platt
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import GramSettings, Guarded, Recomputed, guarded_gram
from mercer.training.parameters import LibsvmParameters
from mercer.training.probabilities import (
    CalibrationField,
    log_probabilities,
    of_this_fit,
    probabilities,
    wanted,
    warn_of_weights,
)
from mercer.training.storing import MACHINE, ArrayField, CertificateField, Field, LabelsField, ValueField
from mercer.training.targets import (
    Classes,
    class_weights,
    classes_of,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
)
from mercer.training.train import warn_if_unfinished
from mercer.training.voting import one_vs_rest_shape, pairs, votes


@dataclass(kw_only=True, eq=False, repr=False)
class MarginClassifier(ClassifierMixin, LibsvmParameters, KernelEstimator, ABC):
    """Trains one machine per pair of classes in parallel and predicts by their votes."""

    probability: bool = False
    class_weight: Any = None
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = False
    random_state: Any = None

    _nu_form: ClassVar[bool] = False
    """Whether nu rather than C bounds the errors; such machines use most of the matrix more than once."""
    _by_the_mean: ClassVar[bool] = False
    """Whether probabilities belong to the mean of the machine and those of the folds, not to the machine alone."""
    _mean = cast("Expansion | None", None)
    """That mean, if there is one."""
    _without_a_class: ClassVar[str] = ""
    """Appended to the message about a class without weight."""
    _regressor: ClassVar[str]
    """The estimator to suggest when labels look like numbers."""
    _fields: ClassVar[Mapping[str, Field]] = {
        **MACHINE,
        "classes_": LabelsField(lambda n: n * (n - 1) // 2, "one machine for each pair of classes"),
        "certificate_": CertificateField(each_output=True),
        "class_weight_": ArrayField("f", "classes"),
        "support_": ArrayField("i", "rows"),
        "_n_support": ArrayField("i", "classes", stored_as="n_support_"),
        "n_iter_": ArrayField("i", "outputs"),
        # Files of earlier versions have no scales: they hold C-forms, whose scales are one.
        "_penalty_scales": ArrayField("f", "outputs", stored_as="penalty_scales", missing=1.0),
        "shape_fit_": ValueField(tuple),
        "fit_status_": ValueField(int),
        "calibration_": CalibrationField(of_pairs=True),
        "_mean": MeanField(),
    }

    @abstractmethod
    def _bounds(self, classes: Classes, weights: Float64) -> Float64:
        """The upper bound of each coefficient, up to a factor; refuses problems without a solution."""

    @abstractmethod
    def _solve(
        self, gram: Gram, signs: Float64, bounds: Float64, limits: Limits, on_chunk: OnChunk | None
    ) -> ovo.Solved:
        """Train the machine of one pair of classes; returns it and the factor on its bounds."""

    def _c_form(self) -> ovo.CForm | None:
        """The loss that all machines minimise, if that is all they do, so small ones can be trained in one call."""
        return None

    def _has_intercept(self) -> bool:
        return True

    def _remember(self, objects: Objects, codes: Indices, penalties: Float64) -> None:
        """Keep what `show_work` needs, if there are few objects."""

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
        _check.integer(owner, "max_iter", self.max_iter, low=-1)
        _check.choice(owner, "decision_function_shape", self.decision_function_shape, ("ovo", "ovr"))
        for name in ("break_ties", "shrinking", "probability"):
            _check.boolean(owner, name, getattr(self, name))
        if self.cache_size is not None:
            _check.real(owner, "cache_size", self.cache_size, low=0, low_open=True, high_open=True)

    # ------------------------------------------------------------------------------------------------------------ fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y; `sample_weight` multiplies the penalty of each object.

        Blocks (`mercer.blocks`) have labels and weights of their own.
        """
        began = time.monotonic()
        with self._all_or_nothing():
            self._check_parameters()
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor=self._regressor)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects, dropping=True)
            refuse_weightless_classes(classes, weights, self._without_a_class)
            factors = class_weights(self.class_weight, classes)
            bounds = self._bounds(classes, factors[classes.codes] * weights)
            fitted = self._fit_kernel(kernel, objects, weights)
            owner, memory = type(self).__name__, self.memory if self.cache_size is None else self.cache_size
            dual = self.dual if np.isfinite(bounds).all() else True  # a hard margin needs the matrix
            precision, groups = self._gram_dtype(), len(classes.labels)
            settings = GramSettings(owner, dual, memory, self.psd, precision, nu_form=self._nu_form, groups=groups)
            guarded = guarded_gram(settings, fitted, objects, [Hinge()])
            limits = self._limits()
            with reporting("Training") as report, single_threaded_blas():  # once rather than for every product
                share = 1.0 / (1 + FOLDS) if self.probability else 1.0
                machines = self._train(
                    guarded.gram, classes.codes, bounds, limits.share(share), lambda f, w: report(share * f, w)
                )
                if self.probability:
                    learnt = self._learn_probabilities(guarded, classes, bounds, weights, limits, machines)
                    mean = None if learnt.mean is None else learnt.mean.expansion(fitted, objects, guarded)
        self.class_weight_ = factors
        self.classes_ = classes.labels
        self.shape_fit_ = _shape(objects)
        self.kernel_ = fitted
        for name in ("calibration_", "_mean"):
            self.__dict__.pop(name, None)
        if self.probability:
            self.calibration_ = learnt.calibration
            if mean is not None:
                self._mean = mean
        self._penalty_scales = machines.scales
        self.support_, self._n_support, coefficients, self._repair = ovo.support_by_class(
            machines, classes.codes, guarded
        )
        self.fit_status_ = 1 if machines.unfinished else 0
        self.n_iter_ = machines.iterations.astype(np.int32)
        self._set_machine(fitted, objects, coefficients, machines.intercepts)
        self._set_views()
        self._remember(objects, classes.codes, bounds)
        entries, seconds = guarded.original.entries_computed, time.monotonic() - began
        self._certify_later(lambda: Certificate.together(machines.proofs(), entries, seconds))
        if self.probability:
            warn_of_weights(self)
        if machines.unfinished:
            warn_if_unfinished(self, machines.unfinished, len(machines.sizes))
        return self

    def _learn_probabilities(
        self, guarded: Guarded, classes: Classes, bounds: Float64, weights: Float64, limits: Limits,
        machines: ovo.PairMachines,
    ) -> LearntProbabilities:  # fmt: skip
        left = iter(range(FOLDS, 0, -1))
        return learn_probabilities(
            guarded.gram, classes.codes, bounds, weights, self.random_state,
            lambda gram, codes, allowed: self._train(gram, codes, allowed, limits.share(1.0 / next(left))),
            machines if self._by_the_mean else None,
        )  # fmt: skip

    def _train(
        self, gram: Gram, codes: Indices, bounds: Float64, limits: Limits, report: ovo.Report | None = None
    ) -> ovo.PairMachines:
        if self._nu_form and codes.max() == 1:
            gram = gram.stored_if_it_fits()
        return ovo.train_pairs(gram, codes, bounds, self._solve, limits, report, self._c_form())

    def _set_machine(self, fitted: FittedKernel, objects: Objects, coefficients: Float64, intercepts: Float64) -> None:
        if not isinstance(objects, Streamed):
            self.expansion_ = Expansion(fitted, objects.take(self.support_), coefficients, intercepts)
            return
        self.expansion_, places = machine_over(fitted, objects, self.support_, coefficients, intercepts)
        if places is not self.support_:  # landmarks, which belong to no class
            counts = np.zeros_like(self._n_support)
            counts[0] = len(places)
            self.support_, self._n_support = places, counts

    def _set_views(self) -> None:
        """scikit-learn's views of the expansion, whose support objects are grouped by class."""
        n_classes = len(self.classes_)
        codes = np.repeat(np.arange(n_classes), self._n_support)
        expansion = self.expansion_
        whole = self._repair is not None or (self.support_ < 0).any()
        if whole and n_classes > 2:  # after a repair, or on features, every class has coefficients
            self._dual_coef_ = expansion.coefficients.T
        else:
            self._dual_coef_ = ovo.dual_coefficients(expansion.coefficients, codes, n_classes)
            self.expansion_ = dataclasses.replace(expansion, groups=self._n_support)
        self._intercept_ = expansion.intercept
        # scikit-learn's sign: with two classes, positive means the second one.
        sign = -1.0 if n_classes == 2 else 1.0
        self.dual_coef_: Any = sign * self._dual_coef_
        self.intercept_ = sign * self._intercept_
        self.support_vectors_: Any = np.empty((0, 0))
        if isinstance(expansion.support, Vectors):
            self.support_vectors_ = expansion.support.values
            if expansion.support.is_sparse:
                self.dual_coef_ = sp.csr_array(self.dual_coef_)

    def _restored(self) -> None:
        counts = self._n_support
        if (counts < 0).any() or int(counts.sum()) != len(self.support_):
            raise ModelFileError(f"its support objects by class do not add up to {len(self.support_)}.")
        self._set_views()

    # -------------------------------------------------------------------------------------------------------- predict

    def _decisions(self, X: Any) -> Float64:
        """One column per pair of classes (a, b), positive for a."""
        self._require_fit()
        if int(self._n_support.sum()) != len(self.support_):
            raise InputError(
                f"The internal representation of {type(self).__name__} was altered: {int(self._n_support.sum())} "
                f"support objects by class, {len(self.support_)} in all. Fit it again."
            )
        return self._outputs(X)

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``; else one column per class or pair."""
        decisions, n_classes = self._decisions(X), len(self.classes_)
        if n_classes > 2 and self.decision_function_shape == "ovo":
            return decisions
        return ovo.class_values(decisions, n_classes)

    def predict(self, X: Any) -> Any:
        """The predicted label of each object: always the most probable one if probabilities were learnt.

        Probabilities refer to the data as given, whatever `class_weight` is. For labels that follow the class weights,
        train with ``probability=False``, or apply a threshold to `predict_proba`.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError(
                "break_ties must be False when decision_function_shape is 'ovo': there is no one value per class to "
                "break ties with. Use decision_function_shape='ovr'."
            )
        if self.probability and "calibration_" in vars(self):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        decisions = self._decisions(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            winners = np.where(decisions[:, 0] > 0, 0, 1)
        elif self.break_ties:
            winners = one_vs_rest_shape(decisions, n_classes).argmax(axis=1)
        else:
            winners = votes(decisions, n_classes)
        return self.classes_[winners]

    @available_if(wanted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column each, in the order of `classes_`."""
        return probabilities(self._log_odds(X))

    @available_if(wanted)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Float64:
        """Logarithms of `predict_proba`, without underflow."""
        return log_probabilities(self._log_odds(X))

    def _log_odds(self, X: Any) -> Float64:
        calibration, mean = of_this_fit(self), self._mean
        decisions = self._decisions(X) if mean is None else mean(self._new_objects(X), self._gram_dtype())
        return calibration.log_odds(ovo.evidence(decisions, len(self.classes_), calibration))

    def explain(self, X: Any, by: By = "auto") -> list[Explanation]:
        """How much each part of an object adds to its decision value; with the intercept, the parts sum to it.

        With ``by="features"``, the parts are the symbols of strings and the nodes of graphs if the kernel counts
        features that have a position (k-mers, neighbourhoods, paths), the columns of vectors for the linear kernel, and
        otherwise the named features of the object. ``"columns"`` distributes the value over the columns of vectors and
        tables: by exact Shapley values if the kernel consists of sums and products of kernels on columns, as `RBF`
        does, otherwise by leaving columns out. ``"terms"`` are those of a sum of kernels, ``"support"`` the support
        objects. ``"auto"`` takes the first of these that the kernel allows. Outputs are the columns of the decision
        function, one for each pair of classes if there are more than two.
        """
        return explanations(*self._machine_and_objects(X), by=by, support=getattr(self, "support_", None))

    def _decision_expansion(self) -> Expansion:
        machine = self.expansion_
        if len(self.classes_) > 2:
            return machine
        # Ours are positive for the first class, scikit-learn's for the second.
        return Expansion(machine.kernel, machine.support, -machine.coefficients, -machine.intercept)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data in float64, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        classes = known_classes(self.classes_, y)
        bounds = self._bounds(
            classes, self.class_weight_[classes.codes] * sample_weights(sample_weight, objects, dropping=True)
        )
        found = Recomputed.of(self.expansion_, self._repair, self.support_, objects)
        members, parts = ovo.Members(classes.codes, bounds, len(self.classes_)), []
        for column, pair in enumerate(pairs(len(self.classes_))):
            ids, signs = members.of(pair)
            penalties = self._penalty_scales[column] * bounds[ids]
            parts.append(
                certify(
                    LossProblem(Hinge(), signs, penalties, intercept=self._has_intercept()),
                    found.coefficients[ids, column], found.outputs[ids, column], float(self._intercept_[column]),
                    iterations=int(self.n_iter_[column]), dtype="float64",
                    diagonal=None if found.diagonal is None else found.diagonal[ids],
                )
            )  # fmt: skip
        return Certificate.together(tuple(parts), found.entries, time.monotonic() - began)

    def _claims(self, objects: Objects, y: Any, sample_weight: Any) -> list[Claim]:
        classes = known_classes(self.classes_, y)
        bounds = self._bounds(classes, self.class_weight_[classes.codes] * sample_weights(sample_weight, objects))
        members, claims = ovo.Members(classes.codes, bounds, len(self.classes_)), []
        for column, pair in enumerate(pairs(len(self.classes_))):
            ids, signs = members.of(pair)
            penalties = self._penalty_scales[column] * bounds[ids]
            claims.append(Claim(LossProblem(Hinge(), signs, penalties, intercept=self._has_intercept()), ids, column))
        return claims

    # ------------------------------------------------------------------------------------------- fitted, as properties

    @property
    def n_support_(self) -> Any:
        """Support objects of each class."""
        check_is_fitted(self)
        return self._n_support

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel only."""
        check_is_fitted(self)
        return self._linear_weights(-1.0 if len(self.classes_) == 2 else 1.0)

    @property
    def probA_(self) -> Float64:  # noqa: N802  # scikit-learn's name
        """A in the probability 1 / (1 + exp(A f + B)) of two classes; otherwise empty."""
        return self._platt("probA_")[:1]

    @property
    def probB_(self) -> Float64:  # noqa: N802  # scikit-learn's name
        """B in the probability 1 / (1 + exp(A f + B)) of two classes; otherwise empty."""
        return self._platt("probB_")[1:]

    def _platt(self, name: str) -> Float64:
        check_is_fitted(self)
        warnings.warn(
            f"Attribute `{name}` was deprecated by scikit-learn; `calibration_` holds the slopes and offsets.",
            FutureWarning,
            stacklevel=3,
        )
        calibration = vars(self).get("calibration_")
        if calibration is None or len(self.classes_) != 2:
            return np.empty(0)
        return platt(calibration)

    @property
    def _gamma(self) -> float:
        """The resolved `gamma` of a named kernel, if it has one."""
        return float(self.kernel_.state.values.get("gamma", 0.0))


def _shape(objects: Objects) -> tuple[int, ...]:
    return tuple(objects.values.shape) if isinstance(objects, Vectors) else (len(objects),)
