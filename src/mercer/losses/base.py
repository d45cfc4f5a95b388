"""The contract of a loss: a function of targets and decision values, and of nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self

import numpy as np

from mercer._record import Record
from mercer._types import Float64
from mercer.losses.curvature import CurvatureRoot, DiagonalRoot
from mercer.losses.dual import Dual


class Loss(Record, ABC):
    """l(y, f), elementwise for two arrays of the same shape, and what solvers need to know about it.

    `y` is coded as the loss wants it (-1 and +1 for two classes). All methods are pure.
    """

    smooth: bool
    """Whether slope and curvature exist everywhere; otherwise `slope` is a subgradient."""
    classifies: bool
    """Whether targets are classes rather than numbers."""
    joint: ClassVar[bool] = False
    """Whether f has one column per class, and one loss for all of them together."""

    @abstractmethod
    def value(self, y: Float64, f: Float64) -> Float64:
        """l(y, f)."""

    @abstractmethod
    def slope(self, y: Float64, f: Float64) -> Float64:
        """dl/df, or a subgradient where the loss has a kink."""

    @abstractmethod
    def curvature(self, y: Float64, f: Float64) -> Float64:
        """d2l/df2, zero at kinks."""

    @abstractmethod
    def conjugate(self, y: Float64, a: Float64) -> Float64:
        """sup over f of (a f - l(y, f)), infinite outside its domain; used in duality gaps."""

    def curvature_root(self, y: Float64, f: Float64) -> CurvatureRoot:
        """For each object S with S S' = the Hessian of l in f."""
        return DiagonalRoot(np.sqrt(self.curvature(y, f))[:, None])

    def dual(self, y: Float64, C: Float64) -> Dual | None:
        """The dual of sum_i C_i l(y_i, f_i) + 1/2 |w|^2, or None if it is not quadratic; every C_i is positive."""
        del y, C
        return None

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Losses that the conformance suite runs: by default the one with its default parameters."""
        yield cls()


class VectorLoss(Loss):
    """A loss of several decision values for each object: f has one column per class, y holds the class codes."""

    joint = True

    @abstractmethod
    def curvature_root(self, y: Float64, f: Float64) -> CurvatureRoot:
        """For each object S with S S' = the Hessian of l in f; `MatrixRoot` takes any, as an array."""
