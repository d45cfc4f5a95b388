"""The contract of a kernel.

A **kernel** is an immutable record of hyperparameters. It computes nothing by itself: ``kernel.fit(objects)`` resolves
what depends on data and returns a **fitted kernel**, which turns objects into features once and compares batches of
features many times, tile by tile, without the GIL.

::

    objects ──fitted.features──▶ features ──fitted.align──▶ both sides ──fitted.tile──▶ a block of the Gram matrix
              (once per object)             (once per Gram)              (many times)

To write one, subclass `Kernel`: a `domain`, `features`, `tile`, `diagonal`, and `feature_map` if phi is explicit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, final

import numpy as np
import numpy.typing as npt

from mercer._record import STRANGERS, Record
from mercer._types import DType, Float64, Floating, Index
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Blockwise, streamed
from mercer.kernels.features import space
from mercer.kernels.features.columns import ColumnProducts
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.features.rows import FeatureMatrix
from mercer.kernels.probing import array_of_features, probe, refuse_large, unfitted
from mercer.kernels.text import form, latex

if TYPE_CHECKING:
    from mercer.kernels.algebra.images import OnColumns
    from mercer.kernels.algebra.logarithmic import LogKernel

SAFE_IN_SINGLE = 1e30
"""float32 ends at 3.4e38; below this bound sums and products of values cannot overflow."""
ANY_TILE = 2**62
"""Tiles of any size, for kernels whose entries are cheap."""


class Features(Protocol):
    """What a kernel keeps of each object: anything with a length that can be sliced."""

    def __len__(self) -> int: ...

    def take(self, index: Index) -> Features:
        """The features at these positions; a slice gives a view."""
        ...


class Batch:
    """Features in fields of a frozen dataclass, with one entry per object: arrays, CSR, features; an array last."""

    def __len__(self) -> int:
        return len(list(vars(self).values())[-1])

    def take(self, index: Index) -> Self:
        taken = (value[index] if hasattr(value, "shape") else value.take(index) for value in vars(self).values())
        return type(self)(*taken)


@final
@dataclass(frozen=True, eq=False)
class State:
    """What a kernel learnt from data: named arrays, and the states of its component kernels.

    `objects` are training objects, for the few kernels (centring, latent semantics) whose values depend on them.
    """

    values: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    parts: tuple[State, ...] = ()
    objects: Objects | None = None

    def number(self, name: str) -> float:
        """A resolved scalar, such as gamma."""
        return float(self.values[name])


class Measure(Record, ABC):
    """Something that compares two objects: a kernel, or a distance on which kernels are based."""

    @property
    @abstractmethod
    def domain(self) -> type[Objects]:
        """The kind of objects compared; simple kernels set it as a class attribute."""

    def resolve(self, objects: Any) -> State:
        """Everything that depends on the data, as arrays."""
        del objects
        return State()

    @abstractmethod
    def features(self, objects: Any, state: State, dtype: DType) -> Features:
        """The features of each object. `dtype` is the precision in which tiles will be requested."""

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        """Both sides of a Gram matrix, prepared for each other once (common columns, for example)."""
        del state
        return left, right

    @abstractmethod
    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        """Write the block of values between two batches of features into `out` (C-contiguous).

        Runs in threads. Entries that compare an object to itself are overwritten from `diagonal` by the caller.
        """

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        """How many entries a tile may have to take a few seconds at most; fewer for expensive kernels."""
        del left, right, state
        return ANY_TILE

    @abstractmethod
    def diagonal(self, features: Any, state: State) -> Float64:
        """k(x, x) of each object, in float64, never by evaluating pairs."""

    largest_in_single: ClassVar[float] = SAFE_IN_SINGLE
    """float32 is precise enough for all values if every k(x, x) is below this."""

    @property
    def children(self) -> tuple[Kernel, ...]:
        """The kernels that this one is made of."""
        fields = (value if isinstance(value, tuple) else (value,) for value in self.get_params(deep=False).values())
        return tuple(value for field in fields for value in field if isinstance(value, Kernel))

    def whole(self, left: Any, right: Any, state: State) -> Floating | None:
        """All values between two sides, if they are already in memory (a precomputed matrix): no tile is computed."""
        del left, right, state
        return None

    @property
    def symmetric(self) -> bool:
        """Whether symmetry holds by construction; if not (user functions), the Gram matrix is checked."""
        return all(kernel.symmetric for kernel in self.children)

    def single_precision(self, features: Any, state: State) -> bool:
        """Whether float32 holds the values to about seven digits; false for overflowing powers and huge counts."""
        return bool(self.diagonal(features, state).max(initial=0.0) < self.largest_in_single)


class Kernel(Measure):
    """A kernel k(x, z): a record of hyperparameters, with an algebra.

    ``a + b``, ``a * b``, ``2.0 * a``, ``a + 1.0``, ``a**2`` are kernels again. `psd` tells whether every Gram matrix is
    positive semi-definite, whatever the data; `data_dependent` whether values depend on the objects passed to `fit`.
    """

    __array_ufunc__ = None  # NumPy's numbers leave ``2.0 * kernel`` to the kernel

    reason: ClassVar[str] = "it is an inner product of features"
    """Why it is positive semi-definite, provided that its component kernels are: one clause of `derivation`."""
    formula: ClassVar[str] = ""
    """Its formula in LaTeX, in which ``<x>``, ``<z>`` and ``<parameter>`` are replaced; if empty, its name is shown."""
    binding: ClassVar[int] = form.ATOM
    """The operator precedence of its text, which determines where brackets are needed."""
    is_linear: ClassVar[bool] = False
    """Whether it is the plain dot product of vectors, so its features are their columns."""
    variants: ClassVar[tuple[Mapping[str, Any], ...] | None] = None
    """Parameters that the conformance suite tries; None for the defaults, if all parameters have one."""
    is_precomputed: ClassVar[bool] = False
    """Whether its values come from a matrix given by the user, so there are no objects."""

    @property
    def psd(self) -> bool:
        return True

    @property
    def on_trust(self) -> bool:
        """Whether `psd` rests on what a user says of a function: learners test it on a few objects."""
        return any(child.on_trust for child in self.children)

    @property
    def data_dependent(self) -> bool:
        return False

    @property
    def symmetric(self) -> bool:
        return True

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Kernels for the conformance suite, one for each of the `variants`; see also `mercer.testing.examples`."""
        if cls.variants is not None:
            yield from (cls(**parameters) for parameters in cls.variants)
        elif all(parameter.default is not MISSING for parameter in fields(cls)):
            yield cls()

    def feature_map(self, state: State) -> FeatureMap | None:
        """Its explicit features, or None: see `mercer.kernels.features.feature_map`.

        With them, linear machines and, on many objects, all machines are trained without a Gram matrix; new objects are
        scored without comparing them to support objects; and decisions can be explained.
        """
        return None

    @final
    def feature_matrix(self, objects: Any, names: Any = None, *, state: State | None = None) -> FeatureMatrix:
        """phi of each object as a row of an array or CSR matrix, with a name for each column.

        `names` are those of the columns of vectors. What depends on data is learnt from these objects, unless the
        `state` of a fitted kernel is given. To map new objects to the columns of others use
        `mercer.kernels.features.space.FeatureSpace`.

        >>> from mercer import kernels
        >>> found = kernels.Spectrum(p=2).feature_matrix(["banana", "ananas"])
        >>> found.names, (found.matrix @ found.matrix.T).toarray().tolist()
        (('ba', 'na', 'an', 'as'), [[9.0, 8.0], [8.0, 9.0]])
        """
        batch = self.coerce(objects)
        fitted = FittedKernel(self, self.resolve(batch) if state is None else state)
        return space.feature_matrix(fitted, batch, names)

    def column_products(self, state: State) -> ColumnProducts | None:
        """The kernel as a sum of products of kernels on single columns, for explanations; None if it is not."""

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """The kernels that it is the sum of, in the order of `State.parts`; empty if it is not a sum."""
        return ()

    @property
    def logarithms(self) -> LogKernel | None:
        """The kernel itself, if it can also compute the logarithms of its values."""
        return None

    @property
    def on_columns(self) -> tuple[OnColumns, ...]:
        """The component kernels on columns of a kernel on tables."""
        return tuple(part for child in self.children for part in child.on_columns)

    def images(self, objects: Any) -> Any:
        """What its component kernels compare: the objects, or an image of each."""
        return objects

    # k = f(measure): a plain kernel is its own measure, and f is the identity. Pointwise kernels override these four.
    @property
    def measure(self) -> Measure:
        """What is computed between two objects before `pointwise` turns it into a kernel value."""
        return self

    def measure_state(self, state: State) -> State:
        """The part of the state that belongs to the measure."""
        return state

    def pointwise(self, values: Floating, state: State) -> None:
        """Turn values of the measure into values of the kernel, in place."""

    def parameters(self, objects: Any, measure_state: State) -> dict[str, float]:
        """Data-dependent parameters of `pointwise`, such as gamma='scale', resolved to numbers."""
        del objects, measure_state
        return {}

    @final
    def coerce(self, raw: Any, *, new: bool = False) -> Objects:
        """Training objects, or `new` ones to compare with them, parsed and validated."""
        lazy = isinstance(raw, Blockwise) or hasattr(raw, "__dask_graph__")
        return streamed(raw, self.domain) if lazy else self.domain.coerce(raw, new=new)

    @final
    def fit(self, raw: Any) -> FittedKernel:
        """Resolve what depends on data.

        >>> from mercer import kernels
        >>> fitted = kernels.RBF(gamma="auto").fit([[0.0, 0.0], [1.0, 1.0]])
        >>> float(fitted([[0.0, 0.0]], [[1.0, 1.0]])[0, 0].round(4))
        0.3679
        """
        objects = self.coerce(raw).known()
        if STRANGERS:
            probe(self, objects)
        return FittedKernel(self, self.resolve(objects))

    def __call__(self, *objects: Any) -> Any:
        """Raises: only a fitted kernel computes."""
        raise unfitted(self)

    def __add__(self, other: Kernel | float) -> Kernel:
        from mercer.kernels.algebra.constant import constant_like
        from mercer.kernels.algebra.sums import Sum

        if isinstance(other, Kernel):
            return Sum.of(self, other)
        if not _is_number(other):
            return NotImplemented
        return self if other == 0 else Sum.of(self, constant_like(self, other))

    def __radd__(self, other: float) -> Kernel:
        from mercer.kernels.algebra.constant import constant_like

        if not _is_number(other):
            return NotImplemented
        return self if other == 0 else constant_like(self, other) + self  # 0: the start value of the built-in sum

    def __mul__(self, other: Kernel | float) -> Kernel:
        from mercer.kernels.algebra.sums import Product, Scaled

        if isinstance(other, Kernel):
            return Product.of(self, other)
        return Scaled.of(self, other) if _is_number(other) else NotImplemented

    def __rmul__(self, other: float) -> Kernel:
        return self * other if _is_number(other) else NotImplemented

    def __pow__(self, exponent: int) -> Kernel:
        from mercer.kernels.algebra.functions import Power

        return Power(self, exponent) if _is_number(exponent) else NotImplemented

    def derivation(self) -> str:
        """Why it is positive semi-definite, or where the proof fails: the closure rules, as an indented tree.

        >>> from mercer import kernels
        >>> print((kernels.Linear() + 2.0 * kernels.RBF()).derivation())
        Sum: PSD because it puts the features of its terms side by side, and these are PSD:
          Linear: PSD because it is an inner product of features
          Scaled: PSD because it is a positive multiple of a kernel, and this is PSD:
            RBF: PSD because it is a Gaussian of a Hilbertian distance
        """
        return form.derivation(self)

    def latex(self, x: str = "x", z: str = "z") -> str:
        r"""Its formula between the objects named `x` and `z`, which notebooks show.

        >>> from mercer import kernels
        >>> print((kernels.Linear() + 0.5 * kernels.Polynomial(degree=2)).latex())
        x^\top z + 0.5\,\left(x^\top z + 1\right)^{2}
        """
        return latex.filled(self.formula, self, x, z) if self.formula else latex.named(self, x, z)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def __str__(self) -> str:
        return form.call_text(self)


