"""The machine that primal training gives: f(x) = <w, x> + c, without a Gram matrix and without support objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64


@final
@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the features (one row per output) and intercepts; the twin of `Expansion` for the linear kernel.

    >>> Weights(np.array([[1.0, -1.0]]), np.array([0.5]))(np.array([[2.0, 1.0]]))
    array([[1.5]])
    """

    coef: Float64
    intercept: Float64

    def __call__(self, rows: Any) -> Float64:
        """Decision values, of shape (rows, outputs), of dense or CSR rows."""
        return np.asarray(rows @ self.coef.T + self.intercept, dtype=np.float64)
