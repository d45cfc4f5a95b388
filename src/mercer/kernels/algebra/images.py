"""Kernels on images of objects: some columns of a row, or the result of a function."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.errors import KernelError, ParameterError
from mercer.inputs import readings
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.tables import Table
from mercer.kernels.algebra.constant import OnNamedObjects
from mercer.kernels.algebra.of_kernel import Delegating
from mercer.kernels.base import Features, FittedKernel, Kernel, State
from mercer.kernels.features.columns import ColumnProducts, of_one
from mercer.kernels.features.embedding import Embedding
from mercer.kernels.features.feature_map import Columns, FeatureMap, OfImages
from mercer.kernels.text.form import text_of_value
from mercer.kernels.text.latex import words
from mercer.kernels.user import KINDS, RawFeatures, images_of, names_of_images, refused_batch


class Through(Delegating):
    """k(x, z) = k0(phi(x), phi(z)). Subclasses give `domain`, `kernel` (k0) and `images` (phi of a batch)."""

    @abstractmethod
    def images(self, objects: Any) -> Objects:
        """The images that k0 compares, one per object."""

    def feature_map(self, state: State) -> FeatureMap | None:
        features = self.kernel.feature_map(state.parts[0])
        return None if features is None else OfImages(features, self.images, self.column_names)

    @abstractmethod
    def column_names(self, one: Any) -> Columns:
        """The names of the columns of the image of an object, if it is a vector and they are known."""

    def resolve(self, objects: Any) -> State:
        return super().resolve(self.images(objects))

    def features(self, objects: Any, state: State, dtype: DType) -> Features:
        return super().features(self.images(objects), state, dtype)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.kernel.tile(left, right, state.parts[0], out)


@final
@dataclass(frozen=True)
class PullBack(OnNamedObjects, Through):
    """k(x, z) = k0(phi(x), phi(z)): written ``kernels.pull_back(kernel, phi)``.

    `phi` is a function of a whole batch, or any fitted transformer (something with a ``transform``). It receives an
    array of rows (``objects="vectors"``), a list of str (``"strings"``) or a list of anything (``"items"``), and
    returns a batch of the objects that `kernel` compares. It is not fitted here.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> phi = lambda V: np.column_stack([V[:, 0] ** 2, V[:, 0] * V[:, 1]])
    >>> kernel = kernels.pull_back(kernels.Polynomial(degree=2), phi)
    >>> kernel.fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[16.]])
    """

    kernel: Kernel
    phi: Any
    objects: str = "vectors"

    reason = "it is a kernel on the images of the objects"

    def __post_init__(self) -> None:
        _check.instance("pull_back", "kernel", self.kernel, Kernel, "a kernel")
        if self.kernel.domain is GramRows:
            raise _check.fail("pull_back", "kernel", "a kernel on objects, not on a precomputed matrix", self.kernel)
        if not callable(getattr(self.phi, "transform", self.phi)):
            raise _check.fail("pull_back", "phi", "a function of a batch, or a fitted transformer", self.phi)
        _check.choice("pull_back", "objects", self.objects, KINDS)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return self.kernel.latex(rf"\varphi({x})", rf"\varphi({z})")

    def images(self, objects: Objects) -> Objects:
        return images_of(self.phi, objects, self.kernel.domain, "pull_back")

    def column_names(self, one: Any) -> Columns:
        return names_of_images(self.phi)


def pull_back(kernel: Kernel, phi: Any, objects: str = "vectors") -> PullBack:
    """The kernel k0(phi(x), phi(z)): `PullBack`."""
    return PullBack(kernel, phi, objects)


@final
@dataclass(frozen=True)
class OnColumns(Through):
    """k(x, z) = k0(x[columns], z[columns]): written ``kernels.on(columns, kernel)``.

    Kernels on numbers take several columns, kernels on other objects one. `as_` says how to read a column that the
    kernel cannot read by itself. A column of SMILES is read as graphs of atoms for kernels on graphs
    (``as_="smiles"``), and for kernels on vectors as Morgan fingerprints of radius 2: which of 2,048 neighbourhoods
    occur (``as_="morgan"``), or how often (``as_="morgan_counts"``). Sums and products of such kernels compare rows
    that mix kinds.
    """

    columns: tuple[str, ...]
    kernel: Kernel
    as_: str | None = None

    reason = "it is a kernel on some columns of the rows"

    def __post_init__(self) -> None:
        _check.instance("on", "kernel", self.kernel, Kernel, "a kernel")
        if self.kernel.domain is Table:
            raise _check.fail("on", "kernel", "a kernel on the content of a column, not on a table", self.kernel)
        rule = "a column name or a non-empty list of column names"
        columns = _check.instance("on", "columns", self.columns, tuple, rule)
        if not columns or not all(isinstance(name, str) for name in columns):
            raise _check.fail("on", "columns", rule, self.columns)
        if self.as_ is not None:
            known = readings(self.kernel.domain)
            if not known:
                rule = f"None: a column that {self.kernel} compares can be read in one way only"
                raise _check.fail("on", "as_", rule, self.as_)
            _check.choice("on", "as_", self.as_, known)
            if len(columns) > 1:
                raise _check.fail("on", "columns", f"one column, to be read as {self.as_!r}", self.columns)

    domain = Table

    @property
    def on_columns(self) -> tuple[OnColumns, ...]:
        return (self,)

    def column_names(self, one: Any) -> Columns:
        return self.columns

    def latex(self, x: str = "x", z: str = "z") -> str:
        columns = ", ".join(words(name) for name in self.columns)
        return self.kernel.latex(f"{{{x}}}_{{{columns}}}", f"{{{z}}}_{{{columns}}}")

    def column_products(self, state: State) -> ColumnProducts | None:
        inner = self.kernel.column_products(state.parts[0]) if len(self.columns) > 1 else None
        if inner is not None:
            return tuple(part.renamed(self.columns, self.images) for part in inner)
        return of_one(", ".join(self.columns), FittedKernel(self, state))  # several columns count as one

    def images(self, objects: Table) -> Objects:
        return objects.objects(self.columns, self.kernel.domain, self.as_)

    def __str__(self) -> str:
        names = repr(self.columns[0]) if len(self.columns) == 1 else repr(list(self.columns))
        reading = "" if self.as_ is None else f", as_={self.as_!r}"
        return f"on({names}, {self.kernel}{reading})"


def on(columns: str | Iterable[str], kernel: Kernel, as_: str | None = None) -> OnColumns:
    """A kernel on some columns of a table; add or multiply several to compare rows that mix kinds.

    >>> from mercer import kernels
    >>> mixed = kernels.on("sequence", kernels.Spectrum(2)) + kernels.on(["a", "b"], kernels.RBF(gamma=1.0))
    >>> rows = {"sequence": ["GATT", "ATTA"], "a": [0.0, 0.0], "b": [1.0, 1.0]}
    >>> mixed.fit(rows)(rows)
    array([[4., 3.],
           [3., 4.]])
    """
    if isinstance(columns, Kernel):
        raise _check.fail("on", "columns", "column names, and the kernel comes second: on(columns, kernel)", columns)
    if isinstance(columns, Integral):
        raise _numbered(columns)
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if any(isinstance(name, Integral) for name in names):
        raise _numbered(columns)
    return OnColumns(names, kernel, as_)


def _numbered(columns: Any) -> ParameterError:
    """The error for positions given instead of names."""
    return _check.fail(
        "on", "columns", "a column name or a non-empty list of column names", columns,
        "Columns of an array have no names: put them in a data frame or a mapping of columns, {'a': X[:, 0], ...}, or "
        "use kernels.pull_back(kernel, lambda X: X[:, [0]]).",
    )  # fmt: skip


def _squared_lengths(rows: Any) -> Any:
    return (rows * rows).sum(axis=1)


@final
@dataclass(frozen=True)
class RankOne(OnNamedObjects, Embedding):
    """k(x, z) = f(x) f(z) for any real function f: written ``kernels.rank_one(f)``.

    `function` takes a whole batch and returns one number per object, so that NumPy does the work: an array of rows for
    ``objects="vectors"``, a list of str for ``"strings"``, a list of anything for ``"items"``. A function g of one
    object is ``lambda batch: [g(x) for x in batch]``.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> kernel = kernels.rank_one(lambda X: (X**2).sum(axis=1))
    >>> kernel.fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[50.]])
    """

    function: Callable[[Any], Any]
    objects: str = "vectors"

    reason = "f is its one feature"
    formula = "f(<x>)\\,f(<z>)"
    variants = ({"function": _squared_lengths},)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise _check.fail("rank_one", "function", "a function of a batch of objects", self.function)
        _check.choice("rank_one", "objects", self.objects, KINDS)

    def coordinates(self, objects: Objects, state: State) -> Float64:
        name = text_of_value(self.function)
        try:
            values = np.asarray(self.function(RawFeatures.of(objects).raw), dtype=np.float64)
        except Exception as error:
            raise refused_batch(name, "rank_one", error, objects) from error
        if values.shape != (len(objects),):
            raise KernelError(
                f"The function {name} of rank_one must return one number per object, shape ({len(objects)},); it "
                f"returned shape {values.shape}. A function g of one object is lambda batch: [g(x) for x in batch]."
            )
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            raise KernelError(f"The function {name} of rank_one returned {values[where]} for object {where}.")
        return values[:, None]


def rank_one(function: Callable[[Any], Any], objects: str = "vectors") -> RankOne:
    """The kernel f(x) f(z) of a function of a batch: `RankOne`."""
    return RankOne(function, objects)
