"""The base of linear estimators: parameters, training on the weights themselves, certificates and model files."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, final

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError, ModelFileError, ParameterError
from mercer.gram.block_rows import rows_of_features
from mercer.gram.expansion import Expansion, Weights
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.space import FeatureSpace, features_of
from mercer.kernels.text.expression import parse
from mercer.kernels.vectors.linear import Linear
from mercer.losses.base import Loss
from mercer.solvers.solution import Status
from mercer.solvers.weights import choice
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, bounds
from mercer.solvers.weights.row_products import rows_of
from mercer.training.certificate import Certificate
from mercer.training.choices import Dual
from mercer.training.explanation import Explanation, explanations_by_weights
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.storing import CertificateField, Field, Parts, ValueField

_LARGEST = 1e150
"""Larger numbers are refused: their squares approach the largest float64, 1.8e308, and sums of a few such squares
exceed it."""


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """The features that weights belong to."""

    space: FeatureSpace
    example: Objects
    """One training object, which tells model files the kind of objects."""

    @property
    def kernel(self) -> FittedKernel:
        return self.space.fitted


@final
class ColumnsField(Field):
    """The fitted kernel, and the names of the features that it found in training."""

    def write(self, name: str, value: Columns, parts: Parts) -> None:
        if not value.kernel.kernel.is_linear:  # an expansion without any weight holds the kernel
            parts.expansion = Expansion(value.kernel, value.example, np.zeros((1, 1)), np.zeros(1))
        for number, words in enumerate(value.space.words):
            parts.arrays[f"names_{number}"] = words.names

    def read(self, name: str, parts: Parts) -> Columns:
        fitted = FittedKernel(Linear(), State())
        example: Objects = Vectors(np.zeros((1, parts.sizes.get("features", 0))))
        if parts.expansion is not None:
            fitted, example = parts.expansion.kernel, parts.expansion.support
        if len(example) != 1:
            raise ModelFileError("it must hold one object of the kind that it was trained on.")
        names = []
        for number in range(features_of(fitted).vocabularies):
            part = parts.arrays.get(f"names_{number}")
            if part is None or part.dtype != np.uint64 or part.ndim != 1 or len(np.unique(part)) < len(part):
                raise ModelFileError("the names of its features are missing, or not all different.")
            names.append(part)
        space = FeatureSpace.restored(fitted, names)
        parts.sizes["columns"] = int(space.matrix(example).shape[1])
        return Columns(space, example)


@final
class WeightsField(Field):
    """One row of weights and one intercept for each output."""

    def __init__(self, outputs: int | str) -> None:
        self._outputs = outputs

    def write(self, name: str, value: Weights, parts: Parts) -> None:
        parts.arrays["coef_"], parts.arrays["intercept_"] = value.coef, value.intercept

    def read(self, name: str, parts: Parts) -> Weights:
        coef = parts.array("coef_", "f", self._outputs, "columns")
        intercept = parts.array("intercept_", "f", self._outputs)
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ModelFileError("its weights are not finite.")
        parts.sizes["outputs"] = len(coef)
        return Weights(coef, intercept)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearMachine(KernelEstimator):
    """A machine trained on its weights: f(x) = <w, phi(x)> + c, with phi(x) = x for the linear kernel."""

    C: float = 1.0
    kernel: str | Kernel = "linear"
    tol: float = 1e-4
    dual: Dual = "auto"
    fit_intercept: bool = True
    intercept_scaling: float | None = 1.0
    verbose: int = 0
    random_state: Any = None
    max_iter: int = 1000
    time_limit: float | None = None

    _fields: ClassVar[Mapping[str, Field]] = {
        "_columns": ColumnsField(),
        "weights_": WeightsField("outputs"),
        "n_iter_": ValueField(int),
        "certificate_": CertificateField(each_output=True),
    }

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True)
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
        _check.boolean(owner, "fit_intercept", self.fit_intercept)
        if self.intercept_scaling is not None:
            _check.real(owner, "intercept_scaling", self.intercept_scaling, low=0, low_open=True, high_open=True)
        if not isinstance(self.dual, bool | np.bool_) and self.dual != "auto":
            raise _check.fail(owner, "dual", "True, False or 'auto'", self.dual)

    def _kernel(self, X: Any = None) -> Kernel:
        del X
        owner = type(self).__name__
        kernel = parse(self.kernel) if isinstance(self.kernel, str) else self.kernel
        if not isinstance(kernel, Kernel):
            raise _check.fail(owner, "kernel", "a name, an expression or a kernel object", self.kernel)
        return kernel

    def _rows(self, objects: Objects) -> Any:
        """Fit the kernel and its columns; returns the features of these objects, dense or CSR."""
        self.kernel_ = self._kernel().fit(objects)
        if self.kernel_.feature_map() is None:
            rule = "a kernel with explicit features, such as Linear or Spectrum"
            remedy = "Kernel machines such as SVC take any kernel."
            raise _check.fail(type(self).__name__, "kernel", rule, self.kernel_.kernel, remedy)
        if features_of(self.kernel_).in_blocks:
            space, rows = FeatureSpace.restored(self.kernel_, ()), rows_of_features(self.kernel_, objects)
        else:
            space, rows = FeatureSpace.of(self.kernel_, objects)
        self._columns = Columns(space, objects.take(slice(0, 1)))
        return rows

    def _intercept_scale(self) -> float:
        """The scale of the intercept: see `LinearProblem`."""
        if not self.fit_intercept:
            return 0.0
        return math.inf if self.intercept_scaling is None else float(self.intercept_scaling)

    def _options(self, report: Any) -> dict[str, Any]:
        """Options of the solvers besides the problem."""
        return {
            "dual": None if self.dual == "auto" else bool(self.dual),
            "tol": float(self.tol),
            "limits": self._limits(),
            "on_chunk": lambda chunk: report(chunk.fraction, f"gap {chunk.gap:.2g}"),
            "seed": 0 if self.random_state is None else seed_of(self.random_state),
        }

    def _certificate(self, solutions: Sequence[LinearSolution], rows: Any, began: float) -> Certificate:
        dtype = np.dtype(rows.dtype).name
        parts = tuple(
            proof_of(found.w, found.primal, found.lower_bound, found.stats.iterations, dtype, found.violation)
            for found in solutions
        )
        return Certificate.together(parts, 0, time.monotonic() - began)

    def _set_solutions(self, solutions: Sequence[LinearSolution], rows: Any, began: float) -> None:
        weights = np.array([found.w for found in solutions])
        self._set_weights(Weights(weights, np.array([found.intercept for found in solutions])))
        self.n_iter_ = max(found.stats.iterations for found in solutions)
        self.certificate_ = self._certificate(solutions, rows, began)

    def _set_weights(self, weights: Weights) -> None:
        self.weights_ = weights
        self.coef_ = weights.coef
        self.intercept_ = weights.intercept

    def _warn_if_unfinished(self, solutions: Sequence[LinearSolution]) -> None:
        unfinished = [found for found in solutions if found.status is not Status.CONVERGED]
        if not unfinished:
            return
        worst = max((found.primal - found.lower_bound) / found.primal for found in unfinished)
        where = "" if len(solutions) == 1 else f" for {len(unfinished)} of {len(solutions)} machines"
        warnings.warn(
            f"{type(self).__name__} did not converge{where}: the duality gap is {worst:.3g} of the objective, tol is "
            f"{self.tol:g}. {unfinished[0].status.value}",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _values(self, X: Any) -> Float64:
        """Decision values, one column per output."""
        objects = self._new_objects(X)
        return np.vstack([self.weights_(rows) for rows in self._columns.space.blocks(objects)])

    def explain(self, X: Any, by: Literal["auto", "features"] = "auto") -> list[Explanation]:
        """How much every column, symbol, node or feature of each object adds to its decision value, as in `SVC`."""
        remedy = "A machine on weights keeps no support objects; SVC and SVR explain in other ways, too."
        _check.choice("explain", "by", by, ("auto", "features"), remedy)
        objects, names = self._new_objects(X), getattr(self, "feature_names_in_", None)
        return explanations_by_weights(self._columns.space, self.weights_, objects, names)

    def _verified(self, problems: Sequence[LinearProblem], began: float) -> Certificate:
        """Certificates of the fitted weights on these problems, from the definition of both objectives."""
        parts = [
            self._verify_one(problem, w, float(c))
            for problem, w, c in zip(problems, self.weights_.coef, self.weights_.intercept, strict=True)
        ]
        return Certificate.together(tuple(parts), 0, time.monotonic() - began)

    def _verify_one(self, problem: LinearProblem, w: Float64, c: float) -> Certificate:
        f = np.asarray(problem.rows @ w, dtype=np.float64) + c
        rows = rows_of(problem.rows)
        # At the optimum, the slopes of a smooth loss give the dual; otherwise, or with kinks, a new bound is computed.
        b = problem.feasible(-problem.C * problem.loss.slope(problem.y, f))
        primal, dual = bounds(problem, w, c, f, b, rows.combination(b))
        if primal - dual > float(self.tol) * primal:
            b = choice.solve(problem, tol=float(self.tol), limits=self._limits()).dual
            dual = max(dual, bounds(problem, w, c, f, b, rows.combination(b))[1])
        return proof_of(w, primal, dual, self.n_iter_, "float64")

    def _restored(self) -> None:
        self.kernel_ = self._columns.kernel
        if self.kernel_.kernel != self._kernel():
            raise ModelFileError("its kernel is not the one that its parameters name.")
        self._set_weights(self.weights_)


def seed_of(random_state: Any) -> int:
    """An integer seed drawn from any random state that scikit-learn accepts."""
    return _seed_of_number(random_state) if type(random_state) is int else _seed_drawn(random_state)


def _seed_drawn(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


_seed_of_number = lru_cache(_seed_drawn)
"""Cached, since seeding a generator takes longer than training on a few objects."""


def refuse_combination(estimator: Any, pointless: bool, why: str) -> None:
    """Refuse combinations of parameters without a meaning or a solver, with scikit-learn's message."""
    if not pointless:
        return
    given = ", ".join(
        f"{name}={getattr(estimator, name)!r}" for name in ("penalty", "loss", "dual") if hasattr(estimator, name)
    )
    raise ParameterError(f"Unsupported set of arguments: {why}. Parameters: {given}.")


