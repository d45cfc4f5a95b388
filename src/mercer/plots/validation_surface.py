"""The validation score of a machine for each C and gamma, from one matrix of distances."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from mercer import _check
from mercer._progress import heard, reporting
from mercer.errors import InputError
from mercer.estimators.svc import SVC
from mercer.gram.make import gram_of
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.rbf import RBF
from mercer.plots import style
from mercer.selection.blocks import measuring
from mercer.selection.compare import folds_of
from mercer.selection.search import KernelSearchCV
from mercer.theory.diagnosing.targets import target_of


class ValidationSurfaceDisplay:
    """Mean validation scores, one row per gamma and one column per C; the best is marked.

    >>> import numpy as np
    >>> from mercer.plots import ValidationSurfaceDisplay
    >>> display = ValidationSurfaceDisplay([0.1, 1.0], [0.5, 2.0], [[0.5, 0.75], [0.5, 1.0]]).plot()
    >>> display.best
    (1.0, 2.0, 1.0)
    """

    def __init__(self, C: Any, gamma: Any, scores: Any, *, spread: Any = None, what: str = "accuracy") -> None:
        self.C, self.gamma = np.asarray(C, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.spread = None if spread is None else np.asarray(spread, dtype=np.float64)
        self.what = what
        if self.scores.shape != (len(self.gamma), len(self.C)):
            raise InputError(f"One score per gamma (row) and C (column) is needed; got {self.scores.shape}.")

    @property
    def best(self) -> tuple[float, float, float]:
        """C, gamma and score of the best setting; among equals, the one with the smallest C and gamma."""
        row, column = np.unravel_index(int(np.nanargmax(self.scores)), self.scores.shape)
        return float(self.C[column]), float(self.gamma[row]), float(self.scores[row, column])

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        C: Any = None,
        gamma: Any = None,
        kernel: Pointwise | None = None,
        cv: Any = 5,
        ax: Any = None,
    ) -> Self:
        """Cross-validate an `SVC` over the grid with `KernelSearchCV`, which computes distances once.

        `kernel` is one with a single gamma (a Gaussian by default). `gamma` defaults to powers of four around
        1 / the median distance, `C` to powers of ten.
        """
        chosen = RBF(gamma=1.0) if kernel is None else kernel
        has_measure = isinstance(chosen, Kernel) and chosen.measure is not chosen
        if not has_measure or not isinstance(chosen.get_params().get("gamma"), int | float):
            raise _check.fail(cls.__name__, "kernel", "a kernel with a number gamma, such as RBF(gamma=1.0)", kernel)
        objects = chosen.coerce(X)
        labels = np.asarray(y)
        splits = folds_of(cv, labels, target_of(y, len(objects)), classifier=True)
        widths = np.asarray(_usual_widths(chosen, objects) if gamma is None else gamma, dtype=np.float64)
        penalties = np.asarray(10.0 ** np.arange(-2, 4) if C is None else C, dtype=np.float64)
        grid = {"C": penalties.tolist(), "kernel__gamma": widths.tolist()}
        machine = SVC(kernel=chosen, psd="ignore")
        with reporting("Validation surface") as report, heard(report):
            search = KernelSearchCV(machine, grid, cv=splits, refit=False, error_score="raise").fit(objects, labels)
        shape = len(penalties), len(widths)
        means, spreads = (search.cv_results_[f"{name}_test_score"].reshape(shape).T for name in ("mean", "std"))
        return cls(penalties, widths, means, spread=spreads).plot(ax=ax)

    @classmethod
    def from_cv_results(
        cls,
        results: Any,
        *,
        C: str = "param_C",
        gamma: str = "param_gamma",
        score: str = "mean_test_score",
        ax: Any = None,
    ) -> Self:
        """From the `cv_results_` of `KernelSearchCV` or a grid search of scikit-learn.

        `C` and `gamma` are the names of two columns: of a pipeline, ``"param_svc__C"``. For other parameters of the
        search, the best value is shown; settings without numbers for both, or without a score, are left out.
        """
        for name in (C, gamma, score):
            if name not in results:
                raise InputError(f"The results have no {name!r}; they have {', '.join(sorted(results))}.")
        points = [
            (float(penalty), float(width), float(value))
            for penalty, width, value in zip(
                *(np.ma.asarray(results[name]).tolist() for name in (C, gamma)), results[score], strict=True
            )
            if isinstance(penalty, Real) and isinstance(width, Real) and np.isfinite(value)
        ]
        if not points:
            raise InputError(f"No setting has a number for {C!r}, a number for {gamma!r}, and a score.")
        penalties, widths = (np.unique([point[place] for point in points]) for place in (0, 1))
        scores = np.full((len(widths), len(penalties)), np.nan)
        for penalty, width, value in points:
            at = int(np.searchsorted(widths, width)), int(np.searchsorted(penalties, penalty))
            scores[at] = np.fmax(scores[at], value)
        return cls(penalties, widths, scores, what="score").plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `im_` is the surface and `best_` marks the best."""
        ax = style.axes(ax, size=(6.4, 4.8))
        self.im_ = ax.imshow(self.scores, cmap=style.SEQUENTIAL, origin="lower", aspect="auto")
        ax.figure.colorbar(self.im_, ax=ax, label=f"cross-validated {self.what}")
        ax.set_xticks(range(len(self.C)), [f"{value:.3g}" for value in self.C])
        ax.set_yticks(range(len(self.gamma)), [f"{value:.3g}" for value in self.gamma])
        if self.scores.size <= 120:
            middle = (np.nanmin(self.scores) + np.nanmax(self.scores)) / 2
            for (row, column), value in np.ndenumerate(self.scores):
                if np.isfinite(value):
                    ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize="small",
                            color="black" if value > middle else "white")  # fmt: skip
        penalty, width, score = self.best
        at = int(np.flatnonzero(penalty == self.C)[0]), int(np.flatnonzero(self.gamma == width)[0])
        frame = {"xy": (at[0] - 0.5, at[1] - 0.5), "width": 1, "height": 1, "fill": False}
        ax.add_patch(style.pyplot().Rectangle(**frame, edgecolor="black", linewidth=5, zorder=3))  # also seen in grey
        self.best_ = ax.add_patch(style.pyplot().Rectangle(**frame, edgecolor="white", linewidth=2, zorder=4))
        ax.set_xlabel("C")
        ax.set_ylabel("gamma")
        ax.set_title(f"Best {self.what} {score:.3f} at C = {penalty:.3g}, gamma = {width:.3g} (framed)")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _usual_widths(kernel: Kernel, objects: Any) -> Any:
    """Powers of four around 1 / the median distance."""
    distances = gram_of(measuring(kernel, kernel.fit(objects).state), objects, dtype=np.float64).exact()
    apart = distances[np.triu_indices(len(distances), 1)]
    return 4.0 ** np.arange(-4, 5) / (np.median(apart[apart > 0]) if (apart > 0).any() else 1.0)
