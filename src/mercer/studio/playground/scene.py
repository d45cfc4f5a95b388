"""What the playground is asked to draw: points, a kernel, and a machine with its settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Int64
from mercer.errors import MercerError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.kernels.text.expression import parse
from mercer.studio import fields
from mercer.studio.refusal import Refusal, refuse

TASKS = ("classification", "regression", "novelty")
HALF_WIDTH = 3.0
"""The plane reaches from -3 to 3 on both axes: several widths of a Gaussian with gamma = 1."""
MOST_POINTS = 400
"""The most points in a scene: their Gram matrix is drawn, and 400 rows still get a pixel each."""
CLASSES = 3
"""The most classes that marks and colours tell apart at a glance; keys 1, 2 and 3 choose them."""


@final
@dataclass(frozen=True, eq=False)
class Scene:
    """Points with classes (a regression takes the second coordinate as the target), and the machine to train."""

    task: str
    points: Float64
    classes: Int64
    kernel: Kernel
    text: str
    C: float
    epsilon: float
    nu: float

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Scene:
        """From a request."""
        rows = told.get("points", [])
        if not isinstance(rows, list) or len(rows) > MOST_POINTS:
            refuse(f"points must be a list of at most {MOST_POINTS} points.", "points")
        points, classes = np.zeros((len(rows), 2)), np.zeros(len(rows), dtype=np.int64)
        for number, row in enumerate(rows):
            points[number], classes[number] = _point(row)
        text = fields.text(told, "kernel", "rbf(gamma=1)", longest=1000)
        return cls(
            task=fields.choice(told, "task", TASKS),
            points=points,
            classes=classes,
            kernel=kernel_on_points(text),
            text=text,
            C=fields.number(told, "C", 1.0, low=1e-6, high=math.inf),
            epsilon=fields.number(told, "epsilon", 0.2, low=0.0, high=HALF_WIDTH),
            nu=fields.number(told, "nu", 0.1, low=1e-3, high=1.0),
        )

    @property
    def inputs(self) -> Float64:
        """What the kernel compares: points, or the first coordinate of each in a regression."""
        return self.points[:, :1] if self.task == "regression" else self.points

    def missing(self) -> str:
        """What must be added before a machine can be trained; empty if nothing is missing."""
        if self.task == "classification":
            if not len(self.points):
                return "Click the plane to add points; keys 1 to 3 choose the class."
            if len(np.unique(self.classes)) < 2:
                return "All points are of one class: add one of another."
        elif len(self.points) < 2:
            return "Click the plane to add points; two are the least."
        return ""


def kernel_on_points(text: str) -> Kernel:
    """The kernel of a text, if it compares vectors."""
    try:
        kernel = parse(text)
    except MercerError as error:
        raise Refusal.of(error, "kernel") from error
    try:
        domain = kernel.domain
    except MercerError as error:
        raise Refusal.of(error, "kernel") from error
    if domain is not Vectors:
        refuse(f"This kernel compares {domain.kind}; points of a plane are vectors.", "kernel")
    return kernel


def _point(row: Any) -> tuple[list[float], int]:
    if not isinstance(row, list) or len(row) != 3:
        refuse("A point is a list of two coordinates and a class.", "points")
    for value in row:
        if not fields.is_number(value) or not abs(value) <= 2 * HALF_WIDTH:
            refuse(f"Coordinates are numbers from {-2 * HALF_WIDTH:g} to {2 * HALF_WIDTH:g}.", "points")
    if row[2] not in range(CLASSES):
        refuse(f"Classes are the numbers 0 to {CLASSES - 1}.", "points")
    return [float(row[0]), float(row[1])], int(row[2])
