"""Kernels that the user writes as plain functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np

from mercer import _check, _deadline
from mercer._cached import cached_property
from mercer._jit import Array, is_jitted, jit
from mercer._types import DType, Float64, Floating, Index
from mercer.errors import InputError, KernelError
from mercer.inputs.base import Objects
from mercer.inputs.items import Items
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors, is_sparse
from mercer.kernels.algebra.constant import OnNamedObjects
from mercer.kernels.base import ANY_TILE, Kernel, State
from mercer.kernels.features.feature_map import Columns, FeatureMap, FixedColumns
from mercer.kernels.memory.calls import calls_of
from mercer.kernels.text.form import text_of_value

KINDS = ("vectors", "strings", "items")
_FEW = 1024
"""Entries per tile of a user's function, whose cost is unknown: at a millisecond each they take a second. Larger tiles
delay Ctrl-C, smaller ones need more calls. There are fewer entries if there is a time limit and a function of blocks
cannot be stopped between two pairs."""
_SHOWN = 60
"""Characters of an object shown in a message: enough to recognise it."""
_DIAGONAL_BLOCK = 8
"""Objects per block when a function of blocks gives k(x, x): short blocks waste little, longer ones save calls."""


@final
@dataclass(frozen=True, eq=False)
class RawFeatures:
    """The objects as the user's function expects them: an array of rows, or a list."""

    raw: Any
    own: Float64 | None = field(default=None, metadata={"remembered": True})
    """k(x, x) of each object, NaN if not known yet; a function of two objects is not called for it twice."""

    @classmethod
    def of(cls, objects: Objects) -> Self:
        if isinstance(objects, Vectors):
            values: Any = objects.values
            return cls(values.astype(np.float64, copy=False))  # the function computes in float64
        if isinstance(objects, Strings):
            return cls(objects.tolist())
        assert isinstance(objects, Items)
        return cls(objects.items)

    def __len__(self) -> int:
        return len(self.raw) if isinstance(self.raw, list) else int(self.raw.shape[0])

    def take(self, index: Index) -> RawFeatures:
        own = None if self.own is None else self.own[index]
        if isinstance(self.raw, list) and not isinstance(index, slice):
            return RawFeatures([self.raw[int(position)] for position in index], own)
        return RawFeatures(self.raw[index], own)

    def is_same(self, other: RawFeatures) -> bool:
        """Whether these are the same objects in the same order, by identity."""
        if isinstance(self.raw, list):
            return len(self) == len(other) and all(one is two for one, two in zip(self.raw, other.raw, strict=True))
        one, two = self.raw, other.raw
        return bool(one.ctypes.data == two.ctypes.data and one.shape == two.shape and one.strides == two.strides)


_BATCH_NEEDED = (
    "The function is called with a whole batch of objects and returns one value or row for each. A function g of one "
    "object is lambda batch: [g(x) for x in batch]."
)


def refused_batch(name: str, owner: str, error: Exception, objects: Objects) -> KernelError:
    """The error for a function that fails, most often because it was written for one object."""
    return KernelError(f"The function {name} of {owner} raised {error!r} on {len(objects)} objects. {_BATCH_NEEDED}")


def images_of(phi: Any, objects: Objects, domain: type[Objects], owner: str) -> Objects:
    """The images of objects under a function (or the ``transform`` of a fitted transformer), as objects to compare."""
    name = text_of_value(phi)
    try:
        images = getattr(phi, "transform", phi)(RawFeatures.of(objects).raw)
    except Exception as error:
        raise refused_batch(name, owner, error, objects) from error
    try:
        found = domain.coerce(images)
    except InputError as error:
        raise type(error)(
            f"What the function {name} of {owner} returned cannot be compared: {error} {_BATCH_NEEDED}"
        ) from error
    if len(found) != len(objects):
        raise KernelError(
            f"The function {name} of {owner} must return one image per object: it returned {len(found)} for "
            f"{len(objects)} objects. {_BATCH_NEEDED}"
        )
    return found


def names_of_images(phi: Any) -> Columns:
    """The names of the output columns of a transformer, if it has any."""
    try:
        return tuple(phi.get_feature_names_out())
    except Exception:  # functions have no such method, and some transformers know no names
        return None


def _dot_blocks(left: Any, right: Any) -> Any:
    return left @ right.T


def _dot(x: Any, z: Any) -> Any:
    return x @ z


