"""Names for the types of arrays, for consistent signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Floating = npt.NDArray[np.floating[Any]]
"""float32 or float64: tiles of a Gram matrix."""
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
"""Offsets of ragged arrays, among others."""
UInt64 = npt.NDArray[np.uint64]
"""Hashes that name features."""
Indices = npt.NDArray[np.intp]
"""Positions of objects, rows or columns; codes of classes."""
Index = slice | Indices
"""What `take` accepts: a slice gives a view, positions a copy."""
DType = type[np.float32] | type[np.float64]
"""The precision of a Gram matrix."""