def used_problem(rows: Any, loss: Loss, y: Float64, C: Float64, intercept_scale: float) -> LinearProblem:
    """The problem on the rows with nonzero weight."""
    used = C > 0
    if used.all():
        return LinearProblem(rows, loss, y, C, intercept_scale)
    return LinearProblem(rows[used], loss, y[used], C[used], intercept_scale)


def refuse_overflow(values: Any) -> None:
    """Refuse numbers whose squares overflow: an error is better than wrong weights."""
    if hasattr(values, "squared_lengths"):  # rows in blocks
        values = np.sqrt(values.squared_lengths)
    numbers = np.ravel(values.data if isinstance(values, sp.csr_array) else values)
    with np.errstate(over="ignore"):
        if math.isfinite(float(np.vdot(numbers, numbers))):  # a single pass settles almost every input
            return
    largest = float(np.abs(numbers).max())
    if largest > _LARGEST:
        raise InputError(
            f"overflow: the square of {largest:g} exceeds the range of float64. Rescale the features (and targets), "
            "for example with sklearn.preprocessing.StandardScaler."
        )


def proof_of(
    w: Float64, primal: float, dual: float, iterations: int, dtype: str, violation: float | None = None
) -> Certificate:
    """The certificate of weights: the objective is strongly convex in w, so the gap bounds the distance to the optimum.

    If it is not, `violation` says how far optimality is violated.
    """
    length = float(np.linalg.norm(w))
    distance = math.sqrt(2.0 * max(primal - dual, 0.0)) if violation is None else violation
    margin = 1.0 / length if length > 0 else math.inf
    return Certificate(primal, dual, distance, margin, iterations, kernel_entries=0, seconds=0.0, dtype=dtype)