@final
@dataclass(frozen=True, eq=False)
class FittedKernel:
    """A kernel and its state: the only thing that computes."""

    kernel: Kernel
    state: State

    def coerce(self, raw: Any) -> Objects:
        """New objects, parsed and validated for comparison with the training objects."""
        return self.kernel.coerce(raw, new=True)

    def feature_map(self) -> FeatureMap | None:
        return self.kernel.feature_map(self.state)

    def features(self, objects: Objects, dtype: DType = np.float64) -> Features:
        found = self.kernel.features(objects, self.state, dtype)
        if isinstance(found, np.ndarray | list | tuple):  # whose `take`, if any, does something else
            raise array_of_features(self.kernel, found)
        return found

    def align(self, left: Features, right: Features) -> tuple[Features, Features]:
        return self.kernel.align(left, right, self.state)

    def tile(self, left: Features, right: Features, out: Floating) -> None:
        self.kernel.tile(left, right, self.state, out)

    def tile_entries(self, left: Features, right: Features) -> int:
        return self.kernel.tile_entries(left, right, self.state)

    def diagonal(self, features: Features) -> Float64:
        """k(x, x) of each object; refuses values that no number can hold."""
        return self.in_range(self.kernel.diagonal(features, self.state))

    def in_range(self, values: Float64) -> Float64:
        """The values k(x, x) of objects; refuses overflow."""
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            what = f"overflow in kernel {self.kernel}: k(x, x) of object {where} is {values[where]}"
            raise KernelError(f"{what}. Rescale the data, lower the degree, or normalise the kernel.")
        return values

    def __call__(self, left: Any, right: Any = None) -> Float64:
        """The block k(left, right) in one piece, in float64; for large ones use `mercer.gram`."""
        rows = self.features(self.kernel.coerce(left) if right is None else self.coerce(left))
        columns = rows if right is None else self.features(self.kernel.coerce(right))
        refuse_large(len(rows), len(columns))
        diagonal = self.diagonal(rows) if right is None else None  # first, because it refuses overflow
        out = np.empty((len(rows), len(columns)))
        self.tile(*self.align(rows, columns), out)
        if diagonal is not None:
            np.fill_diagonal(out, diagonal)
        return out


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
