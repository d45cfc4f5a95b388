"""Objects of any kind as rows of numbers, for tools that take nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError
from mercer.inputs.base import listed
from mercer.inputs.tables import Table
from mercer.kernels.base import Kernel
from mercer.kernels.text.expression import parse
from mercer.kernels.user import FromBlocks


def objects(X: Any) -> npt.NDArray[Any]:
    """Objects of any kind as an array of one column, for tools of scikit-learn that want a length and a shape.

    A table given as a dictionary has the length of its columns, not of its rows, so that `cross_val_score` and the like
    cannot take it apart; lists of strings or graphs have no shape, which bagging, boosting, learning curves and
    permutation importance ask for. Every learner takes the array that is returned as it takes the objects themselves.
    Tools that turn X into numbers (one-against-one, chains, self-training) need `indexed`.

    >>> from sklearn.model_selection import cross_val_score
    >>> from mercer import SVC, kernels, objects
    >>> table = {"word": ["gattaca", "gattica", "ccgcg", "cgcgc"], "mass": [1.0, 1.5, 3.0, 3.5]}
    >>> kernel = kernels.on("word", kernels.Spectrum(2)) + kernels.on("mass", kernels.RBF())
    >>> cross_val_score(SVC(kernel=kernel), objects(table), [0, 0, 1, 1], cv=2)
    array([1., 1.])
    """
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        table = Table.coerce(X)
        columns = {name: column.tolist() for name, column in table.raw.items()}
        X = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    items = listed(X, "objects")
    found = np.empty((len(items), 1), dtype=object)
    for place, item in enumerate(items):  # one by one: NumPy would take lists and arrays apart
        found[place, 0] = item
    return found


def indexed(objects: Sequence[Any], kernel: Kernel | str) -> tuple[Float64, Kernel]:
    """Objects by their numbers, and a kernel on these numbers, for tools that take rows of numbers alone.

    Bagging, AdaBoost, one-against-one, self-training and other tools of scikit-learn turn X into an array of numbers,
    which lists of strings or graphs are not. They take the numbers of the objects, a column 0, 1, 2 ..., and hand rows
    of it to a learner with the kernel that is returned: k(i, j) is the value of `kernel` on objects i and j. Objects to
    predict for belong into the same list, and are known by their numbers, too. What a kernel takes from data, such as
    frequencies of words, it takes from the whole list, without labels.

    >>> from sklearn.multiclass import OneVsOneClassifier
    >>> from mercer import SVC, indexed, kernels
    >>> words = ["gattaca", "gattica", "ccgcg", "cgcgc", "ttttt", "ttatt", "gatta"]
    >>> X, kernel = indexed(words, kernels.Spectrum(2))
    >>> model = OneVsOneClassifier(SVC(kernel=kernel)).fit(X[:6], [1, 1, 0, 0, 2, 2])
    >>> model.predict(X[6:])
    array([1])
    """
    found = parse(kernel) if isinstance(kernel, str) else kernel
    if not isinstance(found, Kernel):
        raise _check.fail("indexed", "kernel", "a kernel object or an expression", kernel)
    batch = found.coerce(objects)
    fitted = found.fit(batch)
    n = len(batch)

    def values(left: Any, right: Any) -> Float64:
        rows, columns = (_numbers(side, n) for side in (left, right))
        return fitted(batch.take(rows), batch.take(columns))

    return np.arange(n, dtype=np.float64)[:, None], FromBlocks(values)


def _numbers(rows: Any, n: int) -> Any:
    """The numbers of objects in the first column of a batch."""
    given = np.asarray(rows)[:, 0]
    numbers = given.astype(np.intp)
    if not ((numbers == given) & (numbers >= 0) & (numbers < n)).all():
        raise InputError(f"Rows must be numbers of objects, from 0 to {n - 1}; got {given[:3].tolist()} ...")
    return numbers
