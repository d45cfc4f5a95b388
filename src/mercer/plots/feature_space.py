"""Objects before and after the map into feature space: the lifts of the lectures, and kernel PCA of any kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.svc import SVC
from mercer.plots import style
from mercer.theory.arguments import kernel_of


def _parabola(X: Float64) -> Float64:
    return np.column_stack([X[:, 0], X[:, 0] ** 2])


def _paraboloid(X: Float64) -> Float64:
    return np.column_stack([X[:, :2], (X[:, :2] ** 2).sum(axis=1)])


def _bumps(X: Float64) -> Float64:
    centres = np.array([[1.0, 1.0], [0.0, 0.0]])
    return np.asarray(np.exp(-((X[:, None] - centres) ** 2).sum(axis=2)))


LIFTS: dict[str, tuple[Callable[[Float64], Float64], tuple[str, ...], int, str]] = {
    "parabola": (_parabola, ("x", "x²"), 1, "φ(x) = (x, x²)"),
    "paraboloid": (_paraboloid, ("x₁", "x₂", "x₁² + x₂²"), 2, "φ(x) = (x₁, x₂, x₁² + x₂²)"),
    "xor": (_bumps, ("z₁ = exp(-|x - (1, 1)|²)", "z₂ = exp(-|x - (0, 0)|²)"), 2, "exclusive or in (z₁, z₂)"),
}


class FeatureSpaceDisplay:
    """Input space on the left, feature space on the right, where a line or a plane separates the classes.

    >>> from mercer.plots import FeatureSpaceDisplay
    >>> FeatureSpaceDisplay.from_lift("xor").separated
    True
    """

    def __init__(
        self, X: Any, features: Any, y: Any, *, names: tuple[str, ...], title: str, separate: bool = True
    ) -> None:
        self.X = None if X is None else np.asarray(X, dtype=np.float64)
        self.features = np.asarray(features, dtype=np.float64)
        self.y = np.asarray(y)
        self.names = names
        self.title = title
        self.machine: Any = None
        if separate and len(np.unique(self.y)) == 2:
            self.machine = SVC(kernel="linear", C=1e4).fit(self.features, self.y)

    @property
    def separated(self) -> bool:
        """Whether a line (or plane) in feature space separates the classes."""
        return self.machine is not None and bool((self.machine.predict(self.features) == self.y).all())

    @classmethod
    def from_lift(cls, lift: str, X: Any = None, y: Any = None, *, axes: Any = None) -> Self:
        """`lift` is "parabola", "paraboloid" or "xor" (see LIFTS); X and y default to those of the lectures."""
        _check.choice(cls.__name__, "lift", lift, LIFTS)
        function, names, width, title = LIFTS[lift]
        points, labels = _example(lift) if X is None else (np.asarray(X, dtype=np.float64), np.asarray(y))
        if points.ndim != 2 or points.shape[1] != width or labels.shape != (len(points),):
            raise InputError(
                f"The lift {lift!r} takes {width} feature(s) and one label per object; got {points.shape}."
            )
        return cls(points, function(points), labels, names=names, title=title).plot(axes=axes)

    @classmethod
    def from_kernel(cls, kernel: Any, objects: Any, y: Any, *, n_components: int = 2, axes: Any = None) -> Self:
        """The leading directions of the feature space of any kernel: kernel PCA in two or three dimensions."""
        chosen = kernel_of(cls.__name__, kernel)
        n_components = _check.integer(cls.__name__, "n_components", n_components, low=2, high=3)
        labels = np.asarray(y)
        found = np.asarray(KernelPCA(n_components, kernel=chosen).fit_transform(objects))
        if labels.shape != (len(found),):
            raise InputError(f"One label per object is needed: got {len(found)} objects and labels {labels.shape}.")
        names = tuple(f"component {number + 1}" for number in range(n_components))
        return cls(None, found, labels, names=names, title=f"kernel PCA of {style.shortened(str(chosen), 40)}",
                   separate=False).plot(axes=axes)  # fmt: skip

    def plot(self, axes: Any = None) -> Self:
        """Draw on `axes` (input space, feature space; or one for kernel PCA), or on new ones, kept as `axes_`."""
        solid = self.features.shape[1] == 3
        if axes is None:
            count = 1 if self.X is None else 2
            figure = style.pyplot().figure(figsize=(5.0 * count, 4.4), layout="constrained")
            axes = [figure.add_subplot(1, count, place + 1, projection="3d" if solid and place == count - 1 else None)
                    for place in range(count)]  # fmt: skip
        self.axes_ = np.atleast_1d(np.asarray(axes, dtype=object))
        self.figure_ = self.axes_[0].figure
        if self.X is not None:
            self._input(self.axes_[0], self.X)
        ax = self.axes_[-1]
        style.scatter(ax, self.features, self.y, s=34)
        for number, name in enumerate(self.names):
            getattr(ax, f"set_{'xyz'[number]}label")(name)
        ax.set_title(self.title)
        ax.margins(0.1)
        self.boundary_ = None if self.machine is None else (self._plane(ax) if solid else self._line(ax))
        ax.legend(fontsize="small", loc="best")
        return self

    def _input(self, ax: Any, X: Float64) -> None:
        flat = X.shape[1] == 1
        points = np.column_stack([X, np.zeros(len(X))]) if flat else X
        style.scatter(ax, points, self.y, s=34)
        ax.margins(0.1)
        ax.set_title(f"input space: no {'point' if flat else 'line'} separates")
        if not flat:
            ax.set_xlabel("x₁")
            ax.set_ylabel("x₂")
        else:
            ax.set_xlabel("x")
            ax.set_yticks([])
            ax.axhline(0, color=style.QUIET, linewidth=0.8, zorder=0)

    def _line(self, ax: Any) -> Any:
        (w0, w1), b = self.machine.coef_[0], float(self.machine.intercept_[0])
        low, high = ax.get_xlim()
        bottom, top = ax.get_ylim()
        if abs(w1) * (high - low) >= abs(w0) * (top - bottom) * 1e-3:
            ends = np.array([low, high])
            (line,) = ax.plot(ends, -(w0 * ends + b) / w1, color="black", label="w·φ(x) + b = 0")
        else:
            line = ax.axvline(-b / w0, color="black", label="w·φ(x) + b = 0")
        ax.set_xlim(low, high)
        ax.set_ylim(bottom, top)
        return line

    def _plane(self, ax: Any) -> Any:
        w, b = self.machine.coef_[0], float(self.machine.intercept_[0])
        low, high = self.features.min(axis=0), self.features.max(axis=0)
        if abs(w[2]) < 1e-9:
            return None
        xx, yy = np.meshgrid(np.linspace(low[0], high[0], 2), np.linspace(low[1], high[1], 2))
        return ax.plot_surface(xx, yy, -(w[0] * xx + w[1] * yy + b) / w[2], alpha=0.3, color=style.QUIET)


def _example(lift: str) -> tuple[Float64, npt.NDArray[np.str_]]:
    rng = np.random.default_rng(0)
    if lift == "parabola":
        line = np.linspace(-2, 2, 17)[:, None]
        return line, np.where(np.abs(line[:, 0]) < 1.1, "middle", "ends")
    if lift == "xor":
        return np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array(["0", "1", "1", "0"])
    X = rng.uniform(-2, 2, size=(140, 2))
    radius = np.linalg.norm(X, axis=1)
    kept = np.abs(radius - 1.2) > 0.15
    return X[kept], np.where(radius[kept] > 1.2, "outside", "inside")
