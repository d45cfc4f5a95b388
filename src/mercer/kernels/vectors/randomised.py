"""Kernels that average over a random sample of functions: your own, or waves."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._record import boolean
from mercer._types import DType
from mercer.errors import KernelError
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra.pointwise import Gamma, HasGamma
from mercer.kernels.base import State
from mercer.kernels.features.feature_map import FeatureMap, FixedColumns
from mercer.kernels.vectors.distances import resolved_gamma
from mercer.kernels.vectors.features import RowFeatures, refuse_other_width
from mercer.kernels.vectors.linear import DotProduct

_MOST_FEATURES = 2**20
"""A larger sample would take more memory than the Gram matrix that it replaces, and is a mistake or an attack."""
_NUMBERS_AT_ONCE = 2**22
"""Values of functions computed at a time: 32 MB. More would only take memory, much less would need many small calls."""


class SampledKernel(DotProduct):
    """k(x, z) = (1 / m) sum_i f_i(x) f_i(z) for one sample of m functions, drawn at fit and shared by all pairs.

    Whatever the sample, this is an inner product of explicit features, hence positive semi-definite; a new sample for
    every pair would not be. Subclasses define `size`, `random_state`, `sample` and `values`.
    """

    size: int
    random_state: int

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        _check.integer(name, "size", self.size, low=1, high=_MOST_FEATURES)
        _check.integer(name, "random_state", self.random_state, low=0)

    @abstractmethod
    def sample(self, generator: np.random.Generator, objects: Vectors) -> dict[str, npt.NDArray[Any]]:
        """The sample, as arrays."""

    @abstractmethod
    def values(self, rows: Any, sample: Any) -> Any:
        """f_i(x) of every row and every i: an array of shape (rows, size). `rows` is dense or CSR."""

    def resolve(self, objects: Vectors) -> State:
        drawn = self.sample(np.random.default_rng(self.random_state), objects)
        return State({**drawn, "n_features": np.asarray(objects.n_features)})

    def feature_map(self, state: State) -> FeatureMap:
        return FixedColumns(lambda objects: self.features(objects, state, np.float64).rows, sampled=True)

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        refuse_other_width(objects.n_features, int(state.values["n_features"]))
        features = np.empty((len(objects), self.size), dtype=dtype)
        lengths = np.empty(len(objects))
        step = max(1, _NUMBERS_AT_ONCE // (self.size + objects.n_features))
        for start in range(0, len(objects), step):
            here = slice(start, start + step)
            block = np.asarray(self.values(objects.values[here], state.values), dtype=np.float64) / math.sqrt(self.size)
            lengths[here] = np.einsum("ij,ij->i", block, block)
            features[here] = block
        return RowFeatures(features, lengths)


def _draw_signs(generator: np.random.Generator, n_features: int, size: int) -> Any:
    return generator.standard_normal((n_features, size))


def _apply_signs(X: Any, drawn: Any) -> Any:
    return np.sign(X @ drawn)


@final
@dataclass(frozen=True)
class Randomised(SampledKernel):
    """The average of f(x) f(z) over random functions f, k(x, z) = (1 / m) sum_i f_i(x) f_i(z), with one shared sample.

    ``draw(generator, n_features, size)`` returns an array that describes `size` functions, drawn with the NumPy
    generator it is given; ``apply(X, drawn)`` returns their values, an array of shape (len(X), size). The sample
    depends only on `random_state`, so training and new objects are mapped by the same functions. See `sample_size` for
    how large `size` should be.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> thresholds = kernels.Randomised(
    ...     draw=lambda generator, n_features, size: (np.arange(size) + 0.5) / size,
    ...     apply=lambda X, drawn: X >= drawn,
    ...     size=10,
    ... )
    >>> thresholds.fit([[0.3]])([[0.3]], [[0.72]]).round(6)
    array([[0.3]])
    """

    draw: Callable[[np.random.Generator, int, int], Any]
    apply: Callable[[Any, Any], Any]
    size: int = 1000
    random_state: int = 0

    variants = ({"draw": _draw_signs, "apply": _apply_signs, "size": 64},)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("draw", "apply"):
            if not callable(getattr(self, name)):
                raise _check.fail("Randomised", name, "a function", getattr(self, name))

    def sample(self, generator: np.random.Generator, objects: Vectors) -> dict[str, npt.NDArray[Any]]:
        return {"drawn": np.asarray(self.draw(generator, objects.n_features, self.size))}

    def values(self, rows: Any, sample: Any) -> Any:
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        found = np.asarray(self.apply(dense, sample["drawn"]))
        if found.shape != (len(dense), self.size):
            raise KernelError(
                f"The 'apply' function of Randomised must return one value per row and function, an array of shape "
                f"{(len(dense), self.size)}; it returned shape {found.shape}."
            )
        if not np.isfinite(found).all():
            row, number = np.argwhere(~np.isfinite(found))[0]
            raise KernelError(f"Function {number} of Randomised gave {found[row, number]} for row {row} of a block.")
        return found


class Waves(SampledKernel):
    """k(x, z) = (1 / m) sum_i 2 cos(w_i'x + b_i) cos(w_i'z + b_i), b_i uniform on [0, 2 pi): the mean is the Fourier
    transform, at x - z, of the distribution of the w_i. Subclasses define `directions`.

    With `orthogonal`, each direction is used twice, as cosine and sine (b_i = 0 and -pi / 2): random phases would add
    more error than orthogonality removes.
    """

    orthogonal: bool

    formula = r"\frac{2}{<size>} \sum_i \cos(w_i^\top <x> + b_i) \cos(w_i^\top <z> + b_i)"

    @abstractmethod
    def directions(self, generator: np.random.Generator, objects: Vectors, count: int) -> Any:
        """This many w_i, as columns."""

    def sample(self, generator: np.random.Generator, objects: Vectors) -> dict[str, npt.NDArray[Any]]:
        pairs = self.size // 2 if self.orthogonal else 0
        directions = self.directions(generator, objects, self.size - pairs)
        phases = generator.uniform(0, 2 * math.pi, self.size)
        if pairs:
            directions = np.hstack([directions, directions[:, :pairs]])
            phases[:pairs], phases[self.size - pairs :] = 0.0, -math.pi / 2
        return {"directions": directions, "phases": phases}

    def values(self, rows: Any, sample: Any) -> Any:
        angles = np.asarray(rows @ sample["directions"])
        angles += sample["phases"]
        return math.sqrt(2) * np.cos(angles)


@final
@dataclass(frozen=True)
class RandomFourierFeatures(HasGamma, Waves):
    """An approximation of `RBF` by waves, k(x, z) = (1 / m) sum_i 2 cos(w_i'x + b_i) cos(w_i'z + b_i).

    The w_i are normal with variance 2 gamma, the b_i uniform on [0, 2 pi); the mean is exp(-gamma |x - z|^2), and the
    error falls like 1 / sqrt(size). Its `size` features are explicit, so large problems become linear ones. `gamma` is
    as in `RBF`; the sample depends only on `random_state` and the number of features. With `orthogonal`, directions are
    orthogonal in blocks of as many as there are columns, and each is used as cosine and as sine, which reduces the
    error.

    >>> from mercer import kernels
    >>> waves = kernels.RandomFourierFeatures(gamma=0.5, size=100_000, random_state=0)
    >>> waves.fit([[0.0]])([[0.0]], [[1.0]]).round(2)
    array([[0.61]])
    """

    gamma: Gamma = "scale"
    size: int = 1000
    random_state: int = 0
    orthogonal: bool = boolean()

    def directions(self, generator: np.random.Generator, objects: Vectors, count: int) -> Any:
        spread = math.sqrt(2 * resolved_gamma(self.gamma, objects))
        return spread * normal_directions(generator, objects.n_features, count, orthogonal=self.orthogonal)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(size=200)
        yield cls(gamma=0.3, size=64, random_state=1)
        yield cls(gamma=0.3, size=64, orthogonal=True)


def normal_directions(generator: np.random.Generator, n_features: int, size: int, *, orthogonal: bool) -> Any:
    """Standard normal vectors as columns; if `orthogonal`, in orthogonal blocks of as many as there are features.

    Source    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal random features (2016)

    Each is still standard normal: a direction of a random rotation, times the length of a normal vector of its own.
    """
    drawn = generator.standard_normal((n_features, size))
    if not orthogonal:
        return drawn
    lengths = np.sqrt(generator.chisquare(n_features, size))
    for start in range(0, size, n_features):
        block = drawn[:, start : start + n_features]
        rotation, triangle = np.linalg.qr(block)
        block[:] = rotation * np.where(triangle.diagonal() < 0, -1.0, 1.0)  # QR with fixed signs is uniform
    return drawn * lengths


def sample_size(accuracy: float, failure: float, objects: int, bound: float = 1.0) -> int:
    """How many functions make every kernel value among `objects` accurate to +-`accuracy`, except with probability
    `failure`, when each |f(x)| <= `bound` (Hoeffding's inequality, over all pairs).

    >>> from mercer.kernels.vectors.randomised import sample_size
    >>> sample_size(accuracy=0.1, failure=0.01, objects=100)
    2766
    """
    _check.real("sample_size", "accuracy", accuracy, low=0, low_open=True, high_open=True)
    _check.real("sample_size", "failure", failure, low=0, low_open=True, high=1, high_open=True)
    _check.integer("sample_size", "objects", objects, low=1)
    _check.real("sample_size", "bound", bound, low=0, low_open=True, high_open=True)
    return math.ceil(2 * bound**4 / accuracy**2 * math.log(objects * (objects + 1) / failure))
