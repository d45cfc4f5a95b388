"""The Gaussian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer.kernels.algebra.pointwise import Distance, ExponentialDecay, Gamma
from mercer.kernels.algebra.with_diagonal import KernelDistance
from mercer.kernels.base import Kernel, State
from mercer.kernels.text import latex
from mercer.kernels.vectors.distances import SquaredEuclidean

_UNWEIGHTED = SquaredEuclidean()


@final
@dataclass(frozen=True)
class RBF(ExponentialDecay):
    """The Gaussian kernel, k(x, z) = exp(-gamma |x - z|^2), on vectors or in the feature space of another kernel.

    `gamma` is a positive number (1 / (2 sigma^2)); ``"scale"``, 1 / (features * variance) as in scikit-learn;
    ``"auto"``, 1 / features; ``"median"``, 1 / the median squared distance; or one number per feature (a tuple or an
    array; zero leaves the feature out), for exp(-sum_i gamma_i (x_i - z_i)^2). With `over`, distances are those of that
    kernel's feature space: k(x, x) + k(z, z) - 2 k(x, z).

    >>> from mercer import kernels
    >>> kernels.RBF(gamma=0.5).fit([[0.0], [1.0]])([[0.0]], [[1.0]]).round(6)
    array([[0.606531]])
    >>> kernels.RBF(gamma=(0.5, 0.0)).fit([[0.0, 7.0]])([[0.0, 7.0]], [[1.0, 9.0]]).round(6)
    array([[0.606531]])
    """

    gamma: Gamma | tuple[float, ...] = "scale"  # type: ignore[assignment]
    over: Kernel | None = None

    reason = "it is a Gaussian of a Hilbertian distance"

    def latex(self, x: str = "x", z: str = "z") -> str:
        if isinstance(self.gamma, tuple):
            return rf"\exp\left(-\sum_i \gamma_i\,({x}_i - {z}_i)^2\right)"
        if self.over is None:
            distance = rf"\left\lVert {x} - {z} \right\rVert^2"
        elif len(cross := self.over.latex(x, z)) > latex.LONG:
            distance = rf"d^2\left[{cross}\right]"
        else:
            own, other = self.over.latex(x, x), self.over.latex(z, z)
            distance = rf"\left({own} + {other} - 2\,{latex.factor(cross)}\right)"
        return latex.filled(rf"\exp\left(-<gamma>\,{distance}\right)", self, x, z)

    def __post_init__(self) -> None:
        if isinstance(self.gamma, tuple | list | np.ndarray):
            object.__setattr__(self, "gamma", _per_feature(self.gamma, self.over))
        else:
            super().__post_init__()
        _check.instance("RBF", "over", self.over, (Kernel, type(None)), "a kernel or None")

    @property
    def measure(self) -> Distance:
        if self.over is not None:
            return KernelDistance(self.over)
        return SquaredEuclidean(self.gamma) if isinstance(self.gamma, tuple) else _UNWEIGHTED

    @property
    def psd(self) -> bool:
        return self.over is None or self.over.psd

    @property
    def symmetric(self) -> bool:
        return self.over is None or self.over.symmetric

    @property
    def data_dependent(self) -> bool:
        return super().data_dependent or (self.over is not None and self.over.data_dependent)

    def parameters(self, objects: Any, measure_state: State) -> dict[str, float]:
        # With a gamma per feature, the distance is already weighted.
        return {"gamma": 1.0} if isinstance(self.gamma, tuple) else super().parameters(objects, measure_state)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.polynomial import Polynomial

        yield from super().examples()
        yield cls(gamma="median", over=Polynomial(degree=2))


def _per_feature(weights: Any, over: Kernel | None) -> tuple[float, ...]:
    rule = "a positive number, the name of a rule, or one non-negative number per feature"
    if over is not None:
        raise _check.fail("RBF", "gamma", "one number or the name of a rule over another kernel", weights)
    if np.ndim(weights) != 1 or not len(weights):
        raise _check.fail("RBF", "gamma", rule, weights)
    numbers = tuple(_check.real("RBF", "gamma", weight, low=0, high_open=True) for weight in weights)
    if not any(numbers):
        raise _check.fail("RBF", "gamma", f"{rule}, not all of them zero", weights)
    return numbers
