"""What support vector classifiers share: a machine per pair of classes on one Gram matrix, votes, and probabilities."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer._types import Float64, Indices
from mercer.errors import ParameterError
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.gram.pairs import PairBlocks
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.losses.hinge import Hinge
from mercer.solvers.box.choice import worth_storing
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training import pairs as ovo
from mercer.training.certificate import Certificate, certify
from mercer.training.folds import folds_with_every_class, out_of_fold
from mercer.training.limits import limits_of
from mercer.training.on_features import training_gram
from mercer.training.probabilities import Probabilities, fit_temperature
from mercer.training.psd import Guarded, Repair, certified, guard
from mercer.training.sanity import warn_if_constant, warn_of_scales
from mercer.training.stored_pairs import StoredPairs
from mercer.training.targets import (
    Classes,
    class_weights,
    classes_of,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
)
from mercer.training.train import Machine, warn_if_unfinished

Solved = tuple[Machine, float]
Report = Callable[[float, str], None]


class MarginClassifier(Probabilities, ClassifierMixin, StoredPairs, ABC):
    """Trains a machine for each pair of classes, side by side, and decides by their votes."""

    tol: float
    class_weight: Any
    max_iter: int
    time_limit: float | None
    decision_function_shape: str
    break_ties: bool
    random_state: Any
    cache_size: float | None
    memory: float | str
    psd: str

    _keeps_matrix: ClassVar[bool] = False
    """Whether the machine of two classes goes over most of the matrix more than once."""
    _regressor: ClassVar[str]
    """The estimator for those who gave numbers as labels."""

    @abstractmethod
    def _bounds(self, classes: Classes, weights: Float64) -> Float64:
        """How large the coefficient of each object may become, but for a factor; answers what cannot be solved."""

    @abstractmethod
    def _solve(self, gram: Gram, signs: Float64, bounds: Float64, limits: Limits, on_chunk: OnChunk | None) -> Solved:
        """The machine of one pair of classes, and the factor on its bounds."""

    def _has_intercept(self) -> bool:
        return True

    def _remember(self, objects: Objects, codes: Indices, penalties: Float64) -> None:
        """A place for what is kept of few objects, to show the work on them."""

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
        _check.integer(owner, "max_iter", self.max_iter, low=-1)
        _check.choice(owner, "decision_function_shape", self.decision_function_shape, ("ovo", "ovr"))
        for name in ("break_ties", "shrinking", "probability"):
            _check.boolean(owner, name, getattr(self, name))
        if self.time_limit is not None:
            _check.real(owner, "time_limit", self.time_limit, low=0, low_open=True)
        if self.cache_size is not None:
            _check.real(owner, "cache_size", self.cache_size, low=0, low_open=True, high_open=True)

    # ------------------------------------------------------------------------------------------------------------ fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y; `sample_weight` multiplies the penalty of each object."""
        began = time.monotonic()
        with self._all_or_nothing():
            self._check_parameters()
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor=self._regressor)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            refuse_weightless_classes(classes, weights)
            factors = class_weights(self.class_weight, classes)
            bounds = self._bounds(classes, factors[classes.codes] * weights)
            warn_of_scales(objects)
            fitted = kernel.fit(objects)
            memory = self.memory if self.cache_size is None else self.cache_size
            if np.isfinite(bounds).all():
                gram = training_gram(
                    fitted, objects, [Hinge()],
                    owner=type(self).__name__, dual=self.dual, nu_form=self._sided, memory=memory,
                )  # fmt: skip
            else:
                gram = gram_of(fitted, objects, memory=memory)
            guarded = guard(type(self).__name__, kernel, gram, self.psd)
            warn_if_constant(guarded.gram)
            limits = limits_of(self, began)
            with reporting("Training") as report:
                share = 1.0 / 6.0 if self.probability else 1.0
                solved = self._train(guarded.gram, classes.codes, bounds, limits, lambda f, w: report(share * f, w))
                if self.probability:
                    temperature = self._temperature(guarded.gram, classes.codes, bounds, weights, limits)
        machines = [machine for machine, _ in solved]
        self.class_weight_ = factors
        self.classes_ = classes.labels
        self.shape_fit_ = _shape(objects)
        self.kernel_ = fitted
        if self.probability:
            self.temperature_ = temperature
        self._penalty_scales = np.array([scale for _, scale in solved])
        self._set_machines(machines, objects, classes, bounds, guarded)
        self._remember(objects, classes.codes, bounds)
        entries, seconds = gram.entries_computed, time.monotonic() - began
        self.certificate_ = Certificate.together(tuple(m.certificate for m in machines), entries, seconds)
        warn_if_unfinished(self, machines)
        return self

    def _train(self, gram: Gram, codes: Indices, bounds: Float64, limits: Limits, report: Report) -> list[Solved]:
        """One machine per pair of classes, side by side."""
        n_classes = int(codes.max()) + 1
        problems, members = ovo.pairs(n_classes), ovo.Members(codes, bounds, n_classes)
        solved: list[Solved | None] = [None] * len(problems)
        shared = len(problems) > 1 and gram.factor is None
        if shared:
            if worth_storing([len(group) for group in members.groups]):
                gram = gram.stored_if_it_fits()
            blocks = PairBlocks(gram, members.groups, problems)
        elif self._keeps_matrix:
            gram = gram.stored_if_it_fits()
        done = 0

        def job(number: int) -> None:
            nonlocal done
            ids, signs = members.of(problems[number])
            if shared:
                part = blocks.of(problems[number])
            elif len(ids) == gram.shape[0]:
                part = gram
            else:
                part = gram.view(ids)

            def on_chunk(chunk: Any) -> None:
                report((done + chunk.fraction) / len(problems), f"gap {chunk.gap:.2g}")

            solved[number] = self._solve(part, signs, bounds[ids], limits, on_chunk)
            done += 1

        gram.executor.each(job, range(len(problems)), limits.stop)
        return [one for one in solved if one is not None]

    def _temperature(self, gram: Gram, codes: Indices, bounds: Float64, weights: Float64, limits: Limits) -> float:
        """From decision values of objects that their machines have not seen, on parts of the one Gram matrix.

        A kernel that depends on the data is that of all objects: it sees them without their labels.
        """
        n_classes = int(codes.max()) + 1
        gram = gram.stored_if_it_fits()

        def decisions(train: Indices, test: Indices) -> Float64:
            known, allowed = codes[train], bounds[train]
            solved = self._train(gram.view(train), known, allowed, limits, lambda *_: None)
            machines = [machine for machine, _ in solved]
            support, columns = ovo.columns(machines, ovo.Members(known, allowed, n_classes))
            grouped, _ = ovo.grouped_by_class(support, known, n_classes)  # added up in the order of a fitted machine
            products = gram.view(test, train[grouped]).matvec(columns[np.searchsorted(support, grouped)])
            pairwise = products + np.array([machine.intercept for machine in machines])
            return -pairwise[:, 0] if n_classes == 2 else ovo.one_vs_rest_shape(pairwise, n_classes)

        seen, values = out_of_fold(folds_with_every_class(codes, bounds, self.random_state), decisions)
        return fit_temperature(values, codes[seen], weights[seen])

    def _set_machines(
        self, machines: list[Machine], objects: Objects, classes: Classes, bounds: Float64, guarded: Guarded
    ) -> None:
        n_classes = len(classes.labels)
        support, dual = ovo.columns(machines, ovo.Members(classes.codes, bounds, n_classes))
        full = dual
        if guarded.repaired:
            every, dual = dual, np.zeros((len(objects), len(machines)))
            dual[support] = every
            full = guarded.expanded(dual)
            support = np.flatnonzero(np.any(full != 0, axis=1))
            dual, full = dual[support], full[support]
        self.support_, self._n_support = ovo.grouped_by_class(support, classes.codes, n_classes)
        order = np.searchsorted(support, self.support_)
        self.fit_status_ = 0 if all(machine.converged for machine in machines) else 1
        self.n_iter_ = np.array([machine.certificate.iterations for machine in machines], dtype=np.int32)
        self._repair = Repair.of(guarded, dual[order])
        intercept = np.array([machine.intercept for machine in machines])
        self._set_expansion(Expansion(self.kernel_, objects.take(self.support_), full[order], intercept))

    def _set_expansion(self, expansion: Expansion) -> None:
        """The machine, and scikit-learn's views of it; support objects are grouped by class."""
        n_classes = len(self.classes_)
        codes = np.repeat(np.arange(n_classes), self._n_support)
        self.expansion_ = expansion
        if self._repair is not None and n_classes > 2:  # a repaired machine has coefficients of every class
            self._dual_coef_ = expansion.coefficients.T
        else:
            self._dual_coef_ = ovo.dual_coefficients(expansion.coefficients, codes, n_classes)
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

    # -------------------------------------------------------------------------------------------------------- predict

    def _decisions(self, X: Any) -> Float64:
        """One column per pair of classes (a, b), positive for a."""
        check_is_fitted(self)
        return self.expansion_(self._new_objects(X, self.kernel_))

    def _shares(self, X: Any) -> Float64:
        decisions = self._decisions(X)
        n_classes = len(self.classes_)
        return -decisions[:, 0] if n_classes == 2 else ovo.one_vs_rest_shape(decisions, n_classes)

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``; else one column per class or pair."""
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return -decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return decisions
        return ovo.one_vs_rest_shape(decisions, len(self.classes_))

    def predict(self, X: Any) -> Any:
        """The predicted label of each object."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError(
                "break_ties must be False when decision_function_shape is 'ovo': there is no one value per class to "
                "break ties with. Use decision_function_shape='ovr'."
            )
        decisions = self._decisions(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            winners = np.where(decisions[:, 0] > 0, 0, 1)
        elif self.break_ties:
            winners = ovo.one_vs_rest_shape(decisions, n_classes).argmax(axis=1)
        else:
            winners = ovo.votes(decisions, n_classes)
        return self.classes_[winners]

    def _decision_expansion(self) -> Expansion:
        if len(self.classes_) > 2:
            return self.expansion_
        machine = self.expansion_  # positive for the first class, where scikit-learn's is for the second
        return Expansion(machine.kernel, machine.support, -machine.coefficients, -machine.intercept)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data in float64, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        classes = known_classes(self.classes_, y)
        bounds = self._bounds(classes, self.class_weight_[classes.codes] * sample_weights(sample_weight, objects))
        # New objects against training objects: another path than the symmetric Gram matrix that was trained on.
        gram = gram_of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        products = gram.matvec(self.expansion_.coefficients)
        full, outputs = certified(self._repair, self.expansion_.coefficients, products, self.support_)
        members, parts = ovo.Members(classes.codes, bounds, len(self.classes_)), []
        for column, pair in enumerate(ovo.pairs(len(self.classes_))):
            ids, signs = members.of(pair)
            C = self._penalty_scales[column] * bounds[ids]
            parts.append(
                certify(
                    LossProblem(Hinge(), signs, C, intercept=self._has_intercept()), full[ids, column],
                    outputs[ids, column], float(self._intercept_[column]),
                    iterations=int(self.n_iter_[column]), dtype="float64",
                )
            )  # fmt: skip
        return Certificate.together(tuple(parts), gram.entries_computed, time.monotonic() - began)

    # ------------------------------------------------------------------------------------------- fitted, as properties

    @property
    def n_support_(self) -> Any:
        """Support objects of each class."""
        check_is_fitted(self)
        return self._n_support

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel alone."""
        if self.kernel != "linear" and not getattr(self.kernel, "is_linear", False):
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        weights = sign * (self.expansion_.coefficients.T @ self.support_vectors_)
        if sp.issparse(self.support_vectors_):
            weights = sp.csr_array(weights)
            weights.data.flags.writeable = False
        else:
            weights.flags.writeable = False
        return weights

    @property
    def _gamma(self) -> float:
        """The resolved width of a named kernel, where it has one."""
        return float(self.kernel_.state.values.get("gamma", 0.0))


def _shape(objects: Objects) -> tuple[int, ...]:
    return tuple(objects.values.shape) if isinstance(objects, Vectors) else (len(objects),)
