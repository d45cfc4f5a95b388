"""What the teaching classifiers share: two classes or one against the rest, traces, and model files."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _check
from mercer._progress import reporting
from mercer._stored import Stored, checked_value
from mercer._types import Float64
from mercer.errors import ModelFileError, ParameterError
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of, gram_of_rows
from mercer.inputs.base import Objects, refuse_masked
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel
from mercer.lectures.exact import Aim, Stopped, certificate_of
from mercer.lectures.run import LectureRun, TracedFit
from mercer.lectures.trace import Trace
from mercer.solvers.drive import Chunk
from mercer.solvers.solution import Status
from mercer.training.certificate import Certificate, Certified
from mercer.training.choices import Memory
from mercer.training.kernel_estimator import KernelEstimator, all_or_nothing, limits_of
from mercer.training.matrix import Guarded, guard
from mercer.training.on_a_part import Part, affordable
from mercer.training.storing import (
    EXPANSION,
    ArrayField,
    CertificateField,
    Field,
    LabelsField,
    Parts,
    one_against_rest,
    read_fields,
    write_fields,
)
from mercer.training.targets import Classes, classes_of, signs_against_rest


@final
class TracesField(Field):
    """One trace for each machine."""

    def write(self, name: str, value: Sequence[Trace], parts: Parts) -> None:
        parts.values["what"], parts.values["diverged"] = value[0].what, [trace.diverged for trace in value]
        for number, trace in enumerate(value):
            parts.arrays[f"trace_{number}_steps"] = trace.steps
            parts.arrays[f"trace_{number}_values"] = trace.values

    def read(self, name: str, parts: Parts) -> tuple[Trace, ...]:
        machines, diverged = parts.sizes["outputs"], checked_value(parts.values, "diverged", list)
        if len(diverged) != machines:
            raise ModelFileError(f"it has {machines} machines, but {len(diverged)} traces.")
        what = checked_value(parts.values, "what", str)
        traces = []
        for number in range(machines):
            length = f"steps of trace {number}"
            steps = parts.array(f"trace_{number}_steps", "i", length)
            values = parts.array(f"trace_{number}_values", "f", length)
            traces.append(Trace(what, steps, values, bool(diverged[number])))
        return tuple(traces)


TRACED: Mapping[str, Field] = {
    "classes_": LabelsField(one_against_rest, "one machine for each of them, or one for two"),
    "traces_": TracesField(),
    "certificate_": CertificateField(late=True),
}
"""What all teaching classifiers store ..."""
TRACED_KERNEL: Mapping[str, Field] = {**EXPANSION, **TRACED, "support_": ArrayField("i", "rows")}
"""... and those with a kernel."""


class TracedClassifier(Certified, ClassifierMixin, BaseEstimator, ABC):
    """Predictions and traces of one machine for two classes, or one per class against the rest."""

    classes_: npt.NDArray[Any]
    intercept_: Float64
    traces_: tuple[Trace, ...]
    time_limit: float | None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse bad parameters before any work."""

    @abstractmethod
    def _algorithm(self, data: Any, signs: Float64) -> LectureRun:
        """The algorithm of the slide, ready to train one machine on a Gram matrix or on rows of numbers."""

    @abstractmethod
    def _aim(self, n: int) -> Aim:
        """What is minimised on n objects: certificates are about it."""

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

    def _train(self, classes: Classes, data: Any) -> list[TracedFit]:
        """Train one machine after the other, within the time that is left."""
        targets = signs_against_rest(classes)
        machines: list[TracedFit] = []
        with reporting("Training") as report:

            def on_chunk(steps: int, chunk: Chunk) -> None:
                done = len(machines) + min(chunk.iterations / steps, 1.0)
                report(done / len(targets), f"step {chunk.iterations:,}")

            for signs in targets:
                run = self._algorithm(data, signs)
                machines.append(run.fit(limits_of(self), partial(on_chunk, run.steps)))
        return machines

    def _certify(self, stopped: list[Stopped], gram: Callable[[], Gram], entries: int, began: float) -> None:
        aim, seconds = self._aim(len(stopped[0].signs)), time.monotonic() - began
        self._certify_later(lambda: certificate_of(aim, stopped, gram, entries, seconds))

    def _set_trained(self, classes: Classes, machines: list[TracedFit]) -> None:
        self.classes_ = classes.labels
        self.intercept_ = np.array([machine.intercept for machine in machines])
        self.traces_ = tuple(machine.trace for machine in machines)

    def _warn_if_unfinished(self, machines: list[TracedFit]) -> None:
        stopped = [machine.status for machine in machines if machine.status is not Status.CONVERGED]
        if stopped:
            where = "" if len(machines) == 1 else f" for {len(stopped)} of {len(machines)} machines"
            warnings.warn(
                f"{type(self).__name__} did not finish{where}. {stopped[0].value}", ConvergenceWarning, stacklevel=3
            )
        if any(trace.diverged for trace in self.traces_):
            warnings.warn(
                f"{type(self).__name__} diverged: the objective grew beyond the largest float, and the last finite "
                'step is kept. Use variant="corrected", or a smaller learning rate.',
                ConvergenceWarning,
                stacklevel=3,
            )


