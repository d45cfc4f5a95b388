"""Explanations: the contribution of each part of an object to its decision value.

============  ============================================================================================
by            parts
============  ============================================================================================
features      symbols of strings, nodes of graphs, columns or features, for kernels with explicit features
columns       columns of vectors and tables: exact Shapley values if the kernel consists of sums and
              products of kernels on columns; otherwise by leaving each column out
terms         the terms of a sum of kernels
support       support objects, by their positions among the training objects
============  ============================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from mercer import _check
from mercer._types import Float64, Indices
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram.expansion import Expansion, Weights
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors, is_sparse
from mercer.kernels.base import FittedKernel
from mercer.kernels.features.columns import ColumnProducts
from mercer.kernels.features.space import FeatureSpace
from mercer.theory import shapley

By = Literal["auto", "features", "columns", "terms", "support"]
WAYS = ("auto", "features", "columns", "terms", "support")
TOGETHER = "together"
"""The part for interactions, which leaving out one column at a time does not reveal."""
_STAND_INS = 16
"""Number of support objects whose values replace a column that is left out: more give more stable means, but take
longer."""
_MOST_COLUMNS = 4096
"""The most columns for Shapley values, whose cost grows with the square of the number of columns."""


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The parts of one object (symbols, nodes, columns, features) and what each adds to the decision value.

    `contributions` has one row per part and one column per output; with `intercept` its columns add up to `value`.
    """

    parts: tuple[Any, ...]
    contributions: Float64
    intercept: Float64
    """The intercept of the machine; for products of kernels on columns, plus the value when no column is compared."""
    value: Float64
    by: str = "features"
    """What the parts are: features, columns, terms or support objects."""
    exact: bool = True
    """Whether contributions of columns are exact Shapley values; otherwise columns were left out one by one."""


def explanations(
    expansion: Expansion,
    objects: Objects,
    columns: Sequence[str] | None = None,
    *,
    by: str = "auto",
    support: Indices | None = None,
) -> list[Explanation]:
    """Explain each object by the parts that `by` names; "auto" takes the first of the above that the kernel allows.

    `support` holds the positions of the support objects among the training objects, where they are known.
    """
    _check.choice("explain", "by", by, WAYS)
    if by == "auto":
        return _best(expansion, objects, columns, support)
    if by == "features":
        return _of_features(expansion, objects, columns)
    if by == "columns":
        return _of_columns(expansion, objects, columns)
    if by == "terms":
        return _of_terms(expansion, objects)
    return _of_support(expansion, objects, support)


def _best(
    expansion: Expansion, objects: Objects, columns: Sequence[str] | None, support: Indices | None
) -> list[Explanation]:
    fitted = expansion.kernel
    if fitted.feature_map() is not None:
        try:
            return _of_features(expansion, objects, columns)
        except (KernelError, MemoryBudgetError):  # too many to list
            pass
    if isinstance(objects, Vectors) or fitted.kernel.column_products(fitted.state) is not None:
        return _of_columns(expansion, objects, columns)
    return _of_terms(expansion, objects) if fitted.kernel.summands else _of_support(expansion, objects, support)


def _of_features(expansion: Expansion, objects: Objects, columns: Sequence[str] | None) -> list[Explanation]:
    """By the features that an object shares with the support objects."""
    expansion = expansion.condensed()
    fitted, coefficients = expansion.kernel, expansion.coefficients
    if fitted.feature_map() is None:
        raise KernelError(
            f"Decisions of {fitted.kernel} cannot be taken apart by features, because it has no explicit ones. Linear, "
            "Polynomial and kernels that count can: on strings (Spectrum, GappedKmer, Mismatch ...) letter by letter, "
            "on graphs (WeisfeilerLehman, ShortestPath ...) node by node. For others use by='columns' on vectors and "
            "tables, by='terms' for sums, or by='support'."
        )
    space, weights = FeatureSpace.folded(fitted, expansion.support, coefficients)
    return explanations_by_weights(space, Weights(weights.T, expansion.intercept), objects, columns)


