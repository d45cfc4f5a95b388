"""Which support objects made a prediction: comparing x to each support vector."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer import _check
from mercer.errors import InputError
from mercer.gram.make import gram_of
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
from mercer.plots import style
from mercer.training.kernel_estimator import decision_expansion


class SupportDisplay(style.Contributions):
    """The decision value of one object as a sum: coefficient times similarity of each support object, and b.

    `contributions` has one number for each support object, `intercept` is b, and `value` is their sum.

    >>> from mercer import SVC, kernels
    >>> from mercer.plots import SupportDisplay
    >>> model = SVC(kernel=kernels.Spectrum(2)).fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0])
    >>> display = SupportDisplay.from_estimator(model, "gatta")
    >>> bool(abs(display.contributions.sum() + display.intercept - display.value) < 1e-9)
    True
    """

    def __init__(
        self, contributions: Any, similarities: Any, names: Any, *, intercept: float, name: str = "x", most: int = 10
    ) -> None:
        self.contributions = np.asarray(contributions, dtype=np.float64)
        self.similarities = np.asarray(similarities, dtype=np.float64)
        self.names = [str(one) for one in names]
        self.intercept = float(intercept)
        self.name = name
        self.most = most

    @classmethod
    def from_estimator(
        cls, estimator: Any, x: Any, *, names: Any = None, output: int = 0, most: int = 10, ax: Any = None
    ) -> Self:
        """One object under a fitted kernel machine; `names` are those of the support objects, `output` a column."""
        most = _check.integer(cls.__name__, "most", most, low=1)
        if not hasattr(estimator, "expansion_"):
            raise InputError(
                f"{type(estimator).__name__} is no kernel machine, or is not fitted: it has no support objects."
            )
        expansion = decision_expansion(estimator)
        output = _check.integer(cls.__name__, "output", output, low=0, high=expansion.coefficients.shape[1] - 1)
        vectors = expansion.kernel.kernel.domain is Vectors
        row = vectors and isinstance(x, np.ndarray) and x.ndim == 2  # X[:1] is as good as X[0]
        try:
            new = expansion.kernel.coerce(x if row or hasattr(x, "columns") or isinstance(x, dict) else [x])
        except InputError as error:
            raise InputError(f"SupportDisplay explains one object, such as X[0]: {error}") from error
        if len(new) != 1:
            raise InputError(f"SupportDisplay explains one object; got {len(new)}. Pass one of them.")
        similar = np.zeros(0)
        if len(expansion.support):
            similar = np.asarray(gram_of(expansion.kernel, new, expansion.support, dtype=np.float64).dense())[0]
        if names is None:
            names = _names(expansion.support, getattr(estimator, "support_", np.arange(len(expansion.support))))
        intercept = float(np.broadcast_to(expansion.intercept, (expansion.coefficients.shape[1],))[output])
        shown = _names(new, np.zeros(1, dtype=np.intp))[0]
        name = shown if isinstance(new, Strings | Vectors) else "x"
        return cls(expansion.coefficients[:, output] * similar, similar, names, intercept=intercept, name=name,
                   most=most).plot(ax=ax)  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `bars_` has a bar for each shown object, the others together, and b."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        top, rest = order[: self.most], order[self.most :]
        rows = [(self.names[i], float(self.contributions[i]), f"k = {self.similarities[i]:.3g}") for i in top]
        if len(rest):
            rows.append((f"{len(rest)} others", float(self.contributions[rest].sum()), ""))
        rows.append(("b", self.intercept, ""))
        ax = style.axes(ax, size=(7.4, 1.6 + 0.34 * len(rows)))
        heights = [value for _, value, _ in rows]
        looks = [style.POSITIVE if value > 0 else style.NEGATIVE for value in heights]
        self.bars_ = ax.barh(range(len(rows)), heights, color=looks, edgecolor="black", linewidth=0.6)
        for bar, value in zip(self.bars_, heights, strict=True):
            bar.set_hatch("" if value > 0 else "///")
        for place, (_, value, note) in enumerate(rows):
            ax.annotate(f"{value:+.3g}{f'  ({note})' if note else ''}", (value, place), fontsize="small", va="center",
                        xytext=(4 if value >= 0 else -4, 0), textcoords="offset points",
                        ha="left" if value >= 0 else "right")  # fmt: skip
        ax.set_yticks(range(len(rows)), [style.shortened(name) for name, _, _ in rows])
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        low, high = min(0.0, *heights), max(0.0, *heights)
        room = 0.85 * max(high - low, 1e-12)  # for the text next to the bars
        ax.set_xlim(low - (room if low < 0 else 0.1 * room), high + (room if high > 0 else 0.1 * room))
        ax.set_xlabel("contribution to f(x): coefficient × k(support object, x)")
        ax.set_title(f"f(x) = {self.value:.4g} for x = {style.shortened(self.name)}", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _names(objects: Any, numbers: Any) -> list[str]:
    if isinstance(objects, Strings) and objects.of_characters:
        return [repr(text) for text in objects.tolist()]
    if isinstance(objects, Vectors) and not objects.is_sparse and objects.n_features <= 4:
        return ["(" + ", ".join(f"{value:.3g}" for value in row) + ")" for row in np.asarray(objects.values)]
    return [f"object {int(number)}" for number in numbers]
