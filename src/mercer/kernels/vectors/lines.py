"""Rows turned on their side, block by block, for loops that compare one row with a line of others."""

from __future__ import annotations

from mercer._jit import Array, jit

LINE = 512
"""Rows compared at a time. A few lines of so many floats fit the first cache; shorter ones pay more for each loop."""
FEATURES = 128
"""Features turned at a time: times `LINE` numbers, half of a usual second cache."""


@jit
def turn(rows: Array, start: int, first: int, turned: Array) -> None:
    """Write features `first`, `first` + 1, ... of the `LINE` rows from `start` into the rows of `turned`."""
    # In strips of eight rows, whose lines all stay in the first cache while their features are read out.
    count = min(LINE, rows.shape[0] - start)
    for strip in range(0, count, 8):
        for k in range(min(turned.shape[0], rows.shape[1] - first)):
            for j in range(strip, min(strip + 8, count)):
                turned[k, j] = rows[start + j, first + k]
