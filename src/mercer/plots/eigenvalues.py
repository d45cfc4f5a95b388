"""The eigenvalues of a Gram matrix: how many directions matter, and whether any eigenvalue is negative."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.linalg

from mercer.errors import InputError
from mercer.plots import style
from mercer.theory.arguments import kernel_of, matrix_of
from mercer.theory.geometry import centred
from mercer.theory.mercer import whole_matrix

_MOST_JOINED = 60
"""Up to this many eigenvalues are joined by a line: with more, the line would hide the points."""


class EigenvalueDisplay:
    """Eigenvalues, largest first, and the cumulative share of their sum; negative ones are marked.

    >>> from mercer.plots import EigenvalueDisplay
    >>> EigenvalueDisplay.from_matrix([[2.0, 1.0], [1.0, 2.0]]).eigenvalues.round(6).tolist()
    [3.0, 1.0]
    """

    def __init__(self, eigenvalues: Any, *, name: str = "", is_centred: bool = False) -> None:
        self.eigenvalues = np.sort(np.asarray(eigenvalues, dtype=np.float64))[::-1]
        self.name = name
        self.is_centred = is_centred

    @classmethod
    def from_matrix(cls, matrix: Any, *, centre: bool = False, name: str = "", ax: Any = None) -> Self:
        """The eigenvalues of the matrix, or of HKH with `centre`."""
        K = matrix_of(cls.__name__, matrix)
        if K.shape[0] != K.shape[1] or not np.isfinite(K).all():
            raise InputError(f"Eigenvalues need a square, finite matrix; got one of shape {K.shape}.")
        K = centred(K) if centre else K
        return cls(scipy.linalg.eigvalsh((K + K.T) / 2), name=name, is_centred=centre).plot(ax=ax)

    @classmethod
    def from_kernel(cls, kernel: Any, objects: Any, *, centre: bool = False, ax: Any = None) -> Self:
        """The eigenvalues of the Gram matrix of a kernel on these objects."""
        chosen = kernel_of(cls.__name__, kernel)
        parsed = chosen.coerce(objects)
        return cls.from_matrix(whole_matrix(chosen.fit(parsed), parsed), centre=centre, name=str(chosen), ax=ax)

    @property
    def shares(self) -> Any:
        """The cumulative share of the sum of positive eigenvalues."""
        positive = np.maximum(self.eigenvalues, 0.0)
        total = positive.sum()
        return np.cumsum(positive) / total if total > 0 else np.zeros(len(positive))

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `points_`, `negative_` and `shares_` are what was drawn."""
        ax = style.axes(ax)
        values = self.eigenvalues
        ranks = np.arange(1, len(values) + 1)
        noise = len(values) * np.finfo(float).eps * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        up, down = values > noise, values < -noise
        look = (
            {"linestyle": "-", "markersize": 5}
            if len(values) <= _MOST_JOINED
            else {"linestyle": "none", "markersize": 3}
        )
        (self.points_,) = ax.plot(ranks[up], values[up], color=style.COLOURS[0], marker="o", label="positive", **look)
        self.negative_ = None
        if down.any():
            (self.negative_,) = ax.plot(ranks[down], -values[down], color=style.POSITIVE, marker="x", linestyle="none",
                                        label=f"negative, without sign ({int(down.sum())})")  # fmt: skip
        if up.any() or down.any():
            ax.set_yscale("log")
        right = ax.twinx()
        (self.shares_,) = right.plot(ranks, self.shares, color=style.QUIET, linestyle="--", label="running share")
        right.set_ylim(0, 1.03)
        right.set_ylabel("running share of the sum", color="#555555")
        enough = int(np.searchsorted(self.shares, 0.9 - 1e-12)) + 1 if up.any() else 0
        if enough:
            right.axvline(enough, color=style.QUIET, linewidth=0.8, linestyle=":")
            near = enough > 0.6 * len(values)
            right.annotate(f"90 % in {enough}", (enough, 0.03), xytext=(-4 if near else 4, 0), fontsize="small",
                           textcoords="offset points", ha="right" if near else "left", color="#555555")  # fmt: skip
        ax.set_xlabel("rank")
        ax.set_ylabel("eigenvalue of " + ("the centred matrix, HKH" if self.is_centred else "the Gram matrix"))
        ax.set_title(f"Eigenvalues{f' of {style.shortened(self.name, 40)}' if self.name else ''}")
        if len(values) <= 12:
            ax.set_xticks(ranks)
        handles = [line for line in (self.points_, self.negative_, self.shares_) if line is not None]
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
