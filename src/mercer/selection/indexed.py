"""Objects of any kind as rows of numbers, for tools that accept nothing else."""

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
    """Objects of any kind as an array of one column, for tools of scikit-learn that need a length and a shape.

    The length of a dictionary of columns is the number of columns, not of rows, so `cross_val_score` and similar
    functions cannot split it; lists of strings or graphs have no shape, which bagging, boosting, learning curves and
    permutation importance need. Every learner accepts the returned array like the objects themselves. Tools that turn X
    into numbers (one-against-one, chains, self-training) need `indexed`.

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
    for place, item in enumerate(items):  # one by one: NumPy would split lists and arrays
        found[place, 0] = item
    return found


def indexed(objects: Sequence[Any], kernel: Kernel | str) -> tuple[Float64, Kernel]:
    """Objects by number, and a kernel on these numbers, for tools that accept only rows of numbers.

    Bagging, AdaBoost, one-against-one, self-training and other tools of scikit-learn turn X into an array of numbers,
    which is impossible for lists of strings or graphs. Give them the numbers of the objects, a column 0, 1, 2 ..., and
    a learner with the returned kernel: k(i, j) is the value of `kernel` on objects i and j. Objects to predict for must
    be in the same list, and also have numbers. If a kernel learns from data, such as frequencies of words, it uses the
    whole list, without labels.

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
