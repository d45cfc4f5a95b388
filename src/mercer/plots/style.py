"""Colours, marks and axes that all pictures share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._types import Float64
from mercer.errors import MissingExtraError

# Okabe and Ito's palette: told apart by the colour-blind; ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
POSITIVE, NEGATIVE, QUIET = "#D55E00", "#0072B2", "#888888"
SEQUENTIAL = "cividis"
"""Dark to light, and so in grey; made for the colour-blind."""
DIVERGING = "PuOr_r"


def pyplot() -> Any:
    """matplotlib.pyplot, or the name of what is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError(
            "Pictures need matplotlib, which is not installed. Install it with: pip install 'mercer[plots]'."
        ) from error
    return plt


def axes(ax: Any, *, size: tuple[float, float] = (6.0, 4.5), flat: bool = True) -> Any:
    """The given axes, or new ones in a figure of their own."""
    if ax is not None:
        return ax
    made = pyplot().subplots(figsize=size, layout="constrained", subplot_kw=None if flat else {"projection": "3d"})
    return made[1]


def classes(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The labels, sorted, and the class number of each object."""
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    return labels, codes


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    return MARKERS[number % len(MARKERS)]


def scatter(ax: Any, points: npt.NDArray[np.float64], y: Any, **kwargs: Any) -> None:
    """Points by class: each has a colour, a mark and an entry in the legend."""
    labels, codes = classes(y)
    for number, label in enumerate(labels):
        own = points[codes == number]
        ax.scatter(*own.T, color=colour(number), marker=marker(number), edgecolor="black", linewidth=0.6,
                   label=str(label), **kwargs)  # fmt: skip


def shortened(text: str, longest: int = 24) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def signed(value: float, beside: float) -> str:
    """A number with its sign; 0 if it is negligible compared to `beside`."""
    return "+0" if abs(value) < 1e-4 * abs(beside) else f"{value:+.4g}"


class Contributions:
    """The parts of a decision value: `contributions`, and the intercept b."""

    contributions: Float64
    intercept: float

    @property
    def value(self) -> float:
        """The decision value: all contributions and b."""
        return float(self.contributions.sum()) + self.intercept


def explained(owner: str, explanation: Any, output: int) -> tuple[Float64, float]:
    """The contributions to one output, and its intercept."""
    output = _check.integer(owner, "output", output, low=0, high=explanation.contributions.shape[1] - 1)
    return explanation.contributions[:, output], float(np.atleast_1d(explanation.intercept)[output])
