"""Features of a column of numbers or dates: itself, its logarithm, its cycles, and whether it is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.readers.data import DATE, Column

VALUE, LOG, GAP = "", "log", "missing"
_CYCLES = {"day": 1.0, "week": 7.0, "year": 365.2425}
"""The periods of the clock, the week and the seasons, in days."""
_SPANS = {"day": 0.0, "week": 14.0, "year": 400.0}
"""How many days dates must span to distinguish a cycle from a trend: about two weeks, and more than a year."""
_SKEWED = 2.0
"""The skewness from which a logarithm is offered: that of an exponential distribution."""
_GAPS = 0.02
"""The fraction of missing values from which an indicator of missing values is offered: fewer teach nothing."""
_FEWEST = 5
"""... and their number."""


@final
@dataclass(frozen=True)
class Feature:
    """One number per object, computed from a column."""

    column: str
    part: str = VALUE

    @property
    def name(self) -> str:
        """Its name in kernels: that of the column, or of the column and its part."""
        return f"{self.column} ({self.part})" if self.part else self.column

    def of(self, values: Float64, fill: float, unit: float) -> Float64:
        """The feature of each object; `fill` replaces missing values, and `unit` is the scale of the logarithm."""
        if self.part == GAP:
            return np.isnan(values).astype(np.float64)
        full = np.where(np.isnan(values), fill, values)
        if self.part == LOG:
            return np.arcsinh(full / unit)
        if self.part == VALUE:
            return full
        cycle, _, wave = self.part.partition(" ")
        days = full + 3.0 if cycle == "week" else full  # 1970 began on a Thursday
        angle = 2.0 * np.pi * days / _CYCLES[cycle]
        return np.asarray(np.sin(angle) if wave == "sine" else np.cos(angle))

    @staticmethod
    def is_part(part: str) -> bool:
        """Whether a part of this name exists."""
        cycle, _, wave = part.partition(" ")
        return part in (VALUE, LOG, GAP) or (cycle in _CYCLES and wave in ("sine", "cosine"))


def features_of(column: Column) -> list[Feature]:
    """The features of a column of numbers or dates that may help; comparing kernels shows which do."""
    found = [Feature(column.name)]
    present = column.values[~np.isnan(column.values)]
    if column.kind == DATE:
        found += [Feature(column.name, f"{cycle} {wave}") for cycle in _cycles(present) for wave in ("sine", "cosine")]
    elif _is_skewed(present):
        found.append(Feature(column.name, LOG))
    missing = len(column.values) - len(present)
    if missing >= max(_FEWEST, _GAPS * len(column.values)):
        found.append(Feature(column.name, GAP))
    return found


def _cycles(days: Float64) -> list[str]:
    if not len(days):
        return []
    span = float(np.ptp(days))
    timed = bool((days % 1.0 != 0.0).any())
    return [cycle for cycle in _CYCLES if span >= _SPANS[cycle] and (timed or cycle != "day")]


def _is_skewed(values: Float64) -> bool:
    """Whether a column has a long tail: most values are near each other, and a few are far away."""
    with np.errstate(all="ignore"):  # values beyond floating point are reported when they are scaled
        deviation = float(np.std(values)) if len(values) else 0.0
        if not deviation > 0 or not np.isfinite(deviation) or len(np.unique(values)) < 3:
            return False
        return bool(abs(np.mean(((values - values.mean()) / deviation) ** 3)) > _SKEWED)


def unit_of(values: Float64) -> float:
    """The scale at which the logarithm becomes linear: the median size of the nonzero values."""
    sizes = np.abs(values[~np.isnan(values)])
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) else 1.0
