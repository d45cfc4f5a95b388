"""What the teaching classifiers share: two classes or one against the rest, traces, and model files."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _check
from mercer._progress import reporting
from mercer._stored import Stored, checked_array, checked_value
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import refuse_masked
from mercer.inputs.vectors import Vectors
from mercer.lectures.trace import Trace
from mercer.solvers.drive import Chunk, Limits, OnChunk
from mercer.solvers.solution import Status
from mercer.training.kernelised import Kernelised
from mercer.training.limits import limits_of
from mercer.training.targets import Classes, classes_of


@final
@dataclass(frozen=True, eq=False)
class Learnt:
    """One machine: signed coefficients of the training objects (or weights of the features), and its trace."""

    coefficients: Float64
    intercept: float
    trace: Trace
    status: Status
    counts: Float64 | None = None


class Traced(ClassifierMixin, BaseEstimator, ABC):
    """Predictions and traces of one machine for two classes, or one per class against the rest."""

    classes_: npt.NDArray[Any]
    traces_: tuple[Trace, ...]
    time_limit: float | None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Answer bad parameters before any work."""

    @abstractmethod
    def _most_steps(self, n: int) -> int:
        """How many steps a machine of n objects takes at most, as its solver counts them."""

    @abstractmethod
    def _scores(self, X: Any) -> Float64:
        """Decision values, one column per machine."""

    @property
    def trace_(self) -> Trace:
        """The trace of the only machine; with more than two classes see `traces_`."""
        check_is_fitted(self)
        if len(self.traces_) > 1:
            raise AttributeError(f"there are {len(self.traces_)} machines, one per class: see traces_")
        return self.traces_[0]

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``, else one column per class."""
        check_is_fitted(self)
        values = self._scores(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """The predicted label of each object; a score of 0 predicts ``classes_[1]``, the +1 of the lectures."""
        values = self.decision_function(X)
        winners = (values >= 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winners]

    def _train(self, began: float, classes: Classes, learn: Callable[..., Learnt], data: Any) -> list[Learnt]:
        """One machine after the other, within the time that is left."""
        targets = signs_against_rest(classes)
        most = self._most_steps(len(classes.codes))
        machines: list[Learnt] = []
        with reporting("Training") as report:

            def on_chunk(chunk: Chunk) -> None:
                done = len(machines) + min(chunk.iterations / most, 1.0)
                report(done / len(targets), f"step {chunk.iterations:,}")

            for signs in targets:
                machine = learn(data, signs, limits_of(self, began), on_chunk)
                machines.append(machine)
        return machines

    def _warn_if_unfinished(self, machines: Sequence[Learnt]) -> None:
        stopped = [machine for machine in machines if machine.status is not Status.CONVERGED]
        if stopped:
            where = "" if len(machines) == 1 else f" for {len(stopped)} of {len(machines)} machines"
            warnings.warn(
                f"{type(self).__name__} did not finish{where}. {stopped[0].status.value}",
                ConvergenceWarning,
                stacklevel=3,
            )
        if any(trace.diverged for trace in self.traces_):
            warnings.warn(
                f"{type(self).__name__} diverged: the objective outgrew all numbers, and the last finite step is kept. "
                'Use variant="corrected", or a smaller learning rate.',
                ConvergenceWarning,
                stacklevel=3,
            )

    def _traces_to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays: dict[str, npt.NDArray[Any]] = {"classes_": self.classes_}
        for number, trace in enumerate(self.traces_):
            arrays[f"trace_{number}_steps"] = trace.steps
            arrays[f"trace_{number}_values"] = trace.values
        return arrays

    def _trace_values(self) -> dict[str, Any]:
        return {"what": self.traces_[0].what, "diverged": [trace.diverged for trace in self.traces_]}

    def _restore_traces(self, values: Mapping[str, Any], arrays: Mapping[str, Any], machines: int) -> None:
        labels, diverged = arrays["classes_"], checked_value(values, "diverged", list)
        if labels.ndim != 1 or len(labels) < 2 or machines != machine_count(len(labels)) or len(diverged) != machines:
            raise ModelFileError(f"it has {machines} machines, which is not what {labels.shape} classes need.")
        self.classes_ = labels
        what = checked_value(values, "what", str)
        traces = []
        for number in range(machines):
            steps = arrays.get(f"trace_{number}_steps", np.empty(0))
            checked_array(arrays, f"trace_{number}_steps", "i", (len(steps),))
            recorded = checked_array(arrays, f"trace_{number}_values", "f", (len(steps),))
            traces.append(Trace(what, steps, recorded, bool(diverged[number])))
        self.traces_ = tuple(traces)


class TracedKernelMachine(Traced, Kernelised):
    """Teaching classifiers in the feature space of a kernel."""

    memory: float | str
    _kept: ClassVar[str]
    """An attribute with one row per training object and one column per machine, set by `_after`."""

    @abstractmethod
    def _learn(self, gram: Gram, signs: Float64, limits: Limits, on_chunk: OnChunk) -> Learnt:
        """Train one machine."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on objects X with labels y."""
        began = time.monotonic()
        with self._all_or_nothing():
            self._check_parameters()
            limits_of(self, began)
            kernel = self._kernel()
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor="KernelRidge")
            self._check_features(X, objects, reset=True)
            fitted = kernel.fit(objects)
            gram = gram_of(fitted, objects, memory=self.memory).stored()
            machines = self._train(began, classes, self._learn, gram)
        self.classes_ = classes.labels
        self.kernel_ = fitted
        self.traces_ = tuple(machine.trace for machine in machines)
        full = np.column_stack([machine.coefficients for machine in machines])
        self.support_ = np.flatnonzero(np.any(full != 0, axis=1))
        self.intercept_ = np.array([machine.intercept for machine in machines])
        self.expansion_ = Expansion(fitted, objects.take(self.support_), full[self.support_], self.intercept_)
        self.dual_coef_ = self.expansion_.coefficients.T
        self._after(machines)
        self._warn_if_unfinished(machines)
        return self

    @abstractmethod
    def _after(self, machines: Sequence[Learnt]) -> None:
        """Set the attribute named by `_kept`."""

    def _scores(self, X: Any) -> Float64:
        return self.expansion_(self._new_objects(X, self.kernel_))

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        seen_values, seen_arrays = self._seen_features()
        return Stored(
            params=self.get_params(deep=False),
            values={**self._trace_values(), **seen_values},
            arrays={
                "support_": self.support_,
                self._kept: getattr(self, self._kept),
                **self._traces_to_arrays(),
                **seen_arrays,
            },
            expansion=self.expansion_,
        )

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        expansion = stored.expansion
        if expansion is None:
            raise ModelFileError("it has no machine in it.")
        model._restore_traces(stored.values, stored.arrays, expansion.coefficients.shape[1])
        model.support_ = checked_array(stored.arrays, "support_", "i", (len(expansion.support),))
        kept = stored.arrays.get(cls._kept, np.empty(0))
        n_machines = expansion.coefficients.shape[1]
        setattr(model, cls._kept, checked_array(stored.arrays, cls._kept, "f", (len(kept), n_machines)))
        model.kernel_, model.expansion_ = expansion.kernel, expansion
        model.intercept_, model.dual_coef_ = expansion.intercept, expansion.coefficients.T
        model._restore_seen_features(stored.values, stored.arrays)
        return model


