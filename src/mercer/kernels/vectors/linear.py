"""The dot product of vectors, other inner products, and the sigmoid of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.errors import ParameterError
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra.pointwise import Gamma, HasGamma, Pointwise
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.feature_map import Columns, FeatureMap, FixedColumns
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.distances import resolved_gamma
from mercer.kernels.vectors.features import RowFeatures, dot_products, refuse_other_width

_TOLERANCE = 1e-10
"""Relative asymmetry and negative eigenvalues up to this are rounding errors of a computed matrix; larger ones are
mistakes."""


class DotProduct(Kernel):
    """k(x, z) = phi(x)'phi(z) for dense or CSR rows phi(x). Subclasses compute the rows in `features`."""

    domain = Vectors

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return features.squared_lengths


@final
@dataclass(frozen=True)
class Linear(DotProduct):
    """The linear kernel, k(x, z) = x'z.

    >>> from mercer import kernels
    >>> kernels.Linear().fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    formula = r"<x>^\top <z>"
    is_linear = True

    def feature_map(self, state: State) -> FeatureMap:
        return FixedColumns(lambda objects: objects.values, _names)

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        return RowFeatures.of(objects, dtype)


@final
@dataclass(frozen=True)
class Bilinear(DotProduct):
    """The bilinear kernel, k(x, z) = x'Bz.

    `matrix` is B, which must be symmetric and positive semi-definite, since no other B gives a kernel.

    >>> from mercer import kernels
    >>> kernels.Bilinear([[2.0, 1.0], [1.0, 2.0]]).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]]).round(9)
    array([[7.]])
    """

    matrix: Float64

    formula = r"<x>^\top B\, <z>"
    variants = ({"matrix": 0.5 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))},)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _checked(self.matrix))
        super().__post_init__()

    def resolve(self, objects: Vectors) -> State:
        refuse_other_width(objects.n_features, len(self.matrix))
        eigenvalues, vectors = np.linalg.eigh(self.matrix)
        kept = eigenvalues > 0
        return State({"factor": vectors[:, kept] * np.sqrt(eigenvalues[kept])})  # B = factor factor'

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        refuse_other_width(objects.n_features, len(self.matrix))
        factor = state.values["factor"]
        if not factor.shape[1]:  # B = 0
            factor = np.zeros((len(self.matrix), 1))
        with np.errstate(over="ignore", invalid="ignore"):
            return RowFeatures.of(Vectors(np.asarray(objects.values @ factor)), dtype)


class OfDotProduct(HasGamma, Pointwise):
    """k(x, z) = f(gamma x'z). Subclasses define `gamma` and f, as `pointwise`."""

    measure = Linear()

    def parameters(self, objects: Vectors, measure_state: State) -> dict[str, float]:
        del measure_state
        return {"gamma": resolved_gamma(self.gamma, objects)}


@final
@dataclass(frozen=True)
class Sigmoid(OfDotProduct):
    """The sigmoid kernel, k(x, z) = tanh(gamma x'z + coef0), which is **not** positive semi-definite.

    Provided for comparison with neural networks and older work; expect a warning when it is used. `gamma` is a positive
    number, or ``"scale"``, ``"auto"`` or ``"median"`` as in `RBF`.

    >>> from mercer import kernels
    >>> kernels.Sigmoid(gamma=1.0).fit([[1.0]])([[1.0]], [[0.5]]).round(6)
    array([[0.462117]])
    >>> kernels.Sigmoid().psd
    False
    """

    gamma: Gamma = "scale"
    coef0: float = 0.0

    psd = False
    formula = r"\tanh\left(<gamma>\,<x>^\top <z> + <coef0>\right)"
    variants = (
        {},
        {"gamma": 0.2, "coef0": -1.0},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("Sigmoid", "coef0", self.coef0, low_open=True, high_open=True)

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.tanh(values, state.number("gamma"), float(self.coef0))

    def single_precision(self, features: Any, state: State) -> bool:
        # With a negative offset, k(x, x) may be close to zero, compared to which no rounding error is small.
        return self.coef0 >= 0 and super().single_precision(features, state)


def _checked(matrix: Any) -> Float64:
    rule = "a symmetric positive semi-definite matrix"
    try:
        B = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _check.fail("Bilinear", "matrix", rule, matrix) from error
    if B.ndim != 2 or B.shape[0] != B.shape[1] or not B.size or not np.isfinite(B).all():
        raise _check.fail("Bilinear", "matrix", f"{rule} of finite numbers", matrix, f"Its shape is {B.shape}.")
    asymmetry = np.abs(B - B.T)
    if asymmetry.max() > _TOLERANCE * np.abs(B).max():
        i, j = np.unravel_index(int(asymmetry.argmax()), B.shape)
        raise ParameterError(
            f"The 'matrix' parameter of Bilinear must be {rule}. Entries ({i}, {j}) and ({j}, {i}) differ: {B[i, j]:g} "
            f"and {B[j, i]:g}. If that is meant, pass (B + B.T) / 2."
        )
    eigenvalues = np.linalg.eigvalsh(B)
    if eigenvalues[0] < -_TOLERANCE * np.abs(eigenvalues).max():
        raise ParameterError(
            f"The 'matrix' parameter of Bilinear must be {rule}. Its smallest eigenvalue is {eigenvalues[0]:.6g}, so "
            "x'Bz would be negative between some x and itself."
        )
    return B


def _names(one: Vectors, columns: Columns) -> Sequence[Any]:
    return range(one.n_features) if columns is None or len(columns) != one.n_features else columns
