"""Which positions of a sequence support a decision, and which oppose it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer import _check
from mercer.errors import InputError
from mercer.plots import style


class SequenceExplanationDisplay(style.Contributions):
    """A bar for each symbol: up if it adds to the decision value, down (and hatched) if it subtracts from it.

    >>> from mercer import SVC, kernels
    >>> from mercer.plots import SequenceExplanationDisplay
    >>> model = SVC(kernel=kernels.Spectrum(2)).fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0])
    >>> display = SequenceExplanationDisplay.from_estimator(model, "gattacg")
    >>> len(display.contributions)
    7
    """

    def __init__(self, symbols: Any, contributions: Any, *, intercept: float, per_line: int = 60) -> None:
        self.symbols = [str(symbol) for symbol in symbols]
        self.contributions = np.asarray(contributions, dtype=np.float64)
        self.intercept = float(intercept)
        self.per_line = per_line
        if len(self.symbols) != len(self.contributions):
            raise InputError(f"{len(self.symbols)} symbols need as many contributions; got {len(self.contributions)}.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, sequence: Any, *, output: int = 0, per_line: int = 60, axes: Any = None
    ) -> Self:
        """One sequence under a fitted machine that can `explain` it."""
        per_line = _check.integer(cls.__name__, "per_line", per_line, low=5, high=200)
        found = estimator.explain([sequence], by="features")[0]
        shares, intercept = style.explained(cls.__name__, found, output)
        symbols = sequence if len(sequence) == len(found.parts) else found.parts
        return cls(symbols, shares, intercept=intercept, per_line=per_line).plot(axes=axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on `axes` (one for each line of symbols), or on new ones; `bars_` has a bar for each symbol."""
        lines = max(1, -(-len(self.symbols) // self.per_line))
        width = min(max(len(self.symbols), 12), self.per_line)
        if axes is None:
            size = (max(5.0, 0.19 * width + 1.2), 0.9 + 1.5 * lines)
            axes = style.pyplot().subplots(lines, 1, figsize=size, layout="constrained", squeeze=False, sharey=True)[1]
        self.axes_ = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        self.figure_ = self.axes_[0].figure
        self.bars_: list[Any] = []
        limit = 1.1 * max(float(np.abs(self.contributions).max(initial=0.0)), 1e-12)
        for number, ax in enumerate(self.axes_[:lines]):
            start = number * self.per_line
            part = self.contributions[start : start + self.per_line]
            places = np.arange(start + 1, start + 1 + len(part))
            looks = [style.POSITIVE if value > 0 else style.NEGATIVE for value in part]
            for bar, value in zip(ax.bar(places, part, width=0.85, color=looks), part, strict=True):
                bar.set_hatch("" if value > 0 else "////")
                self.bars_.append(bar)
            ax.axhline(0, color="black", linewidth=0.8)
            ax.set_xlim(start + 0.3, start + width + 0.7)
            ax.set_ylim(-limit, limit)
            ax.set_xticks(places, self.symbols[start : start + self.per_line], family="monospace", fontsize="small")
            ax.tick_params(axis="x", length=0)
            if lines > 1:
                ax.set_title(f"positions {start + 1} to {start + len(part)}", fontsize="small", loc="left")
        self.axes_[lines // 2].set_ylabel("contribution to f(x)")
        parts = f"symbols {self.contributions.sum():+.4g}, b {style.signed(self.intercept, limit)}"
        self.figure_.suptitle(f"f(x) = {self.value:.4g}: {parts}", fontsize="medium")
        return self
