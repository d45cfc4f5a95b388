"""Explicit features that are products of coordinates, with their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._types import Float64, Indices
from mercer.errors import InputError, MemoryBudgetError
from mercer.inputs.vectors import Vectors
from mercer.kernels.features.feature_map import FeatureMap, FixedColumns

MOST_BYTES = 2**30
"""The size of a feature matrix beyond which it is refused: it was asked for by mistake more often than not."""
_BYTES_PER_NAME = 200
"""What a name of a feature and its place in the tables below take, measured roughly."""
_ROWS_AT_ONCE = 256
"""Sparse rows expanded at a time: enough to hide the overhead of NumPy's calls, few enough to stay small."""

Monomial = tuple[int, ...]
"""The columns multiplied, in ascending order: (0, 0, 2) is x0^2 x2."""


def monomials(n_features: int, degree: int, *, repeated: bool) -> Iterator[Monomial]:
    """All monomials of exactly this degree; with `repeated`, a column may occur more than once in it."""
    return (combinations_with_replacement if repeated else combinations)(range(n_features), degree)


def number_of_monomials(n_features: int, degree: int, *, repeated: bool) -> int:
    if repeated:
        return comb(n_features + degree - 1, degree) if n_features else int(degree == 0)
    return comb(n_features, degree)


def written(owner: str, vectors: Vectors, degrees: Iterable[int], *, repeated: bool) -> Any:
    """The monomials of these degrees as columns, unweighted; refused where they do not fit."""
    degrees = sorted(degrees)
    total = sum(number_of_monomials(vectors.n_features, degree, repeated=repeated) for degree in degrees)
    needed = total * (_BYTES_PER_NAME + (0 if vectors.is_sparse else 8 * len(vectors)))
    if needed > MOST_BYTES:
        raise MemoryBudgetError(
            f"The feature matrix of {owner} on {vectors.n_features} columns has {total:,} features; "
            f"{len(vectors):,} rows of them need {needed / 2**30:,.1f} GiB, and at most {MOST_BYTES / 2**30:g} GiB is "
            "allowed. Use the kernel itself, which never writes its features out, or fewer columns or a lower degree."
        )
    plan = _plan(vectors.n_features, degrees, repeated=repeated)
    values: Any = vectors.values
    if not vectors.is_sparse:
        return _evaluate(values.astype(np.float64), degrees, plan)
    blocks = [
        sp.csr_array(_evaluate(values[start : start + _ROWS_AT_ONCE].toarray().astype(np.float64), degrees, plan))
        for start in range(0, len(vectors), _ROWS_AT_ONCE)
    ]
    return sp.vstack(blocks, format="csr")


def products_of_columns(owner: str, degrees: Callable[[Vectors], Iterable[int]]) -> FeatureMap:
    """The features that are products of so many different columns."""
    return FixedColumns(
        lambda vectors: written(owner, vectors, degrees(vectors), repeated=False),
        lambda one, columns: names_of(listed(one.n_features, degrees(one), repeated=False), one, columns),
    )


def listed(n_features: int, degrees: Iterable[int], *, repeated: bool) -> list[Monomial]:
    """The monomials of these degrees in the order of their columns."""
    return [found for degree in sorted(degrees) for found in monomials(n_features, degree, repeated=repeated)]


def names_of(found: Iterable[Monomial], vectors: Vectors, names: Sequence[str] | None) -> tuple[str, ...]:
    """What monomials are called, by the names of columns or their numbers: "x0^2 x2"."""
    columns = _column_names(vectors, names)
    return tuple(_name(monomial, columns) for monomial in found)


Step = tuple[Indices, Indices]


def _plan(n_features: int, degrees: list[int], *, repeated: bool) -> list[Step]:
    """For each degree from 1 up: of each monomial, the one of a degree less it extends, and the column it adds."""
    steps = []
    place: dict[Monomial, int] = {(): 0}
    for degree in range(1, max(degrees, default=0) + 1):
        here = list(monomials(n_features, degree, repeated=repeated))
        parents = np.fromiter((place[m[:-1]] for m in here), dtype=np.intp, count=len(here))
        added = np.fromiter((m[-1] for m in here), dtype=np.intp, count=len(here))
        steps.append((parents, added))
        place = {m: number for number, m in enumerate(here)}
    return steps


def _evaluate(rows: Float64, degrees: list[int], plan: list[Step]) -> Float64:
    level = np.ones((len(rows), 1))
    levels = [level] if 0 in degrees else []
    for degree, (parents, added) in enumerate(plan, start=1):
        level = level[:, parents] * rows[:, added]
        if degree in degrees:
            levels.append(level)
    return np.concatenate(levels, axis=1) if levels else np.empty((len(rows), 0))


def _column_names(vectors: Vectors, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"x{number}" for number in range(vectors.n_features)]
    if len(names) != vectors.n_features:
        raise InputError(f"Got {len(names)} names for {vectors.n_features} columns.")
    return [str(name) for name in names]


def _name(monomial: Monomial, columns: list[str]) -> str:
    powers = Counter(monomial)
    return " ".join(columns[k] if power == 1 else f"{columns[k]}^{power}" for k, power in powers.items()) or "1"
