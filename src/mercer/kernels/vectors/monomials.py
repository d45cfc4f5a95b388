"""Explicit features that are products of coordinates, with their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import InputError, MemoryBudgetError
from mercer.inputs.vectors import Vectors
from mercer.kernels.features.feature_map import Columns, FeatureMap, FixedColumns

MOST_BYTES = 2**30
"""Larger feature matrices are refused: most of them would be requested by mistake."""
_BYTES_PER_NAME = 200
"""Memory for the name of a feature and its entries in the tables below, measured roughly."""
_ROWS_AT_ONCE = 256
"""Sparse rows expanded at a time: enough to hide the overhead of NumPy calls, few enough to take little memory."""

Monomial = tuple[int, ...]
"""The columns multiplied, in ascending order: (0, 0, 2) is x0^2 x2."""
Step = tuple[Indices, Indices]


@final
@dataclass(frozen=True, eq=False)
class Monomials:
    """The monomials of some degrees, as features of the kernel called `owner`."""

    owner: str
    degrees: Callable[[int], Sequence[int]]
    """The degrees that occur, in ascending order, by the number of columns."""
    repeated: bool
    """Whether a column may occur more than once in a monomial."""
    weight: Callable[[Monomial], float] | None = None

    def feature_map(self) -> FeatureMap:
        return FixedColumns(self.rows, self.names, lambda vectors: self.number(vectors.n_features))

    def number(self, n_columns: int) -> int:
        """The number of monomials of `n_columns` columns."""
        return sum(
            comb(n_columns + degree - 1, degree) if self.repeated and n_columns + degree else comb(n_columns, degree)
            for degree in self.degrees(n_columns)
        )

    def listed(self, n_columns: int, degrees: Iterable[int] | None = None) -> list[Monomial]:
        """The monomials of the degrees that occur, or of others, in the order of their columns."""
        chosen = combinations_with_replacement if self.repeated else combinations
        wanted = self.degrees(n_columns) if degrees is None else degrees
        return [found for degree in wanted for found in chosen(range(n_columns), degree)]

    def rows(self, vectors: Vectors) -> Any:
        """The value of each monomial on each row; refuses matrices that are too large."""
        total = self.number(vectors.n_features)
        needed = total * (_BYTES_PER_NAME + (0 if vectors.is_sparse else 8 * len(vectors)))
        if needed > MOST_BYTES:
            raise MemoryBudgetError(
                f"The feature matrix of {self.owner} on {vectors.n_features} columns has {total:,} features; "
                f"{len(vectors):,} rows of them need {needed / 2**30:,.1f} GiB, and at most {MOST_BYTES / 2**30:g} GiB "
                "is allowed. Use the kernel itself, which never writes its features out, or fewer columns or a lower "
                "degree."
            )
        degrees = self.degrees(vectors.n_features)
        plan = self._plan(vectors.n_features, max(degrees, default=0))
        weights = None
        if self.weight is not None:
            weights = np.array([self.weight(monomial) for monomial in self.listed(vectors.n_features)])
        values: Any = vectors.values
        if not vectors.is_sparse:
            return _evaluate(values.astype(np.float64), degrees, plan, weights)
        parts = (values[start : start + _ROWS_AT_ONCE].toarray() for start in range(0, len(vectors), _ROWS_AT_ONCE))
        import scipy.sparse as sp

        blocks = [sp.csr_array(_evaluate(part.astype(np.float64), degrees, plan, weights)) for part in parts]
        return sp.vstack(blocks, format="csr")

    def names(self, vectors: Vectors, names: Columns) -> tuple[str, ...]:
        """The names of monomials from the names of columns or their numbers: "x0^2 x2"."""
        columns = [f"x{number}" for number in range(vectors.n_features)] if names is None else [*map(str, names)]
        if len(columns) != vectors.n_features:
            raise InputError(f"Got {len(columns)} names for {vectors.n_features} columns.")
        return tuple(_name(monomial, columns) for monomial in self.listed(vectors.n_features))

    def _plan(self, n_columns: int, highest: int) -> list[Step]:
        """For each degree from 1 up: the monomial of the degree below that each extends, and the column it adds."""
        steps = []
        place: dict[Monomial, int] = {(): 0}
        for degree in range(1, highest + 1):
            here = self.listed(n_columns, [degree])
            parents = np.fromiter((place[m[:-1]] for m in here), dtype=np.intp, count=len(here))
            added = np.fromiter((m[-1] for m in here), dtype=np.intp, count=len(here))
            steps.append((parents, added))
            place = {m: number for number, m in enumerate(here)}
        return steps


def _evaluate(rows: Float64, degrees: Sequence[int], plan: list[Step], weights: Float64 | None) -> Float64:
    level = np.ones((len(rows), 1))
    levels = [level] if 0 in degrees else []
    for degree, (parents, added) in enumerate(plan, start=1):
        level = level[:, parents] * rows[:, added]
        if degree in degrees:
            levels.append(level)
    found = np.concatenate(levels, axis=1) if levels else np.empty((len(rows), 0))
    return found if weights is None else found * weights


def _name(monomial: Monomial, columns: list[str]) -> str:
    powers = Counter(monomial)
    return " ".join(columns[k] if power == 1 else f"{columns[k]}^{power}" for k, power in powers.items()) or "1"
