"""Labels, weights and columns: checking, encoding, and passing them to estimators."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from mercer import _registry
from mercer._types import Float64, Indices
from mercer.errors import DataWarning, InputError
from mercer.gram import journal
from mercer.inputs.base import Objects, refuse_masked
from mercer.inputs.blocks import content_digest
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors, is_sparse

_CLASSIFIERS = {
    "SVR": "SVC",
    "NuSVR": "NuSVC",
    "LinearSVR": "LinearSVC",
    "KernelRidge": "KernelRidgeClassifier",
    "KernelRidgeCV": "KernelRidgeClassifier",
}


@final
@dataclass(frozen=True, eq=False)
class Classes:
    """The labels, sorted, and which one each object has."""

    labels: npt.NDArray[Any]
    codes: Indices


def classes_of(estimator: Any, y: Any, objects: Objects, *, regressor: str) -> Classes:
    """Labels of a classification problem; refuses anything else."""
    y = given_targets(y, objects)
    refuse_masked(y, "y")
    _refuse_mixed(y)
    if width_of(y) > 1:
        raise InputError(
            f"{type(estimator).__name__} takes one label per object: y should be a 1d array, got an array of shape "
            f"({len(objects)}, {width_of(y)}) instead. For several labels at once, as a table of zeros and ones, use "
            "KernelRidgeClassifier, or one classifier per column (sklearn.multioutput.MultiOutputClassifier)."
        )
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU"  # no gaps, no fractions
    labels = y if plain else validate_data(estimator, y=y)
    if len(labels) != len(objects):
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{len(objects)}, {len(labels)}]. "
            "X and y must have one entry per object each."
        )
    if not plain:
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise InputError(f"{error} For numbers as targets use {regressor}.") from error
    found, codes = np.unique(labels, return_inverse=True)
    if plain and 2 * len(found) > len(labels):
        check_classification_targets(labels)  # warns of numbers that may not be meant as classes
    if len(found) < 2:
        count = "one sample" if len(labels) == 1 else f"{len(labels)} samples"
        raise InputError(
            f"The number of classes has to be greater than one; got 1 class: all {count} have the label {found[0]!r}."
        )
    return Classes(found, codes)


def given_targets(y: Any, objects: Objects) -> Any:
    """The given targets, or else those of the blocks."""
    if not isinstance(objects, Streamed):
        return y
    y = _registry.in_memory(y)
    if y is None:
        if objects.y is None:
            raise InputError("These blocks have no targets. Pass y to fit, or blocks that have them.")
        return objects.y
    journal.about(lambda: content_digest(np.asarray(y)))
    return y


def signs_against_rest(classes: Classes) -> list[Float64]:
    """Labels -1 and +1 for each machine: +1 is the second of two classes, or each class in turn."""
    positives = [1] if len(classes.labels) == 2 else range(len(classes.labels))
    return [np.where(classes.codes == label, 1.0, -1.0) for label in positives]


def known_classes(labels: npt.NDArray[Any], y: Any) -> Classes:
    """The labels of a trained machine, and the one of each object."""
    refuse_masked(y, "y")
    return Classes(labels, np.searchsorted(labels, np.asarray(y)))


def numbers_of(estimator: Any, y: Any, objects: Objects, *, several: bool) -> tuple[Float64, bool]:
    """Targets of a regression problem as columns (several only with `several`), and whether y was flat."""
    y = given_targets(y, objects)
    if _plain_numbers(y, len(objects)):  # scikit-learn's check passes, too, but is slow for few objects
        return np.asarray(y, dtype=np.float64)[:, None], True
    refuse_masked(y, "y")
    _refuse_text(type(estimator).__name__, y)
    if not several and width_of(y) > 1:
        raise InputError(
            f"{type(estimator).__name__} takes one number per object: y should be a 1d array, got an array of shape "
            f"({len(objects)}, {width_of(y)}) instead. For several at once use KernelRidge, or one regressor per "
            "column (sklearn.multioutput.MultiOutputRegressor)."
        )
    names = vars(estimator).get("feature_names_in_")
    values = validate_data(estimator, y=y, multi_output=several, y_numeric=True)
    if names is not None:  # scikit-learn drops them if there is no X
        estimator.feature_names_in_ = names
    targets = np.asarray(values, dtype=np.float64)
    if len(targets) != len(objects):
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{len(objects)}, {len(targets)}]. "
            "X and y must have one entry per object each."
        )
    if targets.ndim > 2:
        raise InputError(f"Targets must be numbers or rows of numbers; got an array of shape {targets.shape}.")
    single = targets.ndim == 1
    return (targets[:, None] if single else targets), single


def _plain_numbers(y: Any, n: int) -> bool:
    """Whether y is a flat array of n finite numbers."""
    if type(y) is not np.ndarray or y.shape != (n,) or y.dtype.kind not in "fiu":
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(y.sum(dtype=np.float64)))


def sample_weights(sample_weight: Any, objects: Objects, *, dropping: bool = False) -> Float64:
    """One weight per object, none negative; with `dropping`, negative ones become zero, as in scikit-learn's SVC."""
    refuse_masked(sample_weight, "sample_weight")
    if sample_weight is None and isinstance(objects, Streamed):
        sample_weight = objects.weights
    elif isinstance(objects, Streamed):
        sample_weight = given = np.asarray(_registry.in_memory(sample_weight))
        journal.about(lambda: content_digest(given))
    if sample_weight is None:
        return np.ones(len(objects))
    rows = np.empty((len(objects), 0))  # scikit-learn's check needs only the length
    weights: Float64 = _check_sample_weight(sample_weight, rows, dtype=np.float64, allow_all_zero_weights=True)
    if (weights <= 0).all():
        raise InputError("Invalid input - all samples have zero or negative weights.")
    if (weights < 0).any():
        negative = np.flatnonzero(weights < 0)
        where = int(negative[0])
        if not dropping:
            raise InputError(f"sample_weight must not be negative; object {where} has {weights[where]:g}.")
        weights = np.maximum(weights, 0.0)
        warnings.warn(
            f"{len(negative)} of {len(weights)} weights are negative, the first that of object {where}: these objects "
            "are left out, as if they had no weight.",
            DataWarning,
            stacklevel=3,
        )
    return weights


