"""Python that makes the same picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.studio.playground.machine import TOLERANCE, unfitted
from mercer.studio.playground.scene import HALF_WIDTH, Scene


def python(scene: Scene) -> str:
    """A program that trains the same machine and draws it with matplotlib."""
    machine = type(unfitted(scene)).__name__
    lines = ["import matplotlib.pyplot as plt", "import numpy as np", "", f"from mercer import {machine}", ""]
    if scene.task == "regression":
        lines += [*_array("x", scene.points[:, 0]), *_array("y", scene.points[:, 1])]
        fit = "fit(x[:, None], y)"
    else:
        lines += _array("X", scene.points)
        fit = "fit(X)"
        if scene.task == "classification":
            lines += _array("y", scene.classes)
            fit = "fit(X, y)"
    lines += [f"model = {machine}({_settings(scene)}).{fit}", "print(model.certificate_)", ""]
    return "\n".join(lines + _drawing(scene)) + "\n"


def _settings(scene: Scene) -> str:
    chosen: dict[str, Any] = {"kernel": scene.text}
    if scene.task == "novelty":
        chosen["nu"] = scene.nu
    else:
        chosen["C"] = unfitted(scene).C
    if scene.task == "regression":
        chosen["epsilon"] = scene.epsilon
    chosen["tol"] = TOLERANCE
    return ", ".join(f"{name}={_literal(value)}" for name, value in chosen.items())


def _literal(value: Any) -> str:
    return 'float("inf")' if isinstance(value, float) and math.isinf(value) else repr(value)


def _array(name: str, values: Any) -> list[str]:
    items = [repr(item) for item in values.tolist()]
    whole = f"{name} = np.array([{', '.join(items)}])"
    if len(whole) <= 100:
        return [whole]
    lines, row = [f"{name} = np.array(["], ""
    for item in items:
        if len(row) + len(item) > 92:
            lines.append(f"    {row.rstrip()}")
            row = ""
        row += f"{item}, "
    return [*lines, f"    {row.rstrip()}", "])"]


def _drawing(scene: Scene) -> list[str]:
    line = f"line = np.linspace({-HALF_WIDTH}, {HALF_WIDTH}, 81)"
    if scene.task == "regression":
        return [
            line,
            "values = model.predict(line[:, None])",
            "plt.plot(line, values)",
            f"plt.fill_between(line, values - {scene.epsilon!r}, values + {scene.epsilon!r}, alpha=0.2)",
            "plt.scatter(x, y)",
            "plt.scatter(x[model.support_], y[model.support_], s=120, facecolors='none', edgecolors='black')",
            "plt.show()",
        ]
    many = scene.task == "classification" and len(np.unique(scene.classes)) > 2
    wanted = "model.predict(grid)" if many else "model.decision_function(grid)"
    contour = (
        "plt.contourf(line, line, values, alpha=0.3)"
        if many
        else f"plt.contour(line, line, values, levels={'[0]' if scene.task == 'novelty' else '[-1, 0, 1]'})"
    )
    colours = ", c=y" if scene.task == "classification" else ""
    return [
        line,
        "xx, yy = np.meshgrid(line, line)",
        "grid = np.column_stack([xx.ravel(), yy.ravel()])",
        f"values = {wanted}.reshape(xx.shape)",
        contour,
        f"plt.scatter(X[:, 0], X[:, 1]{colours})",
        "plt.scatter(*X[model.support_].T, s=120, facecolors='none', edgecolors='black')",
        "plt.show()",
    ]
