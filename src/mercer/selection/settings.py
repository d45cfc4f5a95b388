"""The settings of a search, in an order that lets neighbours share as much work as possible."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Number, Real
from typing import Any, final

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer.gram.budget import Memory
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import Kernel
from mercer.selection.blocks import Block
from mercer.selection.lookup import Lookup
from mercer.training.kernel_estimator import KernelEstimator, resolved_kernel
from mercer.training.linear_machine import LinearMachine

_SHAPES = ("gamma", "degree", "coef0")

Key = tuple[tuple[str, str, Any], ...]


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """One candidate: its number in the grid, its parameters, and an estimator that has them."""

    number: int
    params: Mapping[str, Any]
    estimator: Any
    machine: Any
    """The estimator itself, or the last step of a pipeline."""
    kernel: Kernel | None
    """None if the machine has no kernel, or an invalid one: such a setting is fitted the ordinary way."""
    prefix: str = ""
    """The prefix of the machine's parameters in a pipeline."""
    before: Key | None = None
    """Identifies the steps before the machine; None outside of pipelines."""

    @property
    def memory(self) -> Memory:
        """The memory that the machine may use for stored matrices."""
        found: Memory = getattr(self.machine, "memory", "auto")
        return found

    def on_block(self, block: Block) -> tuple[Any, Any, Any]:
        """The machine with kernel values looked up instead of computed, its training objects and its test objects."""
        assert self.kernel is not None
        model = clone(self.machine)
        if not isinstance(model, KernelEstimator):
            return model.set_params(kernel="precomputed"), block.train.matrix, block.test.matrix
        known = inspect.signature(type(model)).parameters
        changes = {name: known[name].default for name in _SHAPES if name in known}
        if getattr(model, "psd", None) == "warn":  # one warning, from the final fit, is enough
            changes["psd"] = "ignore"
        return model.set_params(kernel=Lookup(self.kernel), **changes), block.train, block.test

    def steps_before(self) -> Any:
        """The steps of a pipeline before its machine, as a pipeline; None if there is none."""
        steps = self.estimator.steps[:-1]
        return clone(Pipeline(steps)) if steps else None


def settings_of(
    estimator: Any, candidates: Iterable[Mapping[str, Any]], X: Any, *, share: bool = True
) -> list[Setting]:
    """Candidates as settings, in their order; unless they `share` kernel values, each is fitted the ordinary way."""
    found = []
    for number, params in enumerate(candidates):
        own = clone(estimator).set_params(**clone(params, safe=False))
        if not share:
            found.append(Setting(number, params, own, own, None))
        elif (
            isinstance(own, Pipeline) and own.transform_input is None and isinstance(own.steps[-1][1], KernelEstimator)
        ):
            name, machine = own.steps[-1]
            # Whether a function takes vectors or items depends on the output of the steps before it.
            kernel = _kernel_of(machine, None) if isinstance(machine.kernel, Kernel | str) else None
            kernel = None if kernel is not None and kernel.domain is GramRows else kernel
            found.append(Setting(number, params, own, machine, kernel, f"{name}__", _before(params, name)))
        else:
            found.append(Setting(number, params, own, own, _kernel_of(own, X)))
    return found


def in_order(settings: Iterable[Setting]) -> list[Setting]:
    """Settings that differ only in C follow each other, C ascending: each starts from the solution of the last."""
    return sorted(settings, key=_place)


def _place(setting: Setting) -> tuple[str, float]:
    rest = sorted((name, repr(value)) for name, value in setting.params.items() if name != f"{setting.prefix}C")
    C = getattr(setting.machine, "C", 0.0)
    return repr(rest), float(C) if isinstance(C, Real) else 0.0


def _before(params: Mapping[str, Any], last: str) -> Key:
    """Parameters of all steps but the last; candidates of a grid share the same objects where they agree."""
    plain = (str, Number, type(None))
    return tuple(
        (name, type(value).__name__, value if isinstance(value, plain) else id(value))
        for name, value in sorted(params.items())
        if name != last and not name.startswith(f"{last}__")
    )


def _kernel_of(estimator: Any, X: Any) -> Kernel | None:
    if isinstance(estimator, LinearMachine):  # trained on features, which kernel values cannot replace
        return None
    if isinstance(estimator, KernelEstimator):
        try:
            return resolved_kernel(estimator, X)
        except ValueError:  # reported by fit
            return None
    kernel = getattr(estimator, "kernel", None)
    return kernel if isinstance(kernel, Kernel) else None
