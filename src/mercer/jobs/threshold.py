"""The probability from which one of two classes is predicted, given directly or by the costs of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._check import did_you_mean
from mercer._types import Float64
from mercer.errors import ParameterError

_SHAPE = "CLASS=PROBABILITY, or CLASS=COST:COST"


@final
@dataclass(frozen=True)
class Threshold:
    """A class, by its position among two, and the smallest probability at which it is predicted."""

    place: int
    least: float

    @classmethod
    def parse(cls, text: str, labels: Sequence[str]) -> Threshold:
        """``yes=0.3``, or ``yes=5:1``: missing a yes costs five times as much as a false alarm.

        Without a class it is about the second one.
        """
        label, _, number = text.rpartition("=")
        if len(labels) != 2:
            raise ParameterError(f"--threshold is for two classes; here are {len(labels)}.")
        if label and label not in labels:
            hint = did_you_mean(label, labels)
            raise ParameterError(
                f"--threshold: there is no class {label!r}, only {' and '.join(labels)}. {hint}".strip()
            )
        return cls(labels.index(label) if label else 1, _probability(number, text))

    def cut(self, chances: Float64) -> npt.NDArray[np.intp]:
        """The positions of the predicted classes."""
        return np.where(chances[:, self.place] >= self.least, self.place, 1 - self.place)

    def predicted(self, classes: npt.NDArray[Any], chances: Float64) -> npt.NDArray[Any]:
        """The predicted classes."""
        return np.asarray(classes[self.cut(chances)])


def _probability(number: str, text: str) -> float:
    """A probability as it is; for two costs, the second divided by their sum."""
    try:
        parts = [float(part) for part in number.split(":")]
    except ValueError:
        parts = []
    if len(parts) == 1 and 0.0 <= parts[0] <= 1.0:
        return parts[0]
    if len(parts) == 2 and all(0.0 < part < np.inf for part in parts):
        return parts[1] / (parts[0] + parts[1])
    raise ParameterError(
        f"--threshold takes {_SHAPE} (what it costs to overlook one, and what a false alarm costs), not {text!r}."
    )