class _UserKernel(OnNamedObjects):
    """The base of both kinds of user functions. Nothing is known about them, so symmetry and values are checked."""

    function: Callable[[Any, Any], Any]
    phi: Any
    symmetric: bool = False
    psd: bool = False

    on_trust = True
    _advice: ClassVar[str] = ""
    """What else an error inside the function may come from."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        if isinstance(self.function, type) and issubclass(self.function, Kernel):
            made = f"{self.function.__name__}()"
            raise _check.fail(name, "function", f"a function; for a kernel, make one: {made}", self.function)
        if not callable(self.function):
            raise _check.fail(name, "function", "a function of two arguments", self.function)
        _check.choice(name, "objects", self.objects, KINDS)
        if self.phi is not None and not callable(getattr(self.phi, "transform", self.phi)):
            raise _check.fail(name, "phi", "a function of a batch, a fitted transformer, or None", self.phi)
        for flag in ("symmetric", "psd"):
            _check.boolean(name, flag, getattr(self, flag))
        if self.phi is not None:  # inner products of features are
            object.__setattr__(self, "psd", True)

    def feature_map(self, state: State) -> FeatureMap | None:
        if self.phi is None:
            return None

        def rows(objects: Objects) -> Any:
            images: Any = images_of(self.phi, objects, Vectors, type(self).__name__)
            return images.values

        return FixedColumns(rows, names_of_images(self.phi))

    def features(self, objects: Objects, state: State, dtype: DType) -> RawFeatures:
        return RawFeatures.of(objects)

    def tile_entries(self, left: RawFeatures, right: RawFeatures, state: State) -> int:
        return _FEW // 4 if _deadline.is_limited() else ANY_TILE

    def _called(self, left: Any, right: Any) -> Any:
        try:
            return self.function(left, right)
        except Exception as error:
            told = f"raised {error!r} for {self._told(left, right)}"
            raise KernelError(f"The kernel function {_name(self.function)} {told}.{self._advice}") from error

    def _told(self, left: Any, right: Any) -> str:
        """The arguments of the function, in words."""
        return f"blocks of {len(RawFeatures(left))} and {len(RawFeatures(right))} objects"


@final
@dataclass(frozen=True)
class FromBlocks(_UserKernel):
    """A kernel from your function of two batches, ``function(X, Z) -> array of shape (len(X), len(Z))``.

    This is what scikit-learn's ``kernel=callable`` means. `objects` says what the function receives: arrays of rows
    (``"vectors"``), lists of str (``"strings"``) or lists of anything (``"items"``). A function in plain Python holds
    the interpreter lock, so only what it calls inside NumPy runs in parallel. `phi`, `symmetric` and `psd` are as for
    `FromFunction`.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> kernels.FromBlocks(lambda X, Z: X @ Z.T).fit([[1.0], [2.0]])([[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """

    function: Callable[[Any, Any], Any]
    objects: str = "vectors"
    phi: Any = None
    symmetric: bool = False
    psd: bool = False

    variants = ({"function": _dot_blocks},)
    _advice = " It is given two batches; a function of two objects is kernels.FromFunction of it."

    def tile(self, left: RawFeatures, right: RawFeatures, state: State, out: Floating) -> None:
        returned: Any = self._called(left.raw, right.raw)
        sparse = is_sparse(returned)  # as X @ Z.T of CSR rows is
        block = returned.toarray() if sparse else np.asarray(returned)
        if block.shape != out.shape:
            hint = " If it compares two objects, use kernels.FromFunction of it." if block.size == 1 else ""
            raise KernelError(
                f"The kernel function {_name(self.function)} must return one value per pair, an array of shape "
                f"{out.shape}; it returned shape {block.shape}.{hint}"
            )
        _refuse_non_finite(self.function, block)
        out[...] = block

    def diagonal(self, features: RawFeatures, state: State) -> Float64:
        # A function of blocks has no cheaper way; short blocks waste little.
        values = np.empty(len(features))
        timed = _deadline.Work(f"the values k(x, x) of {_name(self.function)}", len(features))
        for start in range(0, len(features), _DIAGONAL_BLOCK):
            part = features.take(slice(start, start + _DIAGONAL_BLOCK))
            block = np.empty((len(part), len(part)))
            self.tile(part, part, state, block)
            values[start : start + _DIAGONAL_BLOCK] = np.diagonal(block)
            timed.advance(len(part))
        return values


@final
@dataclass(frozen=True)
class FromFunction(_UserKernel):
    """A kernel from your function of two objects, ``function(x, z) -> float``.

    On vectors, a function compiled with ``numba.njit`` is called from a compiled loop, in threads; a plain Python
    function is called once per pair and holds the interpreter lock.

    If your kernel has explicit features, pass them as `phi`: a function of a batch (or a fitted transformer) that
    returns one row of numbers per object, such that products of rows are the values of the kernel. Linear machines,
    scoring without support objects, and explanations then work as for Mercer's own kernels.

    Nothing is known about a function, so every pair is computed in both orders, and the matrix is checked for negative
    eigenvalues. Set ``symmetric=True`` if function(x, z) = function(z, x), so it is called once for every pair; set
    ``psd=True`` if no Gram matrix has negative eigenvalues, to check that on a few objects only.

    >>> from mercer import kernels
    >>> shared = kernels.FromFunction(lambda a, b: len(a & b), objects="items")
    >>> shared.fit([{1, 2}, {2, 3}])([{1, 2}, {2, 3}])
    array([[2., 1.],
           [1., 2.]])
    """

    function: Callable[[Any, Any], Any]
    objects: str = "vectors"
    phi: Any = None
    symmetric: bool = False
    psd: bool = False

    variants = ({"function": _dot}, {"function": _dot, "symmetric": True, "psd": True})

    @cached_property
    def _loop(self) -> Any:
        """The compiled loop over pairs, or None for a function that only Python can call."""
        if not is_jitted(self.function):
            return None
        function = self.function

        @jit(cache=False)
        def loop(left: Array, right: Array, out: Array) -> None:
            for i in range(left.shape[0]):
                for j in range(right.shape[0]):
                    out[i, j] = function(left[i], right[j])

        return loop

    def features(self, objects: Objects, state: State, dtype: DType) -> RawFeatures:
        if isinstance(objects, Vectors):
            raw: Any = np.array(objects.dense(), dtype=np.float64)  # writable: one compiled signature
        else:
            raw = RawFeatures.of(objects).raw
        return RawFeatures(raw, np.full(len(objects), np.nan))

    def tile_entries(self, left: RawFeatures, right: RawFeatures, state: State) -> int:
        return _FEW if self._loop is None else super().tile_entries(left, right, state)

    def tile(self, left: RawFeatures, right: RawFeatures, state: State, out: Floating) -> None:
        if self._loop is not None and isinstance(left.raw, np.ndarray):
            self._loop(left.raw, right.raw, out)
        else:
            self._call_for_pairs(left, right, out)
        _refuse_non_finite(self.function, out)

    def _call_for_pairs(self, left: RawFeatures, right: RawFeatures, out: Floating) -> None:
        """Call the function for every pair; for a symmetric one on a batch with itself, only above the diagonal."""
        half = self.symmetric and left.is_same(right)
        timed = _deadline.Work(f"{out.size:,} values of {_name(self.function)}", out.size / 2 if half else out.size)
        for i, x in enumerate(left.raw):
            for j in range(i + 1 if half else 0, len(right)):
                out[i, j] = self._value(x, right.raw[j])
                if half:
                    out[j, i] = out[i, j]
                timed.advance()
        if half:
            np.fill_diagonal(out, self._own(left))

    def _told(self, left: Any, right: Any) -> str:
        return f"the pair {_shown(left)} and {_shown(right)}"

    def _own(self, features: RawFeatures) -> Float64:
        own = np.full(len(features), np.nan) if features.own is None else features.own
        for i in np.flatnonzero(np.isnan(own)):
            x = features.raw[i]
            own[i] = self._value(x, x)
        return own

    def diagonal(self, features: RawFeatures, state: State) -> Float64:
        values = self._own(features)
        _refuse_non_finite(self.function, values.reshape(1, -1))
        return values.copy()

    def _value(self, x: Any, z: Any) -> float:
        known = calls_of(self, self.symmetric)
        return self._computed(x, z) if known is None else known.value(x, z, self._computed)

    def _computed(self, x: Any, z: Any) -> float:
        value = self._called(x, z)
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise KernelError(
                f"The kernel function {_name(self.function)} must return one number per pair; it returned "
                f"{type(value).__name__} for {self._told(x, z)}."
            ) from error


def _refuse_non_finite(function: Callable[[Any, Any], Any], block: Any) -> None:
    if not np.isfinite(block).all():
        i, j = np.argwhere(~np.isfinite(block))[0]
        raise KernelError(
            f"The kernel function {_name(function)} returned {block[i, j]} for the pair ({i}, {j}) of a block. "
            "A kernel must give a finite number for every pair."
        )


def _shown(item: Any) -> str:
    """An object as text, shortened for messages."""
    try:
        text = " ".join(repr(item).split())
    except Exception:  # its class fails even there
        text = f"<{type(item).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _name(function: object) -> str:
    return str(getattr(function, "__name__", repr(function)))
