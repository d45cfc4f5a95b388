"""Why a machine decided as it did: the share of each part of an object in its decision value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.errors import KernelError
from mercer.gram.expansion import Expansion, Weights
from mercer.inputs.base import Objects
from mercer.inputs.vectors import is_sparse
from mercer.kernels.features.space import FeatureSpace


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The parts of one object (symbols, nodes, columns, features) and what each adds to the decision value.

    `contributions` has one row per part and one column per output; with `intercept` its columns add up to `value`.
    """

    parts: tuple[Any, ...]
    contributions: Float64
    intercept: Float64
    value: Float64


def explanations(expansion: Expansion, objects: Objects, columns: Sequence[str] | None = None) -> list[Explanation]:
    """Explain each object by the features that it shares with the support objects."""
    expansion = expansion.condensed()
    fitted, coefficients = expansion.kernel, expansion.coefficients
    if fitted.feature_map() is None:
        raise KernelError(
            f"Decisions of {fitted.kernel} cannot be taken apart: its features cannot be written down. Linear, "
            "Polynomial and kernels that count can be explained: on strings (Spectrum, GappedKmer, Mismatch ...) "
            "letter by letter, on graphs (WeisfeilerLehman, ShortestPath ...) node by node."
        )
    space, weights = FeatureSpace.folded(fitted, expansion.support, coefficients)
    return weighed_explanations(space, Weights(weights.T, expansion.intercept), objects, columns)


def weighed_explanations(
    space: FeatureSpace, weights: Weights, objects: Objects, columns: Sequence[str] | None = None
) -> list[Explanation]:
    """Explain each object by the weights of its features: part by part where features have places, else by name."""
    weigh = space.weigh(weights.coef.T)
    found = []
    for number in range(len(objects)):
        shares = space.features.shares(objects.take(slice(number, number + 1)), weigh)
        if shares is None:
            return _by_features(space, weights, objects, columns)
        found.append(_explained(shares.parts, shares.contributions, weights.intercept))
    return found


def _by_features(
    space: FeatureSpace, weights: Weights, objects: Objects, columns: Sequence[str] | None
) -> list[Explanation]:
    """The share of each feature that an object has: its value times its weight."""
    names = space.names(objects, columns)
    found = []
    for rows in space.blocks(objects):
        for i in range(rows.shape[0]):
            if is_sparse(rows):
                places = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
                values = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
            else:
                places, values = np.arange(rows.shape[1]), rows[i]
            shares = np.asarray(values[:, None] * weights.coef.T[places], dtype=np.float64)
            found.append(_explained(tuple(names[place] for place in places), shares, weights.intercept))
    return found


def _explained(parts: tuple[Any, ...], shares: Float64, intercept: Float64) -> Explanation:
    return Explanation(parts, shares, intercept, shares.sum(axis=0) + intercept)
