"""What a solver did, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from mercer.errors import InputError
from mercer.lectures.trace import Trace
from mercer.plots import style


class TraceDisplay:
    """The objective (or the mistakes) after each recorded step of one solver or several.

    >>> from mercer import KernelPerceptron
    >>> from mercer.plots import TraceDisplay
    >>> display = TraceDisplay.from_estimator(KernelPerceptron(kernel="linear").fit([[0.0], [2.0]], [0, 1]))
    >>> len(display.lines_)
    1
    """

    def __init__(self, traces: Mapping[str, Trace]) -> None:
        self.traces = dict(traces)
        if not self.traces:
            raise InputError("TraceDisplay needs at least one trace, but got none.")

    @classmethod
    def from_estimator(cls, *estimators: Any, names: Any = None, ax: Any = None) -> Self:
        """The traces of fitted teaching machines (`KernelPerceptron`, `SubgradientSVM` ...), which keep `traces_`."""
        traces: dict[str, Trace] = {}
        for number, estimator in enumerate(estimators):
            if not hasattr(estimator, "traces_"):
                raise InputError(
                    f"{type(estimator).__name__} keeps no trace, or is not fitted. KernelPerceptron, PrimalPerceptron, "
                    "SubgradientSVM and GradientKernelMachine keep one."
                )
            name = type(estimator).__name__ if names is None else str(names[number])
            several = len(estimator.traces_) > 1
            for label, trace in zip(estimator.classes_ if several else [""], estimator.traces_, strict=True):
                title = f"{name}, class {label}" if several else name
                traces[title if title not in traces else f"{title} ({number + 1})"] = trace
        return cls(traces).plot(ax=ax)

    @classmethod
    def from_traces(cls, traces: Mapping[str, Trace], *, ax: Any = None) -> Self:
        """Display named traces."""
        return cls(traces).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `lines_` has one line for each trace."""
        ax = style.axes(ax)
        self.lines_: list[Any] = []
        styles = ("-", "--", "-.", ":")
        for number, (name, trace) in enumerate(self.traces.items()):
            ended = " (diverged)" if trace.diverged else ""
            few = len(trace) <= 40
            self.lines_ += ax.plot(
                trace.steps, trace.values, color=style.colour(number), linestyle=styles[number % 4],
                marker=style.marker(number) if few else None, markersize=4, label=f"{name}{ended}: {trace.last:.4g}",
            )  # fmt: skip
        values = np.concatenate([trace.values for trace in self.traces.values()])
        finite = values[np.isfinite(values)]
        if len(finite) and finite.min() > 0 and finite.max() > 100 * finite.min():
            ax.set_yscale("log")
        if max(int(trace.steps.max(initial=0)) for trace in self.traces.values()) > 10_000:
            ax.set_xscale("symlog")
        what = sorted({trace.what for trace in self.traces.values()})
        ax.set_xlabel("step")
        ax.set_ylabel(" / ".join(what))
        ax.set_title("What the solver did; the last value is in the legend")
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
