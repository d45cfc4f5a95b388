"""One Gram matrix, many subsets: cross-validation without computing a kernel value twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.gram.contract import Gram


@final
@dataclass(frozen=True, eq=False)
class Fold:
    """The training part of a Gram matrix, and the block that predicts its validation part."""

    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    gram: Gram
    validation: Gram
    """Rows are validation objects, columns training objects."""


def folds(gram: Gram, splits: Iterable[tuple[Any, Any]]) -> Iterator[Fold]:
    """Views of one Gram matrix for each (train, test) pair of index arrays.

    Only for kernels that are not `data_dependent`: those must be fitted on each training part alone.
    """
    for train, test in splits:
        yield Fold(np.asarray(train), np.asarray(test), gram.view(train), gram.view(test, train))
