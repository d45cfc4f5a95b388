"""Support vector machines by the subgradient methods of the lectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from mercer import _check
from mercer._types import Float64
from mercer.lectures.exact import Aim
from mercer.lectures.run import LectureRun
from mercer.lectures.subgradient_descent import BatchSubgradient, StochasticSubgradient
from mercer.lectures.traced_classifier import TracedLinearClassifier, checked_variant
from mercer.losses.hinge import Hinge
from mercer.training.choices import Variant

_BATCH_STEPS, _PASSES = 1000, 100
"""Steps over all objects, and passes of single ones: enough to come within 1 % of the minimum on standardised data.
More cost time, fewer stop short of it."""
_CONSTANT_RATE = 0.01
"""The step that the slides print; data on a large scale need a smaller one, or descent diverges."""


@dataclass(kw_only=True, eq=False, repr=False)
class SubgradientSVM(TracedLinearClassifier):
    """A linear support vector machine, trained as on the slides, to watch how training goes.

    ``method="batch"`` minimises |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b)) with a step over all objects at a time;
    ``method="stochastic"`` minimises 1/2 |w|^2 + C/N sum_i max(0, 1 - y_i w.x_i), which has no b, one random object at
    a time. Scale the features first: steps have the same length in all directions. For work rather than for study use
    `SVC`, which finds the exact minimum and certifies it.

    Parameters
    ----------
    method : ``"batch"`` or ``"stochastic"``.
    variant : ``"corrected"``, which converges; ``"constant"`` (batch only), the slide as it is meant, with an indicator
        for each object and a constant step; or ``"printed"``, the slide to the letter.
    C : the penalty on slack, as in the two objectives above.
    steps : the number of steps; None for 1000 (batch) or 100 for each object (stochastic).
    learning_rate : the length of the first step (corrected batch), eta itself (other batches), or the factor in eta_t =
        learning_rate / t (stochastic); None for 1, 0.01 and 1.
    record_every : steps between recorded values; None for 1 (batch) or as many as there are objects (stochastic).
    random_state : which objects the stochastic method draws.
    time_limit : the largest number of seconds; None for no limit.

    Attributes
    ----------
    classes_ : the labels.
    coef_, intercept_ : w and b, a row for each machine.
    traces_ : the objective after each recorded step, for each machine; `trace_` for two classes.
    certificate_ : how far the objective is above its exact minimum.
    trace_ : the only trace, of two classes.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import SubgradientSVM
    >>> model = SubgradientSVM(method="batch").fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> model.predict([[-0.5], [0.5]])
    array([0, 1])
    """

    method: Literal["batch", "stochastic"] = "batch"
    variant: Variant = "corrected"
    C: float = 1.0
    steps: int | None = None
    learning_rate: float | None = None
    record_every: int | None = None
    random_state: Any = None
    time_limit: float | None = None

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.choice(owner, "method", self.method, ("batch", "stochastic"))
        checked_variant(self, stochastic=self.method == "stochastic")
        _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True)
        for name in ("steps", "record_every"):
            if getattr(self, name) is not None:
                _check.integer(owner, name, getattr(self, name), low=1)
        if self.learning_rate is not None:
            _check.real(owner, "learning_rate", self.learning_rate, low=0, low_open=True, high_open=True)

    def _aim(self, n: int) -> Aim:
        if self.method == "batch":  # |w|^2 + C sum = 2 (1/2 |w|^2 + C/2 sum)
            return Aim(Hinge(), 0.5 * float(self.C), factor=2.0)
        return Aim(Hinge(), float(self.C) / n, intercept=False)

    def _algorithm(self, data: Float64, signs: Float64) -> LectureRun:
        C, printed = float(self.C), self.variant == "printed"
        if self.method == "batch":
            constant = self.variant != "corrected"
            rate = self.learning_rate or (_CONSTANT_RATE if constant else 1.0)
            return BatchSubgradient(data, signs, C, self.steps or _BATCH_STEPS, rate, constant, printed)
        return StochasticSubgradient(
            data,
            signs,
            C,
            steps=self.steps or _PASSES * len(signs),
            learning_rate=self.learning_rate or 1.0,
            record_every=self.record_every or len(signs),
            random_state=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
            printed=printed,
        )
