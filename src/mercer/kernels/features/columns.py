"""Kernels as sums of products of kernels on single columns: what takes a decision apart column by column.

A Gaussian is the product of one Gaussian for each column, and kernels on a table are sums and products of kernels on
its columns. Kernels that are neither say so with None, and are explained by leaving columns out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64

Factors = Callable[[Any, Any], tuple[tuple[Any, ...], Float64]]
"""Of one object and others: the columns (positions or names), and a factor for each of the others and each column."""

MOST_PRODUCTS = 64
"""That a product of sums may be multiplied out to: more are no longer read column by column."""


@final
@dataclass(frozen=True, eq=False)
class ColumnProduct:
    """weight times the product over columns of a kernel on each of them."""

    weight: float
    factors: Factors

    def scaled(self, factor: float) -> ColumnProduct:
        """A multiple of it."""
        return ColumnProduct(self.weight * factor, self.factors)

    def times(self, other: ColumnProduct) -> ColumnProduct:
        """The product of two; where both have a column, its factors are multiplied."""

        def both(x: Any, others: Any) -> tuple[tuple[Any, ...], Float64]:
            columns, values = self.factors(x, others)
            more, beside = other.factors(x, others)
            names = (*columns, *(name for name in more if name not in columns))
            found = np.ones((len(values), len(names)))
            found[:, : len(columns)] = values
            for place, name in enumerate(more):
                found[:, names.index(name)] *= beside[:, place]
            return names, found

        return ColumnProduct(self.weight * other.weight, both)

    def renamed(self, names: Sequence[str], images: Callable[[Any], Any]) -> ColumnProduct:
        """The same of objects whose images it compares, with names for its columns, which are positions."""

        def named(x: Any, others: Any) -> tuple[tuple[Any, ...], Float64]:
            columns, values = self.factors(images(x), images(others))
            return tuple(names[column] for column in columns), values

        return ColumnProduct(self.weight, named)


ColumnProducts = tuple[ColumnProduct, ...]


def multiplied(parts: Sequence[ColumnProducts | None]) -> ColumnProducts | None:
    """The product of sums of products, multiplied out; None where one is no such sum, or they are too many."""
    found: ColumnProducts = ()
    for number, part in enumerate(parts):
        if part is None or max(len(found), 1) * len(part) > MOST_PRODUCTS:
            return None
        found = part if number == 0 else tuple(one.times(other) for one in found for other in part)
    return found


def of_vectors(terms: Callable[[Float64, Float64], Float64]) -> ColumnProducts:
    """One product over all columns of vectors; `terms` gives the factors of one row and others."""

    def factors(x: Any, others: Any) -> tuple[tuple[Any, ...], Float64]:
        row, rows = (_dense(objects.values) for objects in (x, others))
        return tuple(range(row.shape[1])), np.asarray(terms(row, rows))

    return (ColumnProduct(1.0, factors),)


def of_one(name: Any, values: Callable[[Any, Any], Float64]) -> ColumnProducts:
    """A kernel on one column, or on several that are not told apart; `values` are those of one object and others."""

    def factors(x: Any, others: Any) -> tuple[tuple[Any, ...], Float64]:
        return (name,), values(x, others).reshape(-1, 1)

    return (ColumnProduct(1.0, factors),)


def constant(value: float) -> ColumnProducts:
    """A kernel that sees no column."""
    return (ColumnProduct(value, lambda x, others: ((), np.ones((len(others), 0)))),)


def _dense(values: Any) -> Float64:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