def refuse_weightless_classes(classes: Classes, weights: Float64, also: str = "") -> None:
    """Refuse a class whose objects all have zero weight; `also` is appended to the message."""
    totals = np.bincount(classes.codes, weights=weights, minlength=len(classes.labels))
    empty = classes.labels[totals <= 0]
    if len(classes.labels) - len(empty) < 2:
        raise InputError(
            "Invalid input - all samples with positive weights belong to the same class: "
            f"{', '.join(repr(label) for label in empty.tolist())} have zero `sample_weight`.{also}"
        )
    if len(empty):
        raise InputError(
            f"All samples of class {empty.tolist()[0]!r} have zero weight. Drop the class, or give it a weight."
        )


def class_weights(class_weight: Any, classes: Classes, weights: Float64 | None = None) -> Float64:
    """One factor per class: given, balanced (using these object weights), or 1."""
    if class_weight is None:
        return np.ones(len(classes.labels))
    labels = classes.labels[classes.codes]
    factors: Float64 = compute_class_weight(class_weight, classes=classes.labels, y=labels, sample_weight=weights)
    return np.asarray(factors, dtype=np.float64)


def width_of(y: Any) -> int:
    """The number of columns of targets; 1 if they are flat."""
    if isinstance(y, list | tuple):
        first = y[0] if y else None
        return len(first) if isinstance(first, list | tuple | np.ndarray) and np.ndim(first) == 1 else 1
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return int(shape[1]) if len(shape) == 2 else 1


def _refuse_text(owner: str, y: Any) -> None:
    """Refuse names of classes as targets of a regressor."""
    first = (
        next(iter(np.ravel(np.asarray(y, dtype=object))), None) if isinstance(y, list | tuple | np.ndarray) else None
    )
    if not isinstance(first, str):
        return
    try:
        float(first)
    except ValueError:
        raise InputError(
            f"{owner} predicts numbers, but y holds names, such as {first!r}. For classes use "
            f"{_CLASSIFIERS.get(owner, 'KernelMachineClassifier')}."
        ) from None


def _refuse_mixed(y: Any) -> None:
    if isinstance(y, list | tuple):
        text = [isinstance(label, str) for label in y]
        if any(text) and not all(text):
            first = y[text.index(not text[0])]
            raise InputError(
                f"Mix of label types: {y[0]!r} ({type(y[0]).__name__}) and {first!r} ({type(first).__name__}). "
                "NumPy would turn all of them into strings silently; convert them to one type first."
            )


def check_features(estimator: Any, X: Any, objects: Objects, *, reset: bool) -> None:
    """Record the columns of training objects (`reset`), or refuse new objects with other columns."""
    if isinstance(objects, Streamed):
        _check_blocks(estimator, objects, reset=reset)
        return
    rows = objects.values if isinstance(objects, Vectors) else None
    if isinstance(objects, GramRows):
        rows = objects.matrix
    if rows is None:
        return
    if type(X) is np.ndarray or is_sparse(X):  # as scikit-learn does, but faster for few objects
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
            estimator.n_features_in_ = int(rows.shape[1])
            return
        if "feature_names_in_" not in vars(estimator) and rows.shape[1] == getattr(estimator, "n_features_in_", None):
            return
    named = X if isinstance(objects, Vectors) and hasattr(X, "columns") else rows
    validate_data(estimator, named, reset=reset, skip_check_array=True)


def _check_blocks(estimator: Any, objects: Streamed, *, reset: bool) -> None:
    """Check the first object; the columns of the others are checked when they are read."""
    first, names = objects.take(slice(0, 1)), objects.blocks.names
    known = getattr(estimator, "feature_names_in_", None)
    if reset or names is None or known is None or list(names) != list(known):
        check_features(estimator, np.empty((1, 0)), first, reset=reset)
    if reset:
        journal.about(lambda: f"{type(estimator).__name__} {estimator.get_params()!r} {objects.blocks.digest}")
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
