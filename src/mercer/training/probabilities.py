"""Probabilities of margin classifiers, learnt from decision values of held-out objects.

P(k | x) = softmax(sum_j slope_j g_kj(x) + offset_k): every class has evidence g_kj computed from decision values, which
never counts against it (slopes are not negative), and an offset of its own. For two classes this is Platt's sigmoid of
the decision value. Through the offsets, probabilities refer to the data as given, whatever the class weights were in
training. The predicted class is always the most probable one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.optimize
from scipy.special import expit, log_expit, softmax
from sklearn.exceptions import NotFittedError

from mercer._process import single_threaded_blas
from mercer._types import Float64, Indices
from mercer.errors import DataWarning, ModelFileError
from mercer.training.storing import Field, Parts

_PRIOR = 1.0
"""Pulls offsets to zero with the weight of one object; otherwise the offset of a tiny class would be arbitrary."""
_STEEPNESS = 2.0
"""Slope of the sigmoid that turns the decision value of a pair into evidence: 0.88 at the margin (value 1)."""


def wanted(estimator: Any) -> bool:
    """Whether an estimator was asked to learn probabilities; scikit-learn hides `predict_proba` otherwise."""
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


def warn_of_weights(estimator: Any) -> None:
    """Warn that labels follow from probabilities, so class weights do not change them."""
    if estimator.class_weight is not None:
        warnings.warn(
            f"With probability=True, {type(estimator).__name__} predicts the most probable class of the data as given: "
            "class_weight moves its decision values, not its labels. For labels by weighted decisions use "
            "probability=False, or set a threshold for predict_proba.",
            DataWarning,
            stacklevel=3,
        )


def probabilities(values: Float64) -> Float64:
    """Probabilities of classes, one column each, from log odds: flat for two classes, else one column per class."""
    if values.ndim == 1:
        return np.column_stack([expit(-values), expit(values)])
    return np.asarray(softmax(values, axis=1))


def log_probabilities(values: Float64) -> Float64:
    """Logarithms of `probabilities`, without underflow."""
    if values.ndim == 1:
        return np.column_stack([-np.logaddexp(0.0, values), -np.logaddexp(0.0, -values)])
    return np.asarray(values - np.logaddexp.reduce(values, axis=1, keepdims=True))


def evidence_of_pairs(decisions: Float64, pairs: list[tuple[int, int]], n_classes: int) -> Float64:
    """For each object and class: the narrowest win against another class, and the sum of the log odds of all wins.

    `decisions` has one column for each pair of classes (a, b), positive for a.
    """
    against = np.full((len(decisions), n_classes, n_classes), np.inf)
    for column, (a, b) in enumerate(pairs):
        against[:, a, b], against[:, b, a] = decisions[:, column], -decisions[:, column]
    return np.stack([against.min(axis=2), log_expit(_STEEPNESS * against).sum(axis=2)], axis=2)


def evidence_of_classes(values: Float64) -> Float64:
    """Evidence from decision values with one column per class, or flat for two classes: the values themselves."""
    columns = np.column_stack([-values, values]) if values.ndim == 1 else values
    return columns[:, :, None]


@final
@dataclass(frozen=True, eq=False)
class Calibration:
    """Slopes of the evidence and offsets of the classes."""

    slopes: Float64
    offsets: Float64

    def winners(self, evidence: Float64) -> Indices:
        """The most probable class of each object."""
        found: Indices = probabilities(self.log_odds(evidence)).argmax(axis=1)  # not of log odds, which may break ties
        return found

    def log_odds(self, evidence: Float64) -> Float64:
        """One column per class, up to a constant for each object."""
        return np.asarray(evidence @ self.slopes + self.offsets)


def fit_calibration(evidence: Float64, codes: Indices, weights: Float64) -> Calibration:
    """The maximum-likelihood calibration of held-out objects, with Platt's softened targets.

    The likelihood is concave, and softened targets keep its maximum finite even if every object is on the right side.
    An object of weight two counts as two objects, also relative to the prior.
    """
    n, n_classes, kinds = evidence.shape
    if not n:
        return Calibration(np.ones(kinds), np.zeros(n_classes))
    size = np.maximum(np.abs(evidence).mean(axis=(0, 1)), np.finfo(float).tiny)
    scaled = evidence / size
    counts = np.bincount(codes, weights=weights, minlength=n_classes)
    sure = ((counts + 1.0) / (counts + 2.0))[codes]
    aims = np.repeat((1.0 - sure)[:, None] / (n_classes - 1), n_classes, axis=1)
    aims[np.arange(n), codes] = sure

    def loss(parameters: Float64) -> tuple[float, Float64]:
        slopes, offsets = parameters[:kinds], parameters[kinds:]
        logs = scaled @ slopes + offsets
        logs -= logs.max(axis=1, keepdims=True)
        likely = np.exp(logs)
        totals = likely.sum(axis=1, keepdims=True)
        logs -= np.log(totals)
        off = weights[:, None] * (likely / totals - aims)
        value = -float((weights[:, None] * aims * logs).sum()) + 0.5 * _PRIOR * float(offsets @ offsets)
        return value, np.concatenate([np.einsum("nk,nkj->j", off, scaled), off.sum(axis=0) + _PRIOR * offsets])

    with single_threaded_blas():  # a few parameters: threads would only wait for each other
        found = scipy.optimize.minimize(
            loss, np.r_[np.ones(kinds), np.zeros(n_classes)], jac=True, method="L-BFGS-B",
            bounds=[(0.0, None)] * kinds + [(None, None)] * n_classes, options={"maxiter": 1000, "ftol": 1e-12},
        ).x  # fmt: skip
    return Calibration(found[:kinds] / size, found[kinds:])


def of_this_fit(estimator: Any) -> Calibration:
    """The calibration of a fitted estimator; raises if `probability` was switched on after fitting."""
    calibration: Calibration | None = vars(estimator).get("calibration_")
    if calibration is None:
        raise NotFittedError(
            f"predict_proba is not available when fitted with probability=False. Fit {type(estimator).__name__} again."
        )
    return calibration


def calibration_of_temperature(temperature: Any, kinds: int, n_classes: int) -> Calibration:
    """The calibration in older files: one temperature for the decision values of classes."""
    if type(temperature) is not float or not 0.0 < temperature < np.inf:
        raise ModelFileError(f"the value of the temperature cannot be {temperature!r:.60}.")
    slopes = np.zeros(kinds)
    slopes[-1] = temperature * (0.5 if n_classes == 2 else 1.0)  # with two classes, each has evidence
    return Calibration(slopes, np.zeros(n_classes))


def refuse_damage(calibration: Calibration) -> Calibration:
    """The calibration read from a file, if its numbers are valid."""
    slopes, offsets = calibration.slopes, calibration.offsets
    if not (_finite(slopes) and _finite(offsets) and (slopes >= 0).all()):
        raise ModelFileError("the calibration of its probabilities has negative slopes or numbers that are not finite.")
    return calibration


@final
class CalibrationField(Field):
    """Slopes and offsets; older files have one temperature for decision values."""

    when = "probability"

    def __init__(self, of_pairs: bool) -> None:
        self._of_pairs = of_pairs

    def write(self, name: str, value: Calibration, parts: Parts) -> None:
        parts.arrays["calibration_slopes"], parts.arrays["calibration_offsets"] = value.slopes, value.offsets

    def read(self, name: str, parts: Parts) -> Calibration:
        n_classes = parts.sizes["classes"]
        if "temperature_" in parts.values:
            return calibration_of_temperature(parts.values["temperature_"], 3 if self._of_pairs else 1, n_classes)
        slopes = parts.array("calibration_slopes", "f", "evidence")
        offsets = parts.array("calibration_offsets", "f", "classes")
        if len(slopes) not in ((2, 3) if self._of_pairs else (1,)):
            raise ModelFileError(f"its probabilities have {len(slopes)} slopes, which is the wrong number.")
        return refuse_damage(Calibration(slopes, offsets))


def _finite(values: npt.NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all())
