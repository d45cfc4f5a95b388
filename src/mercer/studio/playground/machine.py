"""The machine of a scene: trained, drawn on a grid, and certified in words."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.errors import InseparableError, MercerError
from mercer.estimators.one_class_svm import OneClassSVM
from mercer.estimators.svc import SVC
from mercer.estimators.svr import SVR
from mercer.studio.playground.packing import packed
from mercer.studio.playground.scene import HALF_WIDTH, Scene
from mercer.studio.refusal import Refusal

TOLERANCE = 1e-6
"""Tolerance of training: a boundary that is off by a millionth looks the same."""
GRID = 81
"""Grid points along each axis: contours through 80 cells look smooth, and cost a tenth of a full-resolution picture."""
SECONDS = 3.0
"""Seconds after which training stops and says so: a page waits no longer than five for its picture."""
_HARD = 1e6
"""Objectives from here on are shown in powers of ten."""


@final
@dataclass(eq=False)
class Trained:
    """A fitted machine, or the proof that there is none; and what a reader should know."""

    model: Any = None
    notes: list[str] = field(default_factory=list)
    proof: InseparableError | None = None


def unfitted(scene: Scene) -> Any:
    """The estimator with the settings of the scene."""
    shared: dict[str, Any] = {"kernel": scene.text, "tol": TOLERANCE, "time_limit": SECONDS}
    if scene.task == "regression":
        C = scene.C if math.isfinite(scene.C) else 1e6
        return SVR(C=C, epsilon=scene.epsilon, **shared)
    if scene.task == "novelty":
        return OneClassSVM(nu=scene.nu, **shared)
    return SVC(C=scene.C, **shared)


def train(scene: Scene) -> Trained:
    """Train the machine; warnings become notes, a hard margin that does not exist becomes its proof."""
    target = {"classification": scene.classes, "regression": scene.points[:, 1], "novelty": None}[scene.task]
    trained = Trained()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            trained.model = unfitted(scene).fit(scene.inputs, target)
        except InseparableError as error:
            trained.proof = error
        except MercerError as error:
            raise Refusal.of(error, "kernel") from error
    trained.notes = [" ".join(str(one.message).split()) for one in caught]
    return trained


def grid_points(task: str) -> Float64:
    """Where the machine is evaluated: a line for a regression, else a plane, row by row from the bottom."""
    line = np.linspace(-HALF_WIDTH, HALF_WIDTH, GRID)
    if task == "regression":
        return np.linspace(-HALF_WIDTH, HALF_WIDTH, 4 * GRID - 3)[:, None]
    xx, yy = np.meshgrid(line, line)
    return np.column_stack([xx.ravel(), yy.ravel()])


def drawn(scene: Scene, trained: Trained) -> dict[str, Any]:
    """Decision values on the grid, and what the machine says about each point."""
    model = trained.model
    points = grid_points(scene.task)
    told: dict[str, Any] = {"classes": [], "support": [int(row) for row in model.support_]}
    if scene.task == "regression":
        values, own = model.predict(points), model.predict(scene.inputs)
        slack = np.maximum(0.0, np.abs(scene.points[:, 1] - own) - scene.epsilon)
    else:
        values, own = decisions(model, points), decisions(model, scene.inputs)
        if scene.task == "classification":
            told["classes"] = [int(label) for label in model.classes_]
            slack = _slack(scene, model, own)
        else:
            slack = np.maximum(0.0, -own)
    told["grid"] = packed(values.reshape(GRID, GRID, -1) if scene.task != "regression" else values[:, None])
    told["decisions"] = np.asarray(own, dtype=float).reshape(len(scene.points), -1).tolist()
    told["slack"] = [float(one) if one > 10 * TOLERANCE else 0.0 for one in slack]
    return told


def _slack(scene: Scene, model: Any, own: Float64) -> Float64:
    """max(0, 1 - y f) for two classes; with more, how far the best other class is ahead."""
    if len(model.classes_) == 2:
        signs = np.where(scene.classes == model.classes_[1], 1.0, -1.0)
        return np.maximum(0.0, 1.0 - signs * own)
    return np.maximum(0.0, -own[np.arange(len(own)), np.searchsorted(model.classes_, scene.classes)])


def decisions(model: Any, points: Float64) -> Float64:
    """Decision values; with more than two classes, the lead of each: its smallest value against any other.

    A class wins where its lead is positive. Unlike scikit-learn's votes, leads have no steps, so they can be drawn.
    """
    classes = getattr(model, "classes_", ())
    if len(classes) < 3:
        return np.asarray(model.decision_function(points))
    shape = model.decision_function_shape
    pairs = model.set_params(decision_function_shape="ovo").decision_function(points)
    model.set_params(decision_function_shape=shape)
    leads = np.full((len(points), len(classes)), np.inf)
    column = 0
    for first in range(len(classes)):
        for second in range(first + 1, len(classes)):
            leads[:, first] = np.minimum(leads[:, first], pairs[:, column])
            leads[:, second] = np.minimum(leads[:, second], -pairs[:, column])
            column += 1
    return leads


def sentences(scene: Scene, trained: Trained, told: dict[str, Any]) -> list[str]:
    """The certificate, and what it means here, in words."""
    if trained.proof is not None:
        proof = trained.proof
        both = int(np.count_nonzero(proof.positive)), int(np.count_nonzero(proof.negative))
        return [
            "No hyperplane of this feature space separates the classes.",
            (
                f"The proof: a mixture of {both[0]} points of one class and a mixture of {both[1]} of the other are "
                f"the same point of feature space, up to {proof.distance:.1e}. A hyperplane would have to have it on "
                "both sides."
            ),
            "Lower C below infinity to allow slack, or choose a richer kernel.",
        ]
    proof = trained.model.certificate_
    gap = max(proof.duality_gap, 0.0)
    if gap > 1e-3 * max(abs(proof.primal), 1.0):
        return [
            (
                f"There is no certificate: between the objective, {_figure(proof.primal)}, and what is proven, "
                f"{_figure(proof.dual)}, lies a gap. The notes say why."
            ),
            f"{len(told['support'])} of {len(scene.points)} points are support vectors.",
        ]
    better = f"better by more than {gap:.1e}" if gap > 0 else "better"
    said = [
        f"Its objective is {_figure(proof.primal)}; the dual proves that no machine with this kernel is {better}.",
        f"{len(told['support'])} of {len(scene.points)} points are support vectors.",
    ]
    beyond = sum(1 for one in told["slack"] if one > 0)
    if scene.task == "classification":
        wrong = int(np.count_nonzero(trained.model.predict(scene.inputs) != scene.classes))
        said[1] += f" {_count(beyond, 'has', 'have')} slack, {_count(wrong, 'is', 'are').lower()} misclassified."
        if len(told["classes"]) == 2 and math.isfinite(proof.margin):
            said.append(f"The margin in feature space is {_figure(proof.margin)} on either side.")
    elif scene.task == "regression":
        said[1] += f" {_count(beyond, 'lies', 'lie')} outside the tube."
    else:
        said[1] += f" {_count(beyond, 'is', 'are')} left out; nu = {scene.nu:g} allows at most "
        said[1] += f"{scene.nu:.0%} of them."
    return said


def _count(number: int, one: str, many: str) -> str:
    return f"{'None' if number == 0 else number} {one if number <= 1 else many}"


def _figure(value: float) -> str:
    return f"{value:.3e}" if abs(value) >= _HARD or 0 < abs(value) < 1e-3 else f"{value:.5g}"