def _of_columns(expansion: Expansion, objects: Objects, columns: Sequence[str] | None) -> list[Explanation]:
    fitted = expansion.kernel
    products = fitted.kernel.column_products(fitted.state)
    width = objects.n_features if isinstance(objects, Vectors) else 0
    if products is not None and width <= _MOST_COLUMNS:
        return [
            _shapley_values(expansion, objects.take(slice(i, i + 1)), products, columns) for i in range(len(objects))
        ]
    if not isinstance(objects, Vectors):
        raise KernelError(
            f"Decisions of {fitted.kernel} cannot be taken apart by columns: it compares {objects.kind}, and is not a "
            "sum or product of kernels on columns. Use by='support', or by='terms' for a sum."
        )
    return [_left_out(expansion, objects.take(slice(i, i + 1)), columns) for i in range(len(objects))]


def _shapley_values(
    expansion: Expansion, x: Objects, products: ColumnProducts, columns: Sequence[str] | None
) -> Explanation:
    """Shapley values. Without a column, a product loses a factor, and a kernel on that column alone vanishes."""
    coefficients = expansion.coefficients
    shares: dict[Any, Float64] = {}
    intercept = expansion.intercept.copy()
    for product in products:
        names, factors = product.factors(x, expansion.support)
        weighted = product.weight * coefficients
        if len(names) == 1:
            found = factors.T @ weighted
        else:
            found = shapley.of_product(factors, weighted)
            intercept = intercept + weighted.sum(axis=0)
        for name, share in zip(names, found, strict=True):
            shares[name] = shares.get(name, 0.0) + share
    parts = tuple(_name(name, columns) for name in shares)
    contributions = np.array(list(shares.values())).reshape(len(parts), coefficients.shape[1])
    return _explained(parts, contributions, intercept, by="columns")


def _left_out(expansion: Expansion, x: Vectors, columns: Sequence[str] | None) -> Explanation:
    """The average change when a column takes the values of other objects, and the interaction of all columns."""
    stand_ins = expansion.support.take(np.linspace(0, len(expansion.support) - 1, _STAND_INS).astype(np.intp))
    row, others = (np.asarray(one.toarray() if is_sparse(one) else one) for one in (x.values, _values(stand_ins)))
    value = expansion(x)[0]
    shares = []
    for j in range(row.shape[1]):
        changed = np.repeat(row, len(others), axis=0)
        changed[:, j] = others[:, j]
        shares.append(value - expansion(Vectors.coerce(changed)).mean(axis=0))
    shares.append(value - expansion.intercept - np.sum(shares, axis=0))
    parts = (*(_name(j, columns) for j in range(row.shape[1])), TOGETHER)
    return _explained(parts, np.array(shares), expansion.intercept, by="columns", exact=False)


def _values(objects: Any) -> Any:
    return objects.values


def _name(column: Any, columns: Sequence[str] | None) -> Any:
    if not isinstance(column, int):
        return column
    return f"x{column}" if columns is None else columns[column]


def _of_terms(expansion: Expansion, objects: Objects) -> list[Explanation]:
    fitted, nothing = expansion.kernel, np.zeros_like(expansion.intercept)
    terms = fitted.kernel.summands
    if not terms:
        raise KernelError(
            f"{fitted.kernel} is not a sum of kernels, so decisions cannot be split into terms. Use "
            "by='columns' on vectors and tables, or by='support'."
        )
    values = [
        Expansion(FittedKernel(term, state), expansion.support, expansion.coefficients, nothing)(objects)
        for term, state in zip(terms, fitted.state.parts, strict=True)
    ]
    names = tuple(str(term) for term in terms)
    return [_explained(names, shares, expansion.intercept, by="terms") for shares in np.stack(values, axis=1)]


def _of_support(expansion: Expansion, objects: Objects, support: Indices | None) -> list[Explanation]:
    across = gram_of(expansion.kernel, objects, expansion.support, dtype=np.float64)
    places = np.arange(len(expansion.support)) if support is None else support
    found = []
    for i in range(len(objects)):
        shares = across.rows(np.array([i])).astype(np.float64).T * expansion.coefficients
        found.append(_explained(tuple(int(place) for place in places), shares, expansion.intercept, by="support"))
    return found


def explanations_by_weights(
    space: FeatureSpace, weights: Weights, objects: Objects, columns: Sequence[str] | None = None
) -> list[Explanation]:
    """Explain each object by the weights of its features: by position if features have positions, else by name."""
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
    """The contribution of each feature of an object: its value times its weight."""
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


def _explained(
    parts: tuple[Any, ...], shares: Float64, intercept: Float64, *, by: str = "features", exact: bool = True
) -> Explanation:
    return Explanation(parts, shares, intercept, shares.sum(axis=0) + intercept, by, exact)
