"""What two objects share as a part of what they have together: the epilogue of Tanimoto and MinMax."""

from __future__ import annotations

from mercer._jit import Array, jit


@jit
def shared_part(tile: Array, left: Array, right: Array) -> None:
    """tile <- tile / (left + right - tile), in place; two empty objects are equal, so their 0 / 0 is 1."""
    zero, one = tile.dtype.type(0), tile.dtype.type(1)
    for i in range(tile.shape[0]):
        row = tile[i]
        own = left[i]
        for j in range(row.shape[0]):
            together = own + right[j] - row[j]
            row[j] = row[j] / together if together > zero else one
