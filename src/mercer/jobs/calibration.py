"""Probabilities from decision values, learnt from objects that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from mercer._types import Float64
from mercer.training.folds import Split


def learn(decisions: Float64, codes: npt.NDArray[np.intp], n_classes: int) -> Float64:
    """Weights and constants of a logistic model on decision values: one row, or one per class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model: Any = LogisticRegression(C=100.0, max_iter=500).fit(decisions, codes)
    if len(model.classes_) < n_classes:  # a class that occurs in no test part: no probabilities
        return np.zeros((0, 0))
    return np.column_stack([model.coef_, model.intercept_])


def probabilities(calibration: Float64, decisions: Float64) -> Float64:
    """One column per class."""
    scores = decisions @ calibration[:, :-1].T + calibration[:, -1]
    return softmax(np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores, axis=1)


def held_out(decisions: Float64, codes: npt.NDArray[np.intp], splits: Sequence[Split], n_classes: int) -> Float64:
    """The probabilities of each object from a calibration learnt without its fold, for unbiased figures."""
    found = np.full((len(codes), n_classes), np.nan)
    for train, test in splits:
        calibration = learn(decisions[train], codes[train], n_classes)
        if calibration.size:
            found[test] = probabilities(calibration, decisions[test])
    return found
