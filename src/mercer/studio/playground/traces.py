"""The algorithms of the slides, frame by frame, and the exact optimum that they approach."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from mercer._types import Float64
from mercer.errors import MercerError
from mercer.estimators.kernel_machine_classifier import KernelMachineClassifier
from mercer.estimators.svc import SVC
from mercer.gram.make import gram_of
from mercer.lectures.gradient_descent import GradientDescent
from mercer.lectures.perceptron_updates import KernelUpdates
from mercer.lectures.run import LectureRun
from mercer.lectures.subgradient_descent import BatchSubgradient, StochasticSubgradient
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.studio import fields
from mercer.studio.playground.packing import packed
from mercer.studio.playground.scene import HALF_WIDTH, Scene
from mercer.studio.refusal import Refusal, refuse

ALGORITHMS = ("perceptron", "batch", "stochastic", "gradient")
GRID = 41
"""Grid points along each axis: 60 frames then have 400 kB, and take a tenth of a second to compute and send."""
FRAMES = 60
"""Frames of a film: enough for the eye to follow, few enough to scrub through."""
_EPOCHS = 40
"""The most passes of the perceptron; on inseparable points it would never end by itself."""
_DESCENT = 400
"""Steps of the descents: enough to come within about one per cent of the minimum on points of this plane."""
_PASSES = 20
"""Passes of the stochastic method, each of as many steps as there are points."""
_SPREAD = 1.6
"""The steps shown as frames grow with this power: the first steps move the boundary most."""


@final
@dataclass(eq=False)
class Film:
    """An algorithm ready to run, what it minimises, and the machine at the minimum."""

    run: LectureRun
    objective: str
    code: str
    optimum: Callable[[], float | None]
    value: Callable[[Float64, float], float]
    """What the film shows falling: the objective, or the number of misclassified points."""
    weights: bool
    """Whether the algorithm moves the weights of the two coordinates rather than the coefficients of the points."""


def trace(told: Mapping[str, Any]) -> dict[str, Any]:
    """Frames of an algorithm on a scene with two classes."""
    scene = Scene.read(told)
    algorithm = fields.choice(told, "algorithm", ALGORITHMS)
    printed = fields.truth(told, "printed")
    labels = np.unique(scene.classes)
    if scene.task != "classification" or len(labels) != 2:
        refuse("The algorithms of the lectures tell two classes apart: add points of exactly two.", "points")
    signs = np.where(scene.classes == labels[1], 1.0, -1.0)
    objects = scene.kernel.coerce(scene.points)
    line = np.linspace(-HALF_WIDTH, HALF_WIDTH, GRID)
    xx, yy = np.meshgrid(line, line)
    plane = np.column_stack([xx.ravel(), yy.ravel()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on indefinite kernels: the picture has already said so
        try:
            fitted = scene.kernel.fit(objects)
            film = _FILMS[algorithm](scene, signs, gram_of(fitted, objects, dtype=np.float64), printed)
            across = plane if film.weights else gram_of(fitted, scene.kernel.coerce(plane), objects).exact()
            frames = _frames(film, across)
            optimum = film.optimum()
        except MercerError as error:
            raise Refusal.of(error, "kernel") from error
    steps, values, intercepts, grids = zip(*frames, strict=True)
    return {
        "algorithm": algorithm,
        "objective": film.objective,
        "what": film.run.traced,
        "steps": list(steps),
        "values": [value if math.isfinite(value) else None for value in values],
        "intercepts": list(intercepts),
        "optimum": optimum,
        "diverged": film.run.diverged,
        "ended": _ended(film.run),
        "grids": packed(np.array(grids).reshape(len(grids), GRID, GRID)),
        "python": film.code,
    }


def _frames(film: Film, across: Float64) -> list[tuple[int, float, float, Float64]]:
    """The step, traced value, intercept and decision values of each frame."""
    run = film.run
    stops = sorted({round(run.steps * (frame / FRAMES) ** _SPREAD) for frame in range(1, FRAMES + 1)} - {0})
    found = [_frame(film, across)]
    for stop in stops:
        while run.iterations < stop and not run.done:
            before = run.iterations
            run.step(stop - run.iterations)
            if run.iterations == before and not run.done:
                break
        found.append(_frame(film, across))
        if run.done:
            break
    return found


def _frame(film: Film, across: Float64) -> tuple[int, float, float, Float64]:
    coefficients, intercept = film.run.point()
    with np.errstate(over="ignore", invalid="ignore"):  # the printed descents may diverge beyond the largest float
        grid = across @ coefficients + intercept
    return film.run.iterations, film.value(coefficients, intercept), intercept, grid


def _ended(run: LectureRun) -> str:
    if run.diverged:
        return "It diverged: the steps are too long."
    if run.traced == "mistakes":
        last = int(run.trace.last)
        if last == 0:
            return f"It ended after {run.iterations} looks at a point, with a whole pass without a mistake."
        return f"It never ends on these points: {last} mistakes in the last pass."
    return f"After {run.iterations:,} steps."


def _perceptron(scene: Scene, signs: Float64, gram: Any, printed: bool) -> Film:
    K = gram.exact()
    run = KernelUpdates(K, signs, epochs=_EPOCHS)

    def mistakes(counts: Float64, intercept: float) -> float:
        return float(np.count_nonzero((K @ counts + intercept >= 0) != (signs > 0)))

    code = f"KernelPerceptron(kernel={scene.text!r}, epochs={_EPOCHS})"
    return Film(run, "misclassified points", code, lambda: 0.0, mistakes, weights=False)


def _batch(scene: Scene, signs: Float64, gram: Any, printed: bool) -> Film:
    C = min(scene.C, 1e6)
    run = BatchSubgradient(
        scene.points, signs, C, _DESCENT, 0.01 if printed else 1.0, constant=printed, printed=printed
    )

    def optimum() -> float:
        return 2.0 * float(SVC(kernel="linear", C=C / 2, tol=1e-8).fit(scene.points, signs).certificate_.primal)

    def value(w: Float64, b: float) -> float:
        return float(w @ w + C * _hinges(scene.points @ w + b, signs).sum())

    code = f"SubgradientSVM(method='batch', C={C!r}, steps={_DESCENT}{_variant(printed)})"
    return Film(run, "|w|² + C Σ max(0, 1 − y f)", code, optimum, value, weights=True)


def _stochastic(scene: Scene, signs: Float64, gram: Any, printed: bool) -> Film:
    C, n = min(scene.C, 1e6), len(signs)
    steps = _PASSES * n
    draws = np.random.default_rng(check_random_state(0).randint(2**31))  # those of SubgradientSVM(random_state=0)
    run = StochasticSubgradient(scene.points, signs, C, steps, 1.0, record_every=n, random_state=draws, printed=printed)

    def optimum() -> float:
        model = SVC(kernel="linear", C=C / n, fit_intercept=False, tol=1e-8).fit(scene.points, signs)
        return float(model.certificate_.primal)

    def value(w: Float64, b: float) -> float:
        return float(0.5 * (w @ w) + C * _hinges(scene.points @ w + b, signs).mean())

    code = f"SubgradientSVM(method='stochastic', C={C!r}, steps={steps}, random_state=0{_variant(printed)})"
    return Film(run, "½|w|² + C/N Σ max(0, 1 − y f), without b", code, optimum, value, weights=True)


def _gradient(scene: Scene, signs: Float64, gram: Any, printed: bool) -> Film:
    C = min(scene.C, 1e6)
    run = GradientDescent(
        gram.stored(), signs, SmoothHinge(), 1.0, C, _DESCENT, tol=1e-9, rate=1.0 if printed else 2.0, constant=printed
    )

    def optimum() -> float:
        model = KernelMachineClassifier("smooth_hinge", kernel=scene.text, C=C, tol=1e-8).fit(scene.points, signs)
        return float(model.certificate_.primal)

    K = gram.exact()

    def value(z: Float64, b: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            Kz = K @ z
            return float(0.5 * (z @ Kz) + C * SmoothHinge().value(signs, Kz + b).sum())

    code = f"GradientKernelMachine(objective='svm', kernel={scene.text!r}, C={C!r}, steps={_DESCENT}, tol=1e-9"
    return Film(run, "½ z′Kz + C Σ log(1 + exp(1 − y f))", f"{code}{_variant(printed)})", optimum, value, weights=False)


def _hinges(outputs: Float64, signs: Float64) -> Float64:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.maximum(0.0, 1.0 - signs * outputs)


def _variant(printed: bool) -> str:
    return ", variant='printed'" if printed else ""


_FILMS: Mapping[str, Callable[[Scene, Float64, Any, bool], Film]] = {
    "perceptron": _perceptron,
    "batch": _batch,
    "stochastic": _stochastic,
    "gradient": _gradient,
}
