"""Splits into training and test objects: shuffled, by groups, or forward in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.training.folds import Split, make_folds


def folds_for(
    y: npt.NDArray[Any],
    task: str,
    folds: int,
    seed: int,
    groups: npt.NDArray[Any] | None = None,
    times: Float64 | None = None,
) -> list[Split]:
    """Shuffled folds with an equal share of each class; fewer folds if the rarest class has fewer objects.

    The objects of a group are all in one fold. With `times`, machines are tested on later objects than they were
    trained on.
    """
    most = _most_folds(y, task)
    if times is not None:
        return _forward(y, task, folds, times)
    if groups is None:
        return make_folds(min(folds, most), y, y, classifier=task == "classification", random_state=seed)
    most = min(most, len(np.unique(groups)))
    if most < 2:
        raise InputError(
            "All rows are of one group (--group); at least two are needed to learn from one and try another."
        )
    splitter = (StratifiedGroupKFold if task == "classification" else GroupKFold)(
        min(folds, most), shuffle=True, random_state=seed
    )
    splits = make_folds(splitter, y, y, classifier=task == "classification", groups=groups)
    if task == "classification" and any(_lacks_a_class(y, train) for train, _ in splits):
        raise InputError("A class has objects of one group alone (--group): without that group it cannot be learnt.")
    return splits


def _most_folds(y: npt.NDArray[Any], task: str) -> int:
    """The largest possible number of folds; an error if not even two."""
    if task == "regression":
        if len(y) < 2:
            raise InputError("Found 1 object; at least 2 are needed to learn from some and try on others.")
        return len(y)
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) < 2:
        raise InputError(
            f"All {len(y):,} objects have the label {labels[0].item()!r}; at least two classes are needed."
        )
    if counts.min() < 2:
        rare = labels[counts.argmin()].item()
        raise InputError(
            f"The class {rare!r} has 1 object; at least 2 are needed to learn from one and try on the other."
        )
    return int(counts.min())


def _forward(y: npt.NDArray[Any], task: str, folds: int, times: Float64) -> list[Split]:
    """Consecutive blocks of about the same size; each is predicted by a machine trained on all blocks before it.

    Objects of the same time are in one block. The first block is never tested, nor those before which a class has not
    occurred.
    """
    ordered = np.sort(times)
    ends = ordered[[len(ordered) * number // (folds + 1) for number in range(1, folds + 1)]]
    block = np.searchsorted(np.unique(ends), times, side="right")
    numbers = np.unique(block)
    if len(numbers) < 2:
        raise InputError("All rows have the same time (--time): there is nothing later to try a machine on.")
    splits = [(np.flatnonzero(block < number), np.flatnonzero(block == number)) for number in numbers[1:]]
    if task == "classification":
        splits = [split for split in splits if not _lacks_a_class(y, split[0])]
        if not splits:
            raise InputError(
                "A class occurs only at the end (--time): machines cannot be tried on later rows without having seen "
                "all classes. Use fewer --folds, or leave --time out."
            )
    return splits


def _lacks_a_class(y: npt.NDArray[Any], rows: Indices) -> bool:
    return len(np.unique(y[rows])) < len(np.unique(y))


def tried(splits: list[Split]) -> Indices:
    """The objects that were predicted by a machine that had not seen them, in ascending order."""
    return np.sort(np.concatenate([test for _, test in splits]))


def among(splits: list[Split], rows: Indices) -> list[Split]:
    """The same test parts, by position among these objects; the others are the training parts."""
    places = [np.searchsorted(rows, test) for _, test in splits]
    return [(np.setdiff1d(np.arange(len(rows)), own), own) for own in places]
