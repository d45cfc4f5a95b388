"""Decision boundary, margins, support vectors and slack of a classifier on two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer import _check
from mercer.errors import InputError
from mercer.plots import style


class MarginDisplay:
    """The boundary f = 0 of a classifier of two classes, its margins f = -1 and f = 1, and its support vectors.

    A dashed line joins each object on the wrong side of its margin to that margin: its slack, max(0, 1 - y f).

    >>> from mercer import SVC
    >>> from mercer.plots import MarginDisplay
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 5.0]], [0, 0, 1, 1]
    >>> MarginDisplay.from_estimator(SVC(kernel="linear", C=1e6).fit(X, y), X, y).slack.round(2).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """

    def __init__(
        self, xx: Any, yy: Any, values: Any, X: Any, y: Any, *, classes: Any, decisions: Any, support: Any
    ) -> None:
        self.xx, self.yy, self.values = xx, yy, values
        self.X, self.y, self.classes = np.asarray(X, dtype=np.float64), np.asarray(y), np.asarray(classes)
        self.decisions = np.asarray(decisions)
        self.support = np.asarray(support)
        signs = np.where(self.y == self.classes[1], 1.0, -1.0)
        self.slack = np.maximum(0.0, 1.0 - signs * self.decisions)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, resolution: int = 150, ax: Any = None) -> Self:
        """A fitted classifier with `decision_function`, and the objects it was trained on."""
        resolution = _check.integer(cls.__name__, "resolution", resolution, low=10, high=2000)
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise InputError(f"MarginDisplay draws objects with two features; got an array of shape {points.shape}.")
        if len(estimator.classes_) != 2:
            raise InputError(f"Margins are defined for two classes; this model has {len(estimator.classes_)}.")
        if len(np.asarray(y)) != len(points):
            raise InputError(
                f"One label per object is needed: got {len(points)} objects and {len(np.asarray(y))} labels."
            )
        low, high = points.min(axis=0), points.max(axis=0)
        border = np.where(high > low, 0.15 * (high - low), 1.0)
        xx, yy = np.meshgrid(*(np.linspace(low[i] - border[i], high[i] + border[i], resolution) for i in (0, 1)))
        values = estimator.decision_function(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
        support = getattr(estimator, "support_", np.empty(0, dtype=np.intp))
        return cls(xx, yy, values, points, y, classes=estimator.classes_,
                   decisions=estimator.decision_function(points), support=support).plot(ax=ax)  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `contour_`, `support_` and `slack_` are what was drawn."""
        ax = style.axes(ax)
        low, high = float(self.values.min()), float(self.values.max())
        if low < 0 < high:
            ax.contourf(self.xx, self.yy, self.values, levels=[low, 0.0, high], alpha=0.18, colors=style.COLOURS[:2])
        shown = [level for level in (-1.0, 0.0, 1.0) if low < level < high]
        looks = {-1.0: ("--", 1.2), 0.0: ("-", 2.0), 1.0: ("--", 1.2)}
        self.contour_ = None
        if shown:
            self.contour_ = ax.contour(
                self.xx, self.yy, self.values, levels=shown, colors="black",
                linestyles=[looks[level][0] for level in shown], linewidths=[looks[level][1] for level in shown],
            )  # fmt: skip
        self.slack_ = self._slack(ax, shown)
        style.scatter(ax, self.X, self.y, zorder=3, s=36)
        self.support_ = None
        if len(self.support):
            label = f"{len(self.support)} support vectors"
            look = {"s": 130, "facecolors": "none", "edgecolors": "black", "linewidths": 1.3, "zorder": 4}
            self.support_ = ax.scatter(*self.X[self.support].T, label=label, **look)
        ax.set_xlim(self.xx.min(), self.xx.max())
        ax.set_ylim(self.yy.min(), self.yy.max())
        ax.set_xlabel("feature 0")
        ax.set_ylabel("feature 1")
        ax.set_title("Decision boundary (solid) and margins (dashed)")
        handles = ax.get_legend_handles_labels()[0]
        for level, name in ((0.0, "f = 0"), (1.0, "f = -1 and f = 1")):
            if level in shown:
                line = style.pyplot().Line2D(
                    [], [], color="black", linestyle=looks[level][0], linewidth=looks[level][1]
                )
                line.set_label(name)
                handles.append(line)
        ax.legend(handles=handles, fontsize="small", loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _slack(self, ax: Any, shown: list[float]) -> list[Any]:
        """From each object with slack to the nearest drawn point of its margin."""
        lines: list[Any] = []
        if self.contour_ is None:
            return lines
        margins = {level: np.vstack(parts) for level, parts in zip(shown, self.contour_.allsegs, strict=True) if parts}
        scale = np.ptp(self.X, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        for number in np.flatnonzero(self.slack > 1e-2):
            level = 1.0 if self.y[number] == self.classes[1] else -1.0
            if level in margins:
                point = self.X[number]
                nearest = margins[level][(((margins[level] - point) / scale) ** 2).sum(axis=1).argmin()]
                label = "slack" if not lines else None
                lines += ax.plot(
                    *np.column_stack([point, nearest]), color="#444444", linewidth=1.0, linestyle=":", label=label
                )
        return lines
