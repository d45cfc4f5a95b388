"""The Python code that does what a command did."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from mercer.kernels.base import Kernel, children
from mercer.readers.options import Options

if TYPE_CHECKING:
    from mercer.jobs.fitting import Outcome


def equivalent(outcome: Outcome, path: str, reading: Options) -> str:
    """Reads the same file, prepares it in the same way and trains the same machine, without the search for it."""
    best, plan = outcome.search.best, outcome.plan
    kernel = best.kernel
    names = sorted({type(part).__name__ for part in _parts(kernel)})
    settings = _settings(reading)
    if outcome.task == "classification":
        weight = ', class_weight="balanced"' if plan.balanced else ""
        owner, made = "SVC", f"SVC(kernel=kernel, C={best.penalty!r}{weight})"
    else:
        owner, made = "KernelRidge", f"KernelRidge(alpha={best.penalty!r}, kernel=kernel, fit_intercept=True)"
    return "\n".join(
        [
            f"from mercer import {owner}",
            "from mercer.jobs.preparation import Preparation",
            f"from mercer.kernels import {', '.join(names)}",
            "from mercer.readers import read",
            "",
            f"data = read({path!r}{settings})",
            f"prepare = Preparation.learn(data, scale={plan.scale}, impute={plan.impute})",
            f"kernel = {kernel!r}",
            f"model = {made}.fit(prepare(data), data.labels)",
            "print(model.predict(prepare(data))[:5])",
        ]
    )


def predicting(model: str, path: str, reading: Options) -> str:
    """Predictions of a file, all at once."""
    return "\n".join([*_loaded(model, path, reading), "print(model.predict(data)[:5])"])


def evaluating(model: str, path: str, reading: Options, task: str) -> str:
    """The score of a model on a file: the share that is right, or R^2."""
    metric = "accuracy_score" if task == "classification" else "r2_score"
    lines = _loaded(model, path, reading)
    return "\n".join([f"from sklearn.metrics import {metric}", "", *lines, _scored(metric)])


def _scored(metric: str) -> str:
    return f"print({metric}(data.labels, model.predict(data)))"


def _loaded(model: str, path: str, reading: Options) -> list[str]:
    return [
        "import mercer",
        "from mercer.readers import read",
        "",
        f"model = mercer.load({model!r})",
        f"data = read({path!r}{_settings(reading)})",
    ]


def _settings(reading: Options) -> str:
    """What differs from the defaults, as arguments."""
    fields = ((field.name, field.default) for field in dataclasses.fields(Options))
    return "".join(
        f", {name}={getattr(reading, name)!r}" for name, default in fields if getattr(reading, name) != default
    )


def _parts(kernel: Kernel) -> list[Kernel]:
    found = [kernel]
    for child in children(kernel):
        found += _parts(child)
    return found
