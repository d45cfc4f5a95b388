"""The feature map of a kernel written out: a matrix whose products of rows are the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """One row of features per object, so that ``matrix @ matrix.T`` is the Gram matrix, and a name per feature."""

    matrix: Any
    """A float64 array, or CSR where the objects were sparse."""
    names: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])
