"""Kernels whose features are products of different coordinates: a fixed number of them, or any subset."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.errors import KernelWarning
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, Kernel, State
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.vectors.coordinate_loops import LINE, ONE_PLUS, coordinate_products, turn
from mercer.kernels.vectors.coordinates import CoordinateFeatures, Coordinatewise
from mercer.kernels.vectors.features import RowFeatures, column_blocks, dot_products, is_sparse, refuse_other_width
from mercer.kernels.vectors.monomials import Monomials

_BY_PRODUCTS = 3
"""The largest degree computed by matrix products. Newton's identities for the next cancel too many digits."""
_TABLE_NUMBERS = 2**21
"""Numbers in the tables of the dynamic programme: 16 MB of float64. More do not fit the caches, fewer split tiles."""


@final
@dataclass(frozen=True)
class AllSubsets(Coordinatewise, Kernel):
    """The all-subsets kernel, k(x, z) = prod_i (1 + x_i z_i).

    Its features are the products of the coordinates in every subset of them, the empty subset (1) included. Values
    grow like prod_i (1 + x_i^2): scale features to about [-1, 1], or normalise.

    >>> from mercer import kernels
    >>> kernels.AllSubsets().fit([[1.0, 2.0, 3.0]])([[1.0, 2.0, 3.0]], [[2.0, 0.5, -1.0]])
    array([[-12.]])
    """

    formula = r"\prod_i \left(1 + <x>_i <z>_i\right)"

    def own(self, rows: Float64) -> Float64:
        return np.asarray((1.0 + rows * rows).prod(axis=1))

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_products(left, right, ONE_PLUS, out)

    def feature_map(self, state: State) -> FeatureMap:
        """The feature of every subset of columns, small subsets first.

        >>> from mercer import kernels
        >>> kernels.AllSubsets().feature_matrix([[2.0, 3.0]]).names
        ('1', 'x0', 'x1', 'x0 x1')
        """
        return Monomials("AllSubsets", lambda n_columns: range(n_columns + 1), repeated=False).feature_map()


@final
@dataclass(frozen=True)
class ANOVA(Coordinatewise, Kernel):
    """The ANOVA kernel of degree d, k(x, z) = sum over i1 < ... < id of x_i1 z_i1 ... x_id z_id.

    Its features are the products of d different coordinates: interactions of exactly that order. Computed by a dynamic
    programme over coordinates; up to degree 3 by matrix products, if these lose no digits. Degree 0 is the constant 1;
    if the degree exceeds the number of features, k = 0.

    >>> from mercer import kernels
    >>> kernels.ANOVA(degree=2).fit([[1.0, 2.0, 3.0, 4.0]])([[1.0, 2.0, 3.0, 4.0]], [[1.0, 1.0, 2.0, 0.5]])
    array([[38.]])
    """

    degree: int = 2

    formula = r"\sum_{i_1 \lt \dots \lt i_{<degree>}} \prod_j <x>_{i_j} <z>_{i_j}"
    variants = ({}, {"degree": 1}, {"degree": 3}, {"degree": 4})

    def __post_init__(self) -> None:
        _check.integer("ANOVA", "degree", self.degree, low=0)

    def resolve(self, objects: Vectors) -> State:
        if self.degree > objects.n_features:
            warnings.warn(
                f"No product of {self.degree} different features can be formed from {objects.n_features}: "
                f"ANOVA(degree={self.degree}) is 0 everywhere.",
                KernelWarning,
                stacklevel=2,
            )
        return State()

    def own(self, rows: Float64) -> Float64:
        """k(x, x); how much larger |x|^2d / d! is, which bounds the cancellation; the largest intermediate number."""
        degree = min(self.degree, rows.shape[1] + 1)
        squares = rows * rows
        tables = _elementary(squares, degree)
        own = tables[:, degree]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            excess = squares.sum(axis=1) ** degree / (math.factorial(min(degree, _BY_PRODUCTS)) * own)
        return np.stack([own, np.where(np.isnan(excess), np.inf, excess), tables.max(axis=1)], axis=1)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        refuse_other_width(left.rows.shape[1], right.rows.shape[1])
        if self.degree > left.rows.shape[1]:
            out.fill(0)
        elif self.degree == 0:
            out.fill(1)
        elif self.degree == 1:
            dot_products(left, right, out)
        elif self.degree <= _BY_PRODUCTS and _products_are_safe(left, right, out):
            _by_products(left.rows, right.rows, self.degree, out)
        else:
            _by_dynamic_programme(left.rows, right.rows, self.degree, out)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return features.numbers[:, 0]

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        return bool(features.numbers[:, 2].max(initial=0.0) < SAFE_IN_SINGLE)

    def feature_map(self, state: State) -> FeatureMap:
        """The product of every `degree` different columns; `names` are those of the columns.

        >>> from mercer import kernels
        >>> kernels.ANOVA(degree=2).feature_matrix([[2.0, 3.0, 5.0]]).matrix
        array([[ 6., 10., 15.]])
        """
        return Monomials(str(self), lambda n_columns: [self.degree], repeated=False).feature_map()


