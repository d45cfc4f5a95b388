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
    given = {
        field.name: getattr(reading, field.name)
        for field in dataclasses.fields(Options)
        if getattr(reading, field.name) != field.default
    }
    settings = "".join(f", {name}={value!r}" for name, value in given.items())
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


def _parts(kernel: Kernel) -> list[Kernel]:
    found = [kernel]
    for child in children(kernel):
        found += _parts(child)
    return found
