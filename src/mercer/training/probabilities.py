"""Probabilities of margin classifiers, learnt from decision values of objects that were held out.

P(k | x) = softmax(sum_j slope_j g_kj(x) + offset_k): every class has evidence g_kj made of decision values, none of
which counts against it (slopes are not negative), and an offset of its own. With two classes that is Platt's
sigmoid of the decision value. The offsets make probabilities those of the data as given, whatever the weights of
classes were in training. The predicted class is the most probable one, always.
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

from mercer._types import Float64, Indices
from mercer.errors import DataWarning, ModelFileError
from mercer.training.storing import Field, Parts

_PRIOR = 1.0
"""Pulls offsets to zero, as much as one object pulls: a class of a few objects would have any offset otherwise."""
_STEEPNESS = 2.0
"""Of the sigmoid by which the machine of a pair becomes evidence for a class: 0.88 at the margin, where it is 1."""


def wanted(estimator: Any) -> bool:
    """Whether an estimator was asked to learn probabilities; scikit-learn hides `predict_proba` otherwise."""
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


def warn_of_weights(estimator: Any) -> None:
    """Say that labels follow from probabilities, where somebody may expect weights of classes to move them."""
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
    """For each object and class: its narrowest win against another class, and the sum of the log odds of all wins.

    `decisions` has one column for each pair of classes (a, b), positive for a.
    """
    against = np.full((len(decisions), n_classes, n_classes), np.inf)
    for column, (a, b) in enumerate(pairs):
        against[:, a, b], against[:, b, a] = decisions[:, column], -decisions[:, column]
    return np.stack([against.min(axis=2), log_expit(_STEEPNESS * against).sum(axis=2)], axis=2)


def evidence_of_classes(values: Float64) -> Float64:
    """The same from decision values with one column per class, or flat ones for two: these values alone."""
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
        found: Indices = probabilities(self.log_odds(evidence)).argmax(axis=1)  # log odds may differ where these do not
        return found

    def log_odds(self, evidence: Float64) -> Float64:
        """One column per class, up to a constant for each object."""
        return np.asarray(evidence @ self.slopes + self.offsets)


def fit_calibration(evidence: Float64, codes: Indices, weights: Float64) -> Calibration:
    """The calibration under which held-out objects are most likely, by Platt's softened targets.

    The likelihood is concave, and softened targets keep its maximum finite where every object is on the right side. A
    weight of two is two objects, next to the one object of the prior as well.
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

    found = scipy.optimize.minimize(
        loss, np.r_[np.ones(kinds), np.zeros(n_classes)], jac=True, method="L-BFGS-B",
        bounds=[(0.0, None)] * kinds + [(None, None)] * n_classes, options={"maxiter": 1000, "ftol": 1e-12},
    ).x  # fmt: skip
    return Calibration(found[:kinds] / size, found[kinds:])


def of_this_fit(estimator: Any) -> Calibration:
    """What an estimator has learnt; raises if `probability` was switched on after it was fitted."""
    calibration: Calibration | None = vars(estimator).get("calibration_")
    if calibration is None:
        raise NotFittedError(
            f"predict_proba is not available when fitted with probability=False. Fit {type(estimator).__name__} again."
        )
    return calibration


def calibration_of_temperature(temperature: Any, kinds: int, n_classes: int) -> Calibration:
    """What files of earlier versions hold: one number, on decision values of classes."""
    if type(temperature) is not float or not 0.0 < temperature < np.inf:
        raise ModelFileError(f"the value of the temperature cannot be {temperature!r:.60}.")
    slopes = np.zeros(kinds)
    slopes[-1] = temperature * (0.5 if n_classes == 2 else 1.0)  # both of two classes have evidence
    return Calibration(slopes, np.zeros(n_classes))


def refuse_damage(calibration: Calibration) -> Calibration:
    """The calibration of a file, if its numbers can be what was learnt."""
    slopes, offsets = calibration.slopes, calibration.offsets
    if not (_finite(slopes) and _finite(offsets) and (slopes >= 0).all()):
        raise ModelFileError("the numbers that its probabilities are made of do not fit, or are not finite.")
    return calibration


@final
class CalibrationField(Field):
    """Slopes and offsets; files of earlier versions hold one temperature on decision values."""

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
            raise ModelFileError(f"its probabilities are made of {len(slopes)} kinds of evidence, which do not fit.")
        return refuse_damage(Calibration(slopes, offsets))


def _finite(values: npt.NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all())
