"""How many objects kernels are compared on, and which ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.inputs.base import Objects
from mercer.jobs.load import Load
from mercer.readers.data import Data
from mercer.selection.learner import Learner

SECONDS = 30.0
"""The target duration of a search on two cores, in seconds, unless there is a time limit."""
FINALISTS = 3
"""How many kernels are tried on all objects of a search, once all have been tried on a part of them."""
_FEWEST, _MOST, _STEP = 2000, 20_000, 500
"""The range of sizes, and how finely it is searched. With fewer objects the ranking of kernels is noisier; more take
longer, and the matrix of 20,000 takes 1.6 GB in float32."""
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 500, 2000
"""How many objects the final model is scored on: fewer give too wide an interval (500 give an accuracy within 4 %), and
more are lost for training."""


def search_size(
    data: Data, objects: Any, *, kernels: int, fits: int, learner: Learner, time_limit: float | None
) -> int:
    """How many objects a search can afford, estimated from counts; `fits` machines are trained in total."""
    load = Load.of(data, objects, learner)
    budget = SECONDS if time_limit is None else min(SECONDS, time_limit / 2)

    def seconds(n: int) -> float:
        return kernels * load.entry * n**2 + fits * load.training(n)

    size = _FEWEST
    while size < _MOST and seconds(size + _STEP) <= budget:
        size += _STEP
    return size


def sample(y: npt.NDArray[Any], task: str, most: int, seed: int) -> npt.NDArray[np.intp]:
    """The objects to search on: all, or a random part with at least three of every class."""
    if len(y) <= most:
        return np.arange(len(y))
    order = np.random.default_rng(seed).permutation(len(y))
    chosen = order[:most]
    if task == "classification":
        extra = [order[y[order] == label][:3] for label in np.unique(y)]
        chosen = np.unique(np.concatenate([chosen, *extra]))
    return np.sort(chosen)


def held_out(y: npt.NDArray[Any], task: str, most: int, seed: int) -> npt.NDArray[np.intp]:
    """The objects that the final model is scored on and not trained on: a tenth, if a search uses `most` of them.

    They are not used in the search, so nothing was chosen by them. If the search uses all objects, each was held out
    from some of its machines, and none needs to be held out from the model.
    """
    others = np.setdiff1d(np.arange(len(y)), sample(y, task, most, seed))
    size = min(max(len(y) // 10, _FEWEST_HELD_OUT), _MOST_HELD_OUT, len(others) // 2)
    return (
        np.sort(np.random.default_rng(seed + 1).permutation(others)[:size]) if size >= _FEWEST_HELD_OUT else others[:0]
    )


def take(objects: Any, rows: npt.NDArray[np.intp]) -> Any:
    """The objects at these rows; of a Gram matrix, rows and columns."""
    return objects.take(rows) if isinstance(objects, Objects) else np.asarray(objects)[np.ix_(rows, rows)]