@final
@dataclass(frozen=True, eq=False)
class _Trained:
    """Machines on a matrix of all objects, or of a part of them."""

    machines: list[TracedFit]
    guarded: Guarded
    coefficients: Float64
    """Of all objects, for the original kernel."""
    products: Float64
    """Of the coefficients with the training matrix ..."""
    squared: Float64
    """... and |w|^2."""

    @property
    def status(self) -> Status:
        ended = (machine.status for machine in self.machines)
        return next((status for status in ended if status is not Status.CONVERGED), Status.CONVERGED)


class TracedKernelClassifier(TracedClassifier, KernelEstimator):
    """Teaching classifiers in the feature space of a kernel."""

    memory: Memory
    _per_object: ClassVar[str]
    """The fitted attribute with one row per training object and one column per machine: updates or coefficients."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on objects X with labels y."""
        began = time.monotonic()
        with self._all_or_nothing():
            self._check_parameters()
            kernel = self._kernel()
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor="KernelRidge")
            self._check_features(X, objects, reset=True)
            fitted = kernel.fit(objects)
            gram = gram_of(fitted, objects, memory=self.memory)
            parts = affordable(gram, np.ones(len(objects)), 1.0, limits_of(self), classes.codes.astype(np.float64))
            if parts is None:
                part, found = None, self._machines(classes, fitted, gram)
            else:
                part, found = parts.largest(lambda some: self._machines(_some(classes, some), fitted, gram, some))
        machines, coefficients = found.machines, found.coefficients
        self._set_trained(classes, machines)
        self.kernel_ = fitted
        self.support_ = np.flatnonzero(np.any(coefficients != 0, axis=1))
        support = objects.take(self.support_)
        self.expansion_ = Expansion(fitted, support, coefficients[self.support_], self.intercept_)
        if part is None:
            stopped = _stopped(classes, machines, found.products, found.squared)
            self._certify(stopped, found.guarded.in_double(fitted, objects), gram.entries_computed, began)
        else:
            self._certify_roughly(classes, found, objects, began)
        self.dual_coef_ = self.expansion_.coefficients.T
        updates = [machine.updates for machine in machines if machine.updates is not None]
        counted = np.column_stack(updates) if updates else coefficients
        setattr(self, self._per_object, part.all(counted) if part is not None and updates else counted)
        if part is not None:
            said = f"{type(self).__name__} did not finish. {Status.OF_A_PART.value}"
            warnings.warn(said, ConvergenceWarning, stacklevel=2)
            return self
        self._warn_if_unfinished(machines)
        return self

    def _machines(self, classes: Classes, fitted: FittedKernel, gram: Gram, part: Part | None = None) -> _Trained:
        """The machines of all objects, or of a part of them."""
        some = gram if part is None else gram.view(part.ids)
        guarded = guard(type(self).__name__, fitted.kernel, some.stored(), self.psd)
        machines = self._train(classes, guarded.gram)
        z = np.column_stack([machine.coefficients for machine in machines])
        products, coefficients = guarded.gram.matvec(z), guarded.expanded(z)
        if part is not None:
            coefficients = part.all(coefficients)
        return _Trained(machines, guarded, coefficients, products, (z * products).sum(axis=0))

    def _certify_roughly(self, classes: Classes, found: _Trained, objects: Objects, began: float) -> None:
        """Certify machines of a part of the objects as those of all: no objective is below zero."""
        aim, seconds, machine = self._aim(len(objects)), time.monotonic() - began, self.expansion_

        def proof() -> Certificate:
            stopped = _stopped(classes, found.machines, machine(objects) - machine.intercept, found.squared)
            gram = gram_of(machine.kernel, objects, dtype=np.float64)
            return certificate_of(aim, stopped, lambda: gram, 0, seconds, bounded=False)

        self._certify_later(proof)

    def _scores(self, X: Any) -> Float64:
        return self._outputs(X)

    def _restored(self) -> None:
        self.intercept_, self.dual_coef_ = self.expansion_.intercept, self.expansion_.coefficients.T


