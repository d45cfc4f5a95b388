"""Why a machine decided as it did: the share of each part of an object in its decision value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.errors import KernelError
from mercer.gram.expansion import Expansion
from mercer.gram.weights import Weights
from mercer.inputs.base import Objects
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.features.feature_map import WeightTable
from mercer.kernels.features.names import feature_names
from mercer.kernels.features.space import FeatureSpace, has_feature_space
from mercer.kernels.vectors.features import is_sparse


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
    fitted, coefficients = expansion.kernel, expansion.coefficients
    if _has_parts(fitted.kernel, objects):
        table = WeightTable.of(fitted, expansion.support, coefficients, expansion.intercept)
        return _by_parts(table, objects)
    _refuse_without_features(fitted, objects)
    space, rows = FeatureSpace.of(fitted, expansion.support)
    return _by_features(space, np.asarray(rows.T @ coefficients), expansion.intercept, objects, columns)


def weighed_explanations(
    space: FeatureSpace, weights: Weights, objects: Objects, columns: Sequence[str] | None = None
) -> list[Explanation]:
    """Explain each object by the weights of its features."""
    if _has_parts(space.fitted.kernel, objects):
        return _by_parts(WeightTable(space.fitted, space.words[0], weights.coef.T, weights.intercept), objects)
    return _by_features(space, weights.coef.T, weights.intercept, objects, columns)


def _has_parts(kernel: Kernel, objects: Objects) -> bool:
    """Whether the features of this kernel have places in its objects."""
    from mercer.kernels.graphs import explanation as graphs
    from mercer.kernels.strings import explain as strings

    if isinstance(objects, Strings):
        return strings.can_explain(kernel)
    return isinstance(objects, Graphs) and graphs.can_explain(kernel)


def _by_parts(table: WeightTable, objects: Objects) -> list[Explanation]:
    from mercer.kernels.graphs.explanation import weighed_nodes

    if isinstance(objects, Strings):
        return _of_table(table, objects)
    assert isinstance(objects, Graphs)
    shares = weighed_nodes(table, objects)
    return [_explained(tuple(range(len(one))), one, table.intercept) for one in shares]


def _by_features(
    space: FeatureSpace, weights: Float64, intercept: Float64, objects: Objects, columns: Sequence[str] | None
) -> list[Explanation]:
    """The share of each feature that an object has: its value times its weight."""
    names = feature_names(space, objects, columns)
    found = []
    for rows in space.blocks(objects):
        for i in range(rows.shape[0]):
            if is_sparse(rows):
                places = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
                values = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
            else:
                places, values = np.arange(rows.shape[1]), rows[i]
            shares = np.asarray(values[:, None] * weights[places], dtype=np.float64)
            found.append(_explained(tuple(names[place] for place in places), shares, intercept))
    return found


def _explained(parts: tuple[Any, ...], shares: Float64, intercept: Float64) -> Explanation:
    return Explanation(parts, shares, intercept, shares.sum(axis=0) + intercept)


def _of_table(table: WeightTable, strings: Strings) -> list[Explanation]:
    from mercer.kernels.strings.explain import explain

    return [Explanation(one.symbols, one.contributions, one.intercept, one.value) for one in explain(table, strings)]


def _refuse_without_features(fitted: FittedKernel, objects: Objects) -> None:
    if has_feature_space(fitted.kernel):
        return
    if isinstance(objects, Strings):
        raise KernelError(
            f"Decisions of {fitted.kernel} cannot be taken apart by position: its features have no places that could "
            "be written down. Spectrum, BlendedSpectrum, Mismatch, GappedKmer, WeightedDegree and "
            "RestrictedGapWeighted can."
        )
    raise KernelError(
        f"Decisions of {fitted.kernel} cannot be taken apart: {objects.kind} have no parts that the kernel counts. "
        "Kernels whose features can be written down (Linear, Polynomial, kernels that count) can, and by position or "
        "node those on strings (Spectrum, GappedKmer ...) and graphs (WeisfeilerLehman, ShortestPath ...)."
    )
