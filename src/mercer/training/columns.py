"""What an estimator knows of the columns of its objects: how many there are, and what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from mercer.gram import journal
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors


def check_features(estimator: Any, X: Any, objects: Objects, *, reset: bool) -> None:
    """Let an estimator know the columns of training objects (`reset`), or refuse new objects that have others."""
    if isinstance(objects, Streamed):
        _check_blocks(estimator, objects, reset=reset)
    elif isinstance(objects, Vectors):
        if type(X) is np.ndarray:  # scikit-learn would do the same, and take longer than few objects do
            if reset:
                estimator.__dict__.pop("feature_names_in_", None)
                estimator.n_features_in_ = objects.n_features
                return
            unnamed = "feature_names_in_" not in vars(estimator)
            if unnamed and objects.n_features == getattr(estimator, "n_features_in_", None):
                return
        named = X if hasattr(X, "columns") else objects.values
        validate_data(estimator, named, reset=reset, skip_check_array=True)
    elif isinstance(objects, GramRows) and objects.matrix is not None:
        validate_data(estimator, objects.matrix, reset=reset, skip_check_array=True)


def _check_blocks(estimator: Any, objects: Streamed, *, reset: bool) -> None:
    """By the first object; that the others have as many columns is checked when they are read."""
    first = objects.take(slice(0, 1))
    check_features(estimator, np.empty((1, 0)), first, reset=reset)
    if reset:
        journal.about(lambda: f"{type(estimator).__name__} {estimator.get_params()!r} {objects.blocks.digest}")
        if objects.blocks.names is not None:
            estimator.feature_names_in_ = np.array(objects.blocks.names, dtype=object)
