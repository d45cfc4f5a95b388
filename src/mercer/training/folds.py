"""Splits of objects into training and test parts, for all cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.inputs.base import Objects

FOLDS = 5
"""The number of folds for held-out decision values, as in LIBSVM and scikit-learn: more folds take longer."""

Split = tuple[Indices, Indices]
"""The indices of the training objects, and those of the test objects."""


def make_folds(
    cv: Any, X: Any, y: Any, *, classifier: bool, random_state: int | None = None, **params: Any
) -> list[Split]:
    """The splits that `cv` stands for in scikit-learn: a number of folds, a splitter, or the splits themselves.

    A number of folds means stratified folds for classifiers. With `random_state` these folds are shuffled, since files
    are often sorted by class or by target. `params`, such as `groups`, are passed to the splitter.
    """
    splitter = check_cv(cv, y, classifier=classifier)
    if random_state is not None and isinstance(cv, Integral):
        splitter = type(splitter)(cv, shuffle=True, random_state=random_state)
    rows = np.zeros((len(X), 1)) if isinstance(X, Objects) else X
    splits = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(rows, y, **params)]
    if not splits:
        raise InputError("No fits were performed: the splitter gave no split. Check `cv`.")
    return splits


def folds_with_every_class(codes: Indices, weights: Float64, random_state: Any, folds: int = FOLDS) -> Iterator[Split]:
    """Stratified folds whose training parts never lack a class.

    Objects without weight are in neither part; the only object of a class is in every training part.
    """
    random = check_random_state(random_state)
    usable = weights > 0
    fold = np.full(len(codes), -1)
    begin = 0
    for label in range(int(codes.max()) + 1):
        members = random.permutation(np.flatnonzero(usable & (codes == label)))
        if len(members) > 1:
            fold[members] = (begin + np.arange(len(members))) % min(folds, len(codes))
            begin += len(members)
    # If all objects of a class fall into one fold, the first of them stays in training.
    for number in range(folds):
        test = fold == number
        for label in np.unique(codes[test]):
            if not (usable & ~test & (codes == label)).any():
                test[np.flatnonzero(test & (codes == label))[0]] = False
        if test.any():
            yield np.flatnonzero(usable & ~test), np.flatnonzero(test)


def out_of_fold(splits: Iterable[Split], predict: Callable[[Indices, Indices], Float64]) -> tuple[Indices, Float64]:
    """The held-out objects, fold after fold, and the result of `predict(train, test)` for each of them."""
    tested, values = [np.zeros(0, dtype=np.intp)], []
    for train, test in splits:
        tested.append(test)
        values.append(predict(train, test))
    return np.concatenate(tested), np.concatenate(values) if values else np.zeros(0)