class TracedLinearMachine(Traced):
    """Teaching classifiers with one weight per feature."""

    @abstractmethod
    def _learn_weights(self, X: Float64, signs: Float64, limits: Limits, on_chunk: OnChunk) -> Learnt:
        """Train one machine."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on rows of numbers X with labels y."""
        began = time.monotonic()
        self._check_parameters()
        limits_of(self, began)
        refuse_masked(X)
        values = np.ascontiguousarray(validate_data(self, X, dtype=np.float64))
        classes = classes_of(self, y, Vectors.coerce(values), regressor="KernelRidge")
        machines = self._train(began, classes, self._learn_weights, values)
        self.classes_ = classes.labels
        self.coef_ = np.vstack([machine.coefficients for machine in machines])
        self.intercept_ = np.array([machine.intercept for machine in machines])
        self.traces_ = tuple(machine.trace for machine in machines)
        self._warn_if_unfinished(machines)
        return self

    def _scores(self, X: Any) -> Float64:
        refuse_masked(X)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(values @ self.coef_.T + self.intercept_)

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        arrays = {"coef_": self.coef_, "intercept_": self.intercept_, **self._traces_to_arrays()}
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names_in_"] = self.feature_names_in_
        return Stored(params=self.get_params(deep=False), values=self._trace_values(), arrays=arrays)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        weights = stored.arrays.get("coef_", np.empty(0))
        if weights.ndim != 2 or not np.isfinite(weights).all():
            raise ModelFileError("its weights are not one row of numbers per machine.")
        model._restore_traces(stored.values, stored.arrays, len(weights))
        model.coef_ = checked_array(stored.arrays, "coef_", "f", weights.shape)
        model.intercept_ = checked_array(stored.arrays, "intercept_", "f", (len(weights),))
        model.n_features_in_ = weights.shape[1]
        if "feature_names_in_" in stored.arrays:
            model.feature_names_in_ = checked_array(stored.arrays, "feature_names_in_", "O", weights.shape[1:])
        return model


def machine_count(n_classes: int) -> int:
    """One machine tells two classes apart; more classes need one each."""
    return 1 if n_classes == 2 else n_classes


def signs_against_rest(classes: Classes) -> list[Float64]:
    """-1 and +1 for each machine: the second class is +1, or each class in turn."""
    positives = [1] if len(classes.labels) == 2 else range(len(classes.labels))
    return [np.where(classes.codes == label, 1.0, -1.0) for label in positives]


def is_printed(owner: str, variant: Any) -> bool:
    """Whether the slide is followed to the letter."""
    return _check.choice(owner, "variant", variant, ("corrected", "printed")) == "printed"
