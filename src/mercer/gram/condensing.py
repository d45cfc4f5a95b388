"""Machines over objects that are not in memory, as expansions over a few that are.

A machine that was trained on features is known by its weights w alone. With landmarks Z it is an expansion over these,
whose coefficients are T^-T w. Other features are spanned by those of a sample of objects: w = sum_i c_i phi(z_i), with
the smallest such c. Either way, a machine trained from blocks is stored, explained and used like any other; only the
positions of its support objects among the training objects are unknown, and are given as -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._types import Float64, Index, Indices
from mercer.errors import KernelError
from mercer.gram import budget
from mercer.gram.block_rows import rows_of_features
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.kernels.base import FittedKernel

_PER_FEATURE = 2
"""Objects of the sample per feature: with just one per feature, they would span the features badly."""
_NOTHING = 1e-13
"""Singular values below this fraction of the largest are rounding errors."""
MOST_COLUMNS = 4096
"""Features not meant for blocks are computed in blocks up to this many columns: more take too much memory."""


def streams(fitted: FittedKernel, objects: Objects) -> bool:
    """Whether objects are read from blocks and trained on without ever being all in memory.

    That takes features with the same few columns for all objects: landmarks, random features, dot products.
    """
    if not isinstance(objects, Streamed):
        return False
    features = fitted.feature_map()
    if features is None or features.vocabularies:
        return False
    if features.in_blocks:
        return True
    rows = features.rows(objects.take(slice(0, 1)), iter(()), np.float64)[0]
    return isinstance(rows, np.ndarray) and rows.shape[1] <= MOST_COLUMNS


def read_whole(objects: Objects, memory: budget.Memory) -> Objects:
    """The objects in memory, for kernels that need all of them at once; those that do not fit are refused."""
    if not isinstance(objects, Streamed):
        return objects
    remedy = "Use kernels.Nystrom(kernel, m=1000), which reads objects block by block, or Cells; or raise `memory`."
    budget.require(objects.nbytes, budget.stored_bytes(memory), f"Reading all of {len(objects):,} objects", remedy)
    found: Objects = objects.take(slice(None))
    return found


def machine_over(
    fitted: FittedKernel,
    objects: Objects,
    support: Index,
    coefficients: Float64,
    intercept: Float64,
    weights: Float64 | None = None,
) -> tuple[Expansion, Any]:
    """The machine with these coefficients for the objects at `support`, and the positions of its support objects.

    `weights` are the weights of the features, if known.
    """
    if not streams(fitted, objects):
        return Expansion(fitted, objects.take(support), coefficients, intercept, weights), support
    if weights is None:
        every = np.zeros((len(objects), coefficients.shape[1]))
        every[support] = coefficients
        weights = np.asarray(rows_of_features(fitted, objects, hold=False).T @ every)
    return of_weights(fitted, objects, weights, intercept)


def of_weights(
    fitted: FittedKernel, objects: Objects, weights: Float64, intercept: Float64
) -> tuple[Expansion, Indices]:
    """The machine with these weights of features, over landmarks or a sample of the objects."""
    features = fitted.feature_map()
    assert features is not None, "a kernel without features"
    found = features.condensed(weights)
    if found is not None:
        # A kernel approximated by landmarks equals the kernel itself if one of the two objects is a landmark.
        landmarks, own = found[1], found[2]
    else:
        import scipy.linalg

        sample = objects.known()
        landmarks = sample.take(slice(0, min(len(sample), _PER_FEATURE * len(weights))))
        rows = np.asarray(features.rows(landmarks, iter(()), np.float64)[0], dtype=np.float64)
        own = np.asarray(scipy.linalg.lstsq(rows.T, weights, cond=_NOTHING, check_finite=False)[0])
    return Expansion(fitted, landmarks, own, intercept, weights), np.full(len(landmarks), -1)


def refuse_from_blocks(support: Any, what: str) -> None:
    """Refuse what needs the coefficients of training objects, which machines from blocks do not keep."""
    if np.any(np.asarray(support) < 0):
        raise KernelError(
            f"{what} needs a coefficient for each training object, but machines trained from blocks keep only the "
            "weights of features. Their `certificate_` was computed during training; to check it again, train on the "
            "objects themselves."
        )
