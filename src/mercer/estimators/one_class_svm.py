"""Novelty detection by support vectors."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer._types import Float64
from mercer.errors import KernelError
from mercer.gram.condensing import machine_over
from mercer.gram.contract import Gram
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.losses.hinge import Hinge
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.solution import Solution, Stats, Status
from mercer.training.certificate import Certificate, lost_in_double, unknown_certificate
from mercer.training.explanation import By, Explanation, explanations
from mercer.training.full_kernel import Excess, FullView
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import GramSettings, Recomputed, guard, guarded_gram
from mercer.training.nu import solve_nu_form
from mercer.training.on_a_part import Part, affordable
from mercer.training.parameters import LibsvmParameters
from mercer.training.storing import MACHINE, ArrayField, ExpansionField, Field, ValueField, positive
from mercer.training.support import SupportAttributes
from mercer.training.targets import sample_weights
from mercer.training.train import Machine, warn_if_unfinished

_ROUNDED = 1e-9
"""By how much a coefficient may be beyond its bound, as a share of it, by rounding."""


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassSVM(OutlierMixin, LibsvmParameters, KernelEstimator, SupportAttributes):
    """Novelty detection: a region of feature space that contains all but at most a fraction nu of the training objects.

    With ``region="plane"`` the region is a half-space far from the origin, which minimises 1/2 |w|^2 - nu n rho + sum_i
    max(0, rho - <w, phi(x_i)>) over w and rho. With ``region="ball"`` it is a small ball of centre c and radius r,
    which minimises r^2 + 1/(nu n) sum_i max(0, |phi(x_i) - c|^2 - r^2). If k(x, x) is the same for all x, as for every
    normalised kernel, both regions and their decision functions are the same. A drop-in for scikit-learn's OneClassSVM,
    with the same attributes.

    Parameters
    ----------
    nu : the fraction of training objects that may be left out, in (0, 1]; up to 1/n the ball encloses all of them.
    region : ``"plane"`` or ``"ball"``.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, time_limit, memory, psd, dtype : as in
        `SVC`.
    dual : as in `NuSVC`.

    Attributes
    ----------
    support_ : positions of the support objects among the training objects.
    support_vectors_ : these objects, if they are vectors.
    n_support_ : their number, in an array.
    dual_coef_ : their coefficients, in one row.
    intercept_, offset_ : decision values are scores minus the offset, which is minus the intercept.
    coef_ : weights of the columns, for the linear kernel only; read-only.
    radius_ : the radius of the ball in feature space, with ``region="ball"``.
    n_iter_ : the number of training steps.
    fit_status_ : 0 if training converged, otherwise 1.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    certificate_ : how close the machine is to the optimum: numbers that print as sentences.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import OneClassSVM, kernels
    >>> model = OneClassSVM(nu=0.2, kernel=kernels.normalise(kernels.Spectrum(2)))
    >>> model.fit(["gattaca", "gattac", "attaca", "gataca", "gattaga"]).predict(["gattaca", "cgcgcg"])
    array([ 1, -1])
    """

    nu: float = 0.5
    region: Literal["plane", "ball"] = "plane"

    _fields: ClassVar[Mapping[str, Field]] = {
        **MACHINE,
        "expansion_": ExpansionField(outputs=1),
        "support_": ArrayField("i", "rows"),
        "n_iter_": ValueField(int),
        "fit_status_": ValueField(int),
        "_mass": ValueField(float, positive),
        "_centre": ValueField(float),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X; `y` is ignored, and `sample_weight` is the cost of leaving each object out."""
        del y
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            nu = _check.real(owner, "nu", self.nu, low=0, high=1, low_open=True)
            tol = _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
            _check.choice(owner, "region", self.region, ("plane", "ball"))
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects, dropping=True)
            fitted = self._fit_kernel(kernel, objects, weights)
            memory = self.memory if self.cache_size is None else self.cache_size
            settings = GramSettings(owner, self.dual, memory, self.psd, self._gram_dtype(), nu_form=True)
            guarded = guarded_gram(settings, fitted, objects, [Hinge()])
            mass = nu * float(weights.sum())
            used = np.flatnonzero(weights > 0)
            part = guarded.gram if len(used) == len(weights) else guarded.gram.view(used)
            linear = self._linear(mass, part.diagonal())
            problem = BoxProblem(linear, np.zeros(len(used)), weights[used], mass)
            with reporting("Training") as report:
                found = _solved(
                    part, problem, tol, self._limits(), lambda chunk: report(chunk.fraction, f"gap {chunk.gap:.2g}")
                )
        dual = np.zeros((len(objects), 1))
        dual[used, 0] = found.coefficients
        full = guarded.expanded(dual)
        self.kernel_ = fitted
        self._mass = mass
        self.support_ = np.flatnonzero(full[:, 0])
        self._repair = guarded.repair(dual[self.support_])
        intercept = np.array([float(found.intercept)])
        self.expansion_, self.support_ = machine_over(fitted, objects, self.support_, full[self.support_], intercept)
        self._centre = _squared(found, linear) / mass**2
        dtype = np.dtype(guarded.gram.dtype).name
        self.n_iter_ = found.stats.iterations
        prove = partial(self._proof, weights[used], linear, found, part.diagonal(), dtype)
        machine = Machine(found.coefficients, found.intercept, found.status, self.n_iter_, prove)
        entries, seconds = guarded.original.entries_computed, time.monotonic() - began
        self._certify_later(lambda: Certificate.together((machine.certificate,), entries, seconds))
        self.fit_status_ = 0 if machine.converged else 1
        warn_if_unfinished(self, [machine])
        return self

    def _linear(self, mass: float, diagonal: Float64) -> Float64:
        """The linear term of the dual: zero for a plane, squared lengths for a ball."""
        return -0.5 * mass * diagonal if self.region == "ball" else np.zeros(len(diagonal))

    def _proof(self, weights: Float64, linear: Float64, found: Solution, diagonal: Float64, dtype: str) -> Certificate:
        """The primal is 1/2 |w|^2 + mass t + sum_i w_i max(0, -(f_i + t)): f outputs and `linear`, t the intercept."""
        b, outputs, steps = found.coefficients, found.outputs, found.stats.iterations
        if len(outputs) < len(b):  # time was over before they were known
            return unknown_certificate(steps, dtype)
        off = found.off + lost_in_double(np.sqrt(np.abs(diagonal)), b, outputs)
        t, squared = float(self.expansion_.intercept[0]), max(float(b @ outputs), 0.0)
        most = squared + float((np.abs(b) * off).sum())
        primal = 0.5 * most + self._mass * t + float(weights @ np.maximum(0.0, off - (outputs + linear + t)))
        feasible = (b <= weights * (1.0 + _ROUNDED)).all()  # not where a part of the objects stands for the others
        dual = -0.5 * most - float(linear @ b) if feasible else -math.inf
        problem = BoxProblem(linear, np.zeros(len(b)), weights, self._mass)
        worst = problem.violation(b, -(outputs + linear), off)
        margin = 1.0 / math.sqrt(squared) if squared > 0 else math.inf
        return Certificate(primal, dual, worst, margin, steps, kernel_entries=0, seconds=0.0, dtype=dtype)

    def decision_function(self, X: Any) -> Float64:
        """Positive inside the region, negative outside; for a ball (r^2 - |phi(x) - c|^2) times half of nu n."""
        objects = self._new_objects(X)
        values = self.expansion_(objects, self._gram_dtype())[:, 0]
        return values + self._linear(self._mass, self._lengths(objects)) if self.region == "ball" else values

    def _lengths(self, objects: Objects) -> Float64:
        return self.kernel_.diagonal(self.kernel_.features(objects))

    def score_samples(self, X: Any) -> Float64:
        """The decision function without its offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> Any:
        """1 for objects inside the region, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)

    def verify(self, X: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data in float64, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        weights = sample_weights(sample_weight, objects, dropping=True)
        used = weights > 0
        found = Recomputed.of(self.expansion_, self._repair, self.support_, objects)
        lengths = self._lengths_in_training(objects)
        linear = self._linear(self._mass, lengths)
        stats = Stats(self.n_iter_, self.certificate_.kkt_violation, 0.0)
        again = Solution(
            found.coefficients[used, 0], found.outputs[used, 0], -self.offset_, 0.0, Status.CONVERGED, stats
        )
        proof = self._proof(weights[used], linear[used], again, lengths[used], "float64")
        return Certificate.together((proof,), found.entries, time.monotonic() - began)

    def _excess(self, coefficients: Float64, objects: Objects, y: Any, sample_weight: Any, exact_rows: int) -> Excess:
        """By weak duality: coefficients keep their bounds and their sum, whatever the kernel is."""
        del y
        weights = sample_weights(sample_weight, objects, dropping=True)
        b = coefficients[:, 0]
        if (b > weights * (1.0 + _ROUNDED)).any():
            raise KernelError("The machine was trained on a part of the objects, so there is no bound for all of them.")
        view = FullView.of(self.expansion_, coefficients, objects, exact_rows)
        linear = self._linear(self._mass, view.diagonal)
        lost = float(weights @ np.maximum(0.0, -(view.outputs[:, 0] + linear)))
        primal = 0.5 * float(view.length[0]) + self._mass * float(self.expansion_.intercept[0]) + lost
        return Excess(primal, -0.5 * float(view.energy[0]) - float(linear @ b), view.trace_left, view.sampled_rows)

    def _lengths_in_training(self, objects: Objects) -> Float64:
        """k(x, x) in the training matrix: a repair changes lengths, which matters only for balls."""
        if self._repair is None or self.region != "ball":
            return self._lengths(objects)
        gram = gram_of(self.kernel_, objects, dtype=np.float64, memory=self.memory)
        return guard(type(self).__name__, self.kernel_.kernel, gram, self.psd).gram.diagonal()

    def explain(self, X: Any, by: By = "auto") -> list[Explanation]:
        """What every part of each object adds to its decision value, as in `SVC`."""
        return explanations(*self._machine_and_objects(X), by=by, support=getattr(self, "support_", None))

    @property
    def offset_(self) -> float:
        """The smallest score of an object inside the region."""
        check_is_fitted(self)
        return -float(self.expansion_.intercept[0])

    @property
    def radius_(self) -> float:
        """The radius of the ball in feature space."""
        if self.region != "ball":
            raise AttributeError("radius_ is only available when region='ball'")
        return math.sqrt(max(self._centre - 2.0 * self.offset_ / self._mass, 0.0))

    @property
    def intercept_(self) -> Float64:
        """Minus the offset, as in scikit-learn."""
        check_is_fitted(self)
        return self.expansion_.intercept

    @property
    def dual_coef_(self) -> Float64:
        """Coefficients of support objects, in one row."""
        check_is_fitted(self)
        return self.expansion_.coefficients.T


def _solved(gram: Gram, problem: BoxProblem, tol: float, limits: Limits, on_chunk: OnChunk) -> Solution:
    """The solution of all objects, or, where time is short, that of a part of them."""
    assert problem.total is not None
    parts = affordable(gram, problem.upper, problem.total / float(problem.upper.sum()), limits)
    if parts is None:
        return solve_nu_form(gram, problem, tol, limits, on_chunk)[0]

    def train(part: Part) -> Solution:
        some = dataclasses.replace(problem.part(part.ids), upper=part.weights)
        return solve_nu_form(gram.view(part.ids), some, tol, limits, on_chunk)[0]

    part, found = parts.largest(train)
    return part.solution(found)


def _squared(found: Solution, linear: Float64) -> float:
    """|w|^2; of a part of the objects, by the objective 1/2 |w|^2 + linear'b."""
    b = found.coefficients
    return float(b @ found.outputs) if len(found.outputs) else 2.0 * (found.objective - float(linear @ b))
