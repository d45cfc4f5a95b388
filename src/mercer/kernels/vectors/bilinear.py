"""The bilinear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64
from mercer.errors import ParameterError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import State
from mercer.kernels.vectors.features import RowFeatures, refuse_other_width
from mercer.kernels.vectors.linear import DotProduct

_TOLERANCE = 1e-10
"""Relative asymmetry and negative eigenvalues up to this are rounding of a matrix that was computed; beyond it they are
mistakes, which a larger tolerance would let pass."""


@final
@dataclass(frozen=True)
class Bilinear(DotProduct):
    """The bilinear kernel, k(x, z) = x'Bz.

    `matrix` is B: symmetric and positive semi-definite, or it is refused, since no other B makes a kernel.

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
