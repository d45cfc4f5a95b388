"""The settings of a search, sorted so that neighbours share as much work as possible."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from sklearn.base import clone

from mercer.estimators.kernelised import Kernelised
from mercer.kernels.base import Kernel
from mercer.selection.held import Held

_SHAPES = ("gamma", "degree", "coef0")


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """One candidate: its number in the grid, its parameters, and an estimator that has them."""

    number: int
    params: Mapping[str, Any]
    estimator: Any
    kernel: Kernel | None
    """None where the estimator has no kernel, or a bad one: such a setting is fitted the ordinary way."""

    def on_held(self) -> Any:
        """The estimator with its kernel's values looked up instead of computed."""
        assert self.kernel is not None
        model = clone(self.estimator)
        known = inspect.signature(type(model)).parameters
        changes = {name: known[name].default for name in _SHAPES if name in known}
        if getattr(model, "psd", None) == "warn":  # one warning, from the final fit, is enough
            changes["psd"] = "ignore"
        return model.set_params(kernel=Held(self.kernel), **changes)


def settings_of(estimator: Any, candidates: Iterable[Mapping[str, Any]], X: Any) -> list[Setting]:
    """Candidates as settings, in their order."""
    found = []
    for number, params in enumerate(candidates):
        own = clone(estimator).set_params(**clone(params, safe=False))
        found.append(Setting(number, params, own, _kernel_of(own, X)))
    return found


def in_order(settings: Iterable[Setting]) -> list[Setting]:
    """Settings that differ in C alone one after another, C ascending: each begins where the last one ended."""
    return sorted(settings, key=_place)


def _place(setting: Setting) -> tuple[str, float]:
    rest = sorted((name, repr(value)) for name, value in setting.params.items() if name != "C")
    C = getattr(setting.estimator, "C", 0.0)
    return repr(rest), float(C) if isinstance(C, Real) else 0.0


def _kernel_of(estimator: Any, X: Any) -> Kernel | None:
    if not isinstance(estimator, Kernelised):
        return None
    try:
        return estimator._kernel(X)
    except ValueError:  # answered by fit
        return None