def _products_are_safe(left: CoordinateFeatures, right: CoordinateFeatures, out: Floating) -> bool:
    """Whether subtracting powers of sums keeps the promised digits.

    The terms of Newton's identities are at most |x|^d |z|^d; their rounding errors must be small compared to
    sqrt(k(x,x) k(z,z)).
    """
    worst = float(np.sqrt(left.numbers[:, 1].max(initial=1.0)) * np.sqrt(right.numbers[:, 1].max(initial=1.0)))
    return worst < (10.0 if out.dtype == np.float32 else 1e4)


def _by_products(left: Any, right: Any, degree: int, out: Floating) -> None:
    """K2 = (P1^2 - P2) / 2 and K3 = (P1^3 - 3 P1 P2 + 2 P3) / 6, where Pr = sum_i (x_i z_i)^r."""
    dot_products(RowFeatures(left, np.empty(0)), RowFeatures(right, np.empty(0)), out)
    second = _power_sums(left, right, 2, out)
    if degree == 2:
        out *= out
        out -= second
        out *= 0.5
    else:
        third = _power_sums(left, right, 3, out)
        third *= 2
        second *= -3
        second *= out
        second += third
        out **= 3
        out += second
        out /= 6


def _power_sums(left: Any, right: Any, power: int, like: Floating) -> Floating:
    sums = np.empty_like(like)
    raised = [rows.power(power) if is_sparse(rows) else rows**power for rows in (left, right)]
    dot_products(RowFeatures(raised[0], np.empty(0)), RowFeatures(raised[1], np.empty(0)), sums)
    return sums


def _by_dynamic_programme(left: Any, right: Any, degree: int, out: Floating) -> None:
    step = max(1, _TABLE_NUMBERS // ((degree + 1) * max(1, out.shape[1])))
    for start in range(0, out.shape[0], step):
        part = left[start : start + step]
        tables = np.zeros((part.shape[0], degree + 1, out.shape[1]), dtype=out.dtype)
        tables[:, 0] = 1
        for rows, columns in column_blocks(part, right, out.dtype):
            _extend(rows, columns, tables)
        out[start : start + step] = tables[:, degree]


@jit
def _extend(left: Array, right: Array, tables: Array) -> None:
    """K[s] <- K[s] + u K[s - 1] for every coordinate, u = x_i z_i, highest s first so that each u is used once."""
    degree = tables.shape[1] - 1
    turned = np.empty((right.shape[1], LINE), dtype=tables.dtype)
    terms = np.empty(LINE, dtype=tables.dtype)
    for start in range(0, right.shape[0], LINE):
        count = min(LINE, right.shape[0] - start)
        turn(right, start, 0, turned)
        for i in range(left.shape[0]):
            for k in range(left.shape[1]):
                x = left[i, k]
                line = turned[k]
                for j in range(count):
                    terms[j] = x * line[j]
                for s in range(degree, 0, -1):
                    upper = tables[i, s, start : start + count]
                    lower = tables[i, s - 1, start : start + count]
                    for j in range(count):
                        upper[j] += terms[j] * lower[j]


@jit
def _elementary(squares: Array, degree: int) -> Any:
    tables = np.zeros((squares.shape[0], degree + 1), dtype=np.float64)
    for i in range(squares.shape[0]):
        tables[i, 0] = 1.0
        for k in range(squares.shape[1]):
            for s in range(min(degree, k + 1), 0, -1):
                tables[i, s] += squares[i, k] * tables[i, s - 1]
    return tables
