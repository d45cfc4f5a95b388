"""The Nystrom approximation of any kernel by a few landmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.linalg

from mercer import _check
from mercer._cached import cached_property
from mercer._record import choice, integer
from mercer._types import DType, Float64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features import landmarks as landmark
from mercer.kernels.features.embedding import Embedding, similarities
from mercer.kernels.features.feature_map import Columns, Condensed, FeatureMap
from mercer.kernels.features.vocabulary import Vocabulary

_SAFE_IN_SINGLE = 100.0
"""The ratio of the longest to the shortest pivot up to which coordinates may be computed in float32: rounding errors of
6e-8 grow by about this factor, to 1e-5, the precision of tiles in float32."""


@final
@dataclass(frozen=True)
class Nystrom(Embedding):
    """Nystrom's approximation of a kernel by at most `m` landmarks Z among the training objects.

    k(x, z) = k0(x, Z) K0(Z, Z)^-1 k0(Z, z): the inner product of the projections of x and z onto the span of the
    landmarks in feature space. It equals k0 if x or z is a landmark, and k0(x, x) - k(x, x) >= 0 is the part of x
    outside that span. Its m coordinates L^-1 k0(Z, x), with LL' = K0(Z, Z), are explicit, so memory and training time
    are proportional to the number of objects; the resulting function is an expansion of k0 over the landmarks.

    `landmarks` are drawn by randomly pivoted Cholesky ("rpcholesky"), each in proportion to what the previous ones
    miss, or all with the same probability ("uniform"). If the kernel has a smaller rank on the training objects, fewer
    than `m` are kept, and nothing is lost.

    `random_state` is the seed by which landmarks are drawn.

    >>> from mercer import kernels
    >>> X = [[0.0], [0.1], [2.0], [2.1]]
    >>> seen = kernels.Nystrom(kernels.RBF(gamma=0.5), m=2).fit(X)
    >>> abs(seen(X) - kernels.RBF(gamma=0.5).fit(X)(X)).max().round(2)
    np.float64(0.01)
    """

    kernel: Kernel
    m: int = integer(1000, low=1)
    landmarks: str = choice("rpcholesky", "uniform")
    random_state: int = integer(0, low=0)

    reason = "it is an inner product of coordinates"
    data_dependent = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.instance("Nystrom", "kernel", self.kernel, Kernel, "a kernel")

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Any) -> State:
        inner = self.kernel.resolve(objects)
        pivots = self.landmarks == "rpcholesky"
        found = landmark.chosen(self.kernel, objects, inner, self.m, self.random_state, pivots=pivots)
        values = {"triangle": found.triangle, "left": np.asarray(found.left), "landmark_places": found.places}
        return State(values, (inner,), objects.take(found.places))

    def coordinates(self, objects: Any, state: State) -> Float64:
        found: Float64 = ThroughLandmarks(self.kernel, state).written(objects, np.float64)
        return found

    def feature_map(self, state: State) -> FeatureMap | None:
        return ThroughLandmarks(self.kernel, state)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"{self.kernel.latex(x, 'Z')}\,{self.kernel.latex('Z', 'Z')}^{{-1}}\,{self.kernel.latex('Z', z)}"


@final
@dataclass(frozen=True, eq=False)
class ThroughLandmarks(FeatureMap):
    """The coordinates of objects relative to landmarks, whose own features are computed once."""

    kernel: Kernel
    state: State

    @property
    def in_blocks(self) -> bool:
        return True

    @property
    def _rank(self) -> int:
        return len(self.state.values["triangle"])

    @cached_property
    def _known(self) -> Any:
        return self.kernel.features(self.state.objects, self.state.parts[0], np.float64)

    @cached_property
    def _single(self) -> tuple[Any, bool]:
        """The features of the landmarks for float32, and whether that is precise enough."""
        inner, pivots = self.state.parts[0], self.state.values["triangle"].diagonal()
        known = self.kernel.features(self.state.objects, inner, np.float32)
        well = bool(pivots.max() <= _SAFE_IN_SINGLE * pivots.min())
        return known, well and self.kernel.single_precision(known, inner)

    @property
    def triangle(self) -> Float64 | None:
        return self._triangle if self._single[1] else None

    @property
    def _triangle(self) -> Float64:
        found = self.state.values["triangle"]
        if found.shape != (len(self.state.objects or ()),) * 2:
            raise KernelError("The triangle of a Nystrom kernel must have one row and column per landmark.")
        return found

    def unfolded(self, objects: Any) -> Any:
        return self._similar(objects, np.float32).astype(np.float32, copy=False)

    def _similar(self, objects: Any, dtype: DType) -> Any:
        """Similarities with the landmarks, in single precision if that is requested and safe."""
        inner = self.state.parts[0]
        if dtype is np.float32 and self._single[1]:
            features = self.kernel.features(objects, inner, np.float32)
            if self.kernel.single_precision(features, inner):
                return similarities(self.kernel, features, self._single[0], inner, np.float32)
        features = self.kernel.features(objects, inner, np.float64)
        return similarities(self.kernel, features, self._known, inner, np.float64)

    def written(self, objects: Any, dtype: DType) -> Any:
        """One row per object, in this precision."""
        return landmark.whiten(self._similar(objects, dtype), self._triangle).astype(dtype, copy=False)

    def plain_rows(self, objects: Any, words: Iterator[Vocabulary], dtype: DType, grow: bool) -> tuple[Any, Float64]:
        rows = self.written(objects, dtype)
        return rows, np.einsum("ij,ij->i", rows, rows, dtype=np.float64)

    def plain_names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns) -> Sequence[Any]:
        return [f"direction {number}" for number in range(self._rank)]

    @property
    def approximates(self) -> FittedKernel | None:
        return FittedKernel(self.kernel, self.state.parts[0])

    def condensed(self, weights: Float64) -> Condensed | None:
        """<w, L^-1 k0(Z, .)> = <L^-T w, k0(Z, .)>: coefficients of k0 over the landmarks."""
        folded = scipy.linalg.solve_triangular(self.state.values["triangle"], weights, lower=True, trans="T")
        assert self.state.objects is not None, "a state of another kernel"
        return FittedKernel(self.kernel, self.state.parts[0]), self.state.objects, np.asarray(folded)

    def columns_at_least(self, objects: Any) -> int:
        return self._rank