class TracedLinearClassifier(TracedClassifier):
    """Teaching classifiers with one weight per feature."""

    _fields: ClassVar[Mapping[str, Field]] = {
        "coef_": ArrayField("f", "outputs", "features"),
        "intercept_": ArrayField("f", "outputs"),
        **TRACED,
    }

    def fit(self, X: Any, y: Any) -> Self:
        """Train on rows of numbers X with labels y."""
        self._check_parameters()
        began = time.monotonic()
        with all_or_nothing(self):
            refuse_masked(X)
            values = np.ascontiguousarray(validate_data(self, X, dtype=np.float64))
            classes = classes_of(self, y, Vectors.coerce(values), regressor="KernelRidge")
            machines = self._train(classes, values)
        self._set_trained(classes, machines)
        self.coef_ = np.vstack([machine.coefficients for machine in machines])
        with np.errstate(over="ignore", invalid="ignore"):  # printed descents may have diverged
            stopped = _stopped(classes, machines, values @ self.coef_.T, (self.coef_**2).sum(axis=1))
        self._certify(stopped, lambda: gram_of_rows(values), 0, began)
        self._warn_if_unfinished(machines)
        return self

    def _scores(self, X: Any) -> Float64:
        refuse_masked(X)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(values @ self.coef_.T + self.intercept_)

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        return write_fields(self, self._fields)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        read_fields(model, cls._fields, stored)
        if not np.isfinite(model.coef_).all():
            raise ModelFileError("its weights are not finite.")
        model.n_features_in_ = model.coef_.shape[1]
        return model


def _some(classes: Classes, part: Part) -> Classes:
    """The labels of a part of the objects."""
    return Classes(classes.labels, classes.codes[part.ids])


def _stopped(classes: Classes, machines: list[TracedFit], products: Float64, squared: Float64) -> list[Stopped]:
    """Where each machine stopped, from <w, phi(x)> of the training objects and |w|^2, a column for each."""
    targets = signs_against_rest(classes)
    return [
        Stopped(signs, max(float(squared[i]), 0.0), products[:, i] + one.intercept, int(one.trace.steps[-1]))
        for i, (signs, one) in enumerate(zip(targets, machines, strict=True))
    ]


def checked_variant(model: Any, *, stochastic: bool = False) -> str:
    """How close to keep to the slide: what is meant with steps that converge or constant ones, or what is printed."""
    variant = _check.choice(type(model).__name__, "variant", model.variant, ("corrected", "constant", "printed"))
    if stochastic and variant == "constant":
        raise ParameterError(
            f'{type(model).__name__} with method="stochastic" takes the steps learning_rate / t of the slide in every '
            'variant; variant="constant" is for method="batch".'
        )
    return variant
