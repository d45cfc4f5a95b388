"""Kernels as sums of products of kernels on single columns, which explain a decision column by column.

A Gaussian is the product of one Gaussian for each column, and kernels on a table are sums and products of kernels on
its columns. Other kernels return None, and are explained by leaving columns out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64

Factors = Callable[[Any, Any], tuple[tuple[Any, ...], Float64]]
"""For one object and several others: the columns (positions or names), and one factor per other object and column."""

MOST_PRODUCTS = 64
"""The most terms to which a product of sums is expanded: with more, columns are not separated."""


@final
@dataclass(frozen=True, eq=False)
class ColumnProduct:
    """weight times the product over columns of a kernel on each of them."""

    weight: float
    factors: Factors

    def scaled(self, factor: float) -> ColumnProduct:
        """This product times a factor."""
        return ColumnProduct(self.weight * factor, self.factors)

    def times(self, other: ColumnProduct) -> ColumnProduct:
        """The product of two; factors of a column that both have are multiplied."""

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
        """The same product for objects whose images it compares; column positions become names."""

        def named(x: Any, others: Any) -> tuple[tuple[Any, ...], Float64]:
            columns, values = self.factors(images(x), images(others))
            return tuple(names[column] for column in columns), values

        return ColumnProduct(self.weight, named)


ColumnProducts = tuple[ColumnProduct, ...]


def multiplied(parts: Sequence[ColumnProducts | None]) -> ColumnProducts | None:
    """The expanded product of sums of products; None if one is no such sum, or there are too many terms."""
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
    """A kernel on one column, or on several that are not separated; `values` compares one object with others."""

    def factors(x: Any, others: Any) -> tuple[tuple[Any, ...], Float64]:
        return (name,), values(x, others).reshape(-1, 1)

    return (ColumnProduct(1.0, factors),)


def constant(value: float) -> ColumnProducts:
    """A kernel that depends on no column."""
    return (ColumnProduct(value, lambda x, others: ((), np.ones((len(others), 0)))),)


def _dense(values: Any) -> Float64:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
