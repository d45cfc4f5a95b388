"""Support vector classification."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer._stored import Stored, checked_array, checked_value
from mercer.errors import ModelFileError, ParameterError
from mercer.estimators import one_vs_one as ovo
from mercer.estimators.certificate import Certificate
from mercer.estimators.explaining import Explaining
from mercer.estimators.kernelised import KernelLike
from mercer.estimators.limits import limits_of
from mercer.estimators.machine import Machine, certify, train, warn_if_unfinished
from mercer.estimators.psd import guard
from mercer.estimators.sanity import warn_if_constant, warn_of_scales
from mercer.estimators.showing import ShowsWork
from mercer.estimators.targets import Classes, class_weights, classes_of, refuse_weightless_classes, sample_weights
from mercer.gram.expansion import Expansion
from mercer.gram.matrix import Gram
from mercer.gram.pairs import PairBlocks
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels.vectors.linear import Linear
from mercer.losses.hinge import Hinge
from mercer.solvers.smo import worth_storing

Float64 = npt.NDArray[np.float64]


class SVC(ClassifierMixin, ShowsWork, Explaining):
    """Support vector classification with any kernel, on anything that the kernel compares.

    For two classes it minimises 1/2 |w|^2 + C sum_i max(0, 1 - y_i f(x_i)) over f(x) = <w, phi(x)> + b; for more, it
    does so for every pair of classes on one shared Gram matrix. A drop-in for scikit-learn's SVC, with the same
    attributes.

    Parameters
    ----------
    C : the penalty on slack, in (0, inf]; ``inf`` is the hard margin.
    kernel : ``"rbf"``, ``"linear"``, ``"poly"``, ``"sigmoid"``, ``"precomputed"``, any kernel object, an expression
        such as ``"rbf(gamma=0.1) + linear()"``, or a function of two batches.
    degree, gamma, coef0 : parameters of named kernels; kernel objects have their own.
    shrinking : accepted for scikit-learn's sake; the solver decides by itself.
    tol : how far the optimality conditions may be violated, in units of the decision function.
    cache_size : memory for stored kernel values in MiB; ``None`` means what `memory` says.
    class_weight : factors on C per class, or ``"balanced"``.
    verbose : accepted for scikit-learn's sake; progress shows by itself on a terminal.
    max_iter : limit on iterations of each machine; -1 for none.
    decision_function_shape : ``"ovr"``, one column per class, or ``"ovo"``, one per pair.
    break_ties : with ``"ovr"``, predict the class with the largest decision value rather than the most votes.
    random_state : accepted for scikit-learn's sake; nothing here is random.
    penalty_scaling : ``"sum"`` as above, or ``"mean"``, which divides C by the number of objects.
    fit_intercept : whether b is there at all.
    time_limit : limit on seconds for the whole fit.
    memory : memory for stored kernel values: ``"auto"``, half of what is available, or a number of MiB.
    psd : what to do if the kernel turns out not to be positive semi-definite: ``"warn"``, ``"error"`` or ``"ignore"``.

    >>> from mercer import SVC, kernels
    >>> model = SVC(kernel=kernels.Spectrum(p=2)).fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0])
    >>> model.predict(["gatta", "gcgc"])
    array([1, 0])
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        penalty_scaling: str = "sum",
        fit_intercept: bool = True,
        time_limit: float | None = None,
        memory: float | str = "auto",
        psd: str = "warn",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.penalty_scaling = penalty_scaling
        self.fit_intercept = fit_intercept
        self.time_limit = time_limit
        self.memory = memory
        self.psd = psd

    # ------------------------------------------------------------------------------------------------------------ fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y; `sample_weight` multiplies C for each object."""
        began = time.monotonic()
        with self._all_or_nothing():
            self._check_parameters()
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor="SVR")
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            refuse_weightless_classes(classes, weights)
            factors = class_weights(self.class_weight, classes)
            penalties = self._penalty(len(objects)) * factors[classes.codes] * weights
            warn_of_scales(objects)
            fitted = kernel.fit(objects)
            memory = self.memory if self.cache_size is None else self.cache_size
            gram = Gram.of(fitted, objects, memory=memory)
            guard(type(self).__name__, kernel, gram, self.psd)
            warn_if_constant(gram)
            machines = self._train(gram, classes, penalties, began)
        self.class_weight_ = factors
        self.classes_ = classes.labels
        self.shape_fit_ = _shape(objects)
        self.kernel_ = fitted
        self._set_machines(machines, objects, classes, penalties)
        self._remember(objects, classes.codes, penalties)
        entries, seconds = gram.entries_computed, time.monotonic() - began
        self.certificate_ = Certificate.together(tuple(m.certificate for m in machines), entries, seconds)
        warn_if_unfinished(self, machines)
        return self

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.real(owner, "C", self.C, low=0, low_open=True)
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
        _check.integer(owner, "max_iter", self.max_iter, low=-1)
        _check.choice(owner, "decision_function_shape", self.decision_function_shape, ("ovo", "ovr"))
        _check.choice(owner, "penalty_scaling", self.penalty_scaling, ("sum", "mean"))
        for name in ("break_ties", "fit_intercept", "shrinking"):
            _check.boolean(owner, name, getattr(self, name))
        if self.time_limit is not None:
            _check.real(owner, "time_limit", self.time_limit, low=0, low_open=True)
        if self.cache_size is not None:
            _check.real(owner, "cache_size", self.cache_size, low=0, low_open=True, high_open=True)

    def _penalty(self, n: int) -> float:
        return float(self.C) / n if self.penalty_scaling == "mean" else float(self.C)

    def _train(self, gram: Gram, classes: Classes, penalties: Float64, began: float) -> list[Machine]:
        """One machine per pair of classes, side by side."""
        problems = ovo.pairs(len(classes.labels))
        members = ovo.Members(classes.codes, penalties, len(classes.labels))
        limits = limits_of(self, began)
        machines: list[Machine | None] = [None] * len(problems)
        if len(problems) > 1:
            if gram.fits() and worth_storing([len(group) for group in members.groups]):
                gram.store()
            blocks = PairBlocks(gram, members.groups, problems)
        with reporting("Training") as report:
            done = 0

            def job(number: int) -> None:
                nonlocal done
                ids, signs = members.of(problems[number])
                if len(problems) > 1:
                    part = blocks.of(problems[number])
                else:
                    part = gram if len(ids) == gram.shape[0] else gram.view(ids)

                def on_chunk(chunk: Any) -> None:
                    report((done + chunk.fraction) / len(problems), f"gap {chunk.gap:.2g}")

                machines[number] = train(
                    part,
                    Hinge(),
                    signs,
                    penalties[ids],
                    tol=float(self.tol),
                    intercept=bool(self.fit_intercept),
                    limits=limits,
                    on_chunk=on_chunk,
                    sharing=self._sharing,
                )
                done += 1

            gram.executor.each(job, range(len(problems)), limits.stop)
        return [machine for machine in machines if machine is not None]

    def _set_machines(self, machines: list[Machine], objects: Objects, classes: Classes, penalties: Float64) -> None:
        n_classes = len(classes.labels)
        members = ovo.Members(classes.codes, penalties, n_classes)
        used = [np.flatnonzero(machine.coefficients) for machine in machines]
        ids = [members.of(pair)[0][part] for pair, part in zip(ovo.pairs(n_classes), used, strict=True)]
        support = np.unique(np.concatenate(ids))
        self.support_, self._n_support = ovo.grouped_by_class(support, classes.codes, n_classes)
        place = np.empty(len(objects), dtype=np.intp)
        place[self.support_] = np.arange(len(self.support_))
        coefficients = np.zeros((len(self.support_), len(machines)))
        for column, machine in enumerate(machines):
            coefficients[place[ids[column]], column] = machine.coefficients[used[column]]
        self.fit_status_ = 0 if all(machine.converged for machine in machines) else 1
        self.n_iter_ = np.array([machine.certificate.iterations for machine in machines], dtype=np.int32)
        intercept = np.array([machine.intercept for machine in machines])
        self._set_expansion(Expansion(self.kernel_, objects.take(self.support_), coefficients, intercept))

    def _set_expansion(self, expansion: Expansion) -> None:
        """The machine, and scikit-learn's views of it; support objects are grouped by class."""
        n_classes = len(self.classes_)
        codes = np.repeat(np.arange(n_classes), self._n_support)
        self.expansion_ = expansion
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
        codes = np.searchsorted(self.classes_, np.asarray(y))
        weights = sample_weights(sample_weight, objects)
        penalties = self._penalty(len(objects)) * self.class_weight_[codes] * weights
        # New objects against training objects: another path than the symmetric Gram matrix that was trained on.
        gram = Gram.of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        outputs = gram.matvec(self.expansion_.coefficients)
        full = np.zeros(outputs.shape)
        full[self.support_] = self.expansion_.coefficients
        parts = []
        members = ovo.Members(codes, penalties, len(self.classes_))
        for column, pair in enumerate(ovo.pairs(len(self.classes_))):
            ids, signs = members.of(pair)
            intercept = float(self._intercept_[column])
            parts.append(
                certify(Hinge(), signs, penalties[ids], full[ids, column], outputs[ids, column], intercept,
                        has_intercept=bool(self.fit_intercept), iterations=int(self.n_iter_[column]), dtype="float64")
            )  # fmt: skip
        return Certificate.together(tuple(parts), gram.entries_computed, time.monotonic() - began)

    # ---------------------------------------------------------------------------------------------------- model files

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        arrays = {
            "classes_": self.classes_,
            "class_weight_": self.class_weight_,
            "support_": self.support_,
            "n_support_": self._n_support,
            "n_iter_": self.n_iter_,
            "certificate_": self.certificate_.to_array(),
        }
        seen_values, seen_arrays = self._seen_features()
        return Stored(
            params=self.get_params(deep=False),
            values={
                "shape_fit_": self.shape_fit_,
                "fit_status_": self.fit_status_,
                "dtype": self.certificate_.dtype,
                **seen_values,
            },
            arrays={**arrays, **seen_arrays},
            expansion=self.expansion_,
        )

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        values, arrays, expansion = stored.values, stored.arrays, stored.expansion
        model = cls(**stored.params)
        model._check_parameters()
        labels = arrays["classes_"]
        n_pairs = len(labels) * (len(labels) - 1) // 2
        if expansion is None or labels.ndim != 1 or len(labels) < 2 or expansion.coefficients.shape[1] != n_pairs:
            raise ModelFileError(f"it has {labels.shape} classes, but not one machine for each pair of them.")
        n_support = len(expansion.support)
        checked_array(arrays, "class_weight_", "f", labels.shape)
        checked_array(arrays, "n_iter_", "i", (n_pairs,))
        positions = checked_array(arrays, "support_", "i", (n_support,))
        counts = checked_array(arrays, "n_support_", "i", labels.shape)
        if (positions < 0).any() or (counts < 0).any() or int(counts.sum()) != n_support:
            raise ModelFileError(f"it has {n_support} support objects, but other numbers of them by class.")
        model.classes_ = labels
        model.class_weight_ = arrays["class_weight_"]
        model.support_ = positions
        model._n_support = counts
        model.n_iter_ = arrays["n_iter_"]
        model.shape_fit_ = checked_value(values, "shape_fit_", tuple)
        model.fit_status_ = checked_value(values, "fit_status_", int)
        proof = checked_array(arrays, "certificate_", "f", (n_pairs if n_pairs == 1 else n_pairs + 1, 7))
        model.certificate_ = Certificate.from_array(proof, checked_value(values, "dtype", str))
        model.kernel_ = expansion.kernel
        model._set_expansion(expansion)
        model._restore_seen_features(values, arrays)
        return model

    # ------------------------------------------------------------------------------------------- fitted, as properties

    @property
    def n_support_(self) -> Any:
        """Support objects of each class."""
        check_is_fitted(self)
        return self._n_support

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel alone."""
        if self.kernel != "linear" and not isinstance(self.kernel, Linear):
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
