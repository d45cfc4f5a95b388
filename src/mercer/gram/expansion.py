"""The fitted machine: f(x) = sum over support objects of coefficient * k(support, x), plus an intercept.

Where the features of the kernel can be written down, f(x) = sum_i b_i <phi(x_i), phi(x)> = <w, phi(x)> with
w = sum_i b_i phi(x_i). Then scoring an object costs as much as computing its features, however many support objects
there are. Training without a Gram matrix gives `Weights`: w itself, of the features that the objects are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._cached import cached_property
from mercer._process import single_threaded_blas
from mercer._types import DType, Float64, Indices
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram import cost, journal
from mercer.gram.block_rows import rows_of_features
from mercer.gram.executors import Threads, elsewhere
from mercer.gram.make import Compared, gram_of
from mercer.gram.pair_products import columns_of_groups, pair_products, worth_grouping
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import numbers_of
from mercer.kernels.base import FittedKernel
from mercer.kernels.features.space import FeatureSpace, entries_per_object


@final
@dataclass(frozen=True, eq=False)
class Expansion:
    """Support objects, their coefficients (one column per output), and the intercepts.

    Prediction is one product of K(new, support) with all columns. If the kernel has explicit features and there are
    many support objects, these are first folded into weights of features, once.
    """

    kernel: FittedKernel
    support: Objects
    coefficients: Float64
    intercept: Float64
    weights: Float64 | None = None
    """sum_i c_i phi(x_i), if training computed it; otherwise computed when needed."""
    groups: Indices | None = None
    """If outputs belong to pairs of groups of support objects, which are stored side by side: the size of each
    group."""

    def __post_init__(self) -> None:
        # So sums have the same bits whether the coefficients come from training or from a file.
        object.__setattr__(self, "coefficients", np.ascontiguousarray(self.coefficients))

    def __call__(self, objects: Any, dtype: DType | None = None) -> Float64:
        """Decision values, of shape (objects, outputs); `dtype` is the precision of kernel values, if asked for."""
        new = objects if isinstance(objects, Objects) else self.kernel.coerce(objects)
        if isinstance(new, Streamed):
            executor = journal.kept(new.executor or elsewhere() or Threads())
            return np.concatenate(executor.reduce(_Scored(self, new, dtype), range(len(new.blocks)), operator.add))
        values = np.zeros((len(new), self.coefficients.shape[1]))
        if self._folded is not None:
            numbers = numbers_of(new)  # from which features are made: columns, or products of them
            features = numbers if self.kernel.kernel.is_linear else numbers**2
            with single_threaded_blas(len(new) * values.shape[1] * features or math.inf):
                values = self._folded(new)
        elif len(self.support):
            numbers = max(self._compared.objects.nbytes / 8, self.coefficients.size)
            with single_threaded_blas(len(new) * numbers):  # once: for few objects it takes longer than their values
                gram = gram_of(self.kernel, new, self._compared, dtype=dtype)
                if self._layout is None or self.groups is None:
                    values = gram.matvec(self.coefficients)
                else:
                    values = pair_products(gram, self._layout, self.groups)
        values += self.intercept
        return values

    @cached_property
    def _compared(self) -> Compared:
        return Compared(self.support)

    @cached_property
    def _layout(self) -> Float64 | None:
        """The coefficients of each support object against other groups, if most coefficients are zero."""
        if self.groups is None or not worth_grouping(len(self.support), len(self.groups)):
            return None
        columns = columns_of_groups(len(self.groups)).repeat(self.groups, axis=0)
        return np.take_along_axis(self.coefficients, columns, axis=1)

    def condensed(self) -> Expansion:
        """The same function over fewer objects, if the features of the kernel allow it; otherwise this expansion."""
        features = self.kernel.feature_map()
        if features is None or not features.in_blocks:
            return self
        found = features.condensed(self._weights())
        return self if found is None else Expansion(*found, self.intercept)

    def _weights(self) -> Float64:
        """sum_i c_i phi(x_i), for features that are best computed in blocks."""
        if self.weights is not None:
            return self.weights
        rows = rows_of_features(self.kernel, self.support, hold=False)
        return np.asarray(rows.T @ self.coefficients, dtype=np.float64)

    @cached_property
    def _folded(self) -> Callable[[Objects], Float64] | None:
        if not len(self.support):
            return None
        nothing = np.zeros_like(self.intercept)
        brief = Expansion(self.kernel, self.support, self.coefficients, nothing, self.weights).condensed()
        if brief.support is not self.support:
            return brief
        return folded(self.kernel, self.support, self.coefficients)

    def __getstate__(self) -> dict[str, Any]:
        made = ("_folded", "_layout", "_compared")  # once more, since that is quick
        return {name: value for name, value in self.__dict__.items() if name not in made}


@final
@dataclass(frozen=True, eq=False)
class _Scored:
    """Decision values of the objects of a block, as the task of a pass."""

    machine: Expansion
    objects: Streamed
    dtype: DType | None

    def __call__(self, number: int) -> list[Float64]:
        return [self.machine(self.objects.block(number), self.dtype)]


@final
@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the features (one row per output) and intercepts; the twin of `Expansion` for the linear kernel.

    >>> Weights(np.array([[1.0, -1.0]]), np.array([0.5]))(np.array([[2.0, 1.0]]))
    array([[1.5]])
    """

    coef: Float64
    intercept: Float64

    def __call__(self, rows: Any) -> Float64:
        """Decision values, of shape (rows, outputs), of dense or CSR rows."""
        with single_threaded_blas(rows.shape[0] * self.coef.size):
            return np.asarray(rows @ self.coef.T + self.intercept, dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class _FeatureWeights:
    """Weights over the columns of a feature space, one column per output."""

    space: FeatureSpace
    weights: Float64

    def __call__(self, objects: Objects) -> Float64:
        return np.vstack([np.asarray(rows @ self.weights) for rows in self.space.blocks(objects)])


def folded(fitted: FittedKernel, support: Objects, coefficients: Float64) -> Callable[[Objects], Float64] | None:
    """The machine as weights of features; None if the kernel has no explicit features, or if it does not pay off."""
    try:
        if pays(fitted, support, coefficients.shape[1]):
            return _FeatureWeights(*FeatureSpace.folded(fitted, support, coefficients))
    except (KernelError, MemoryBudgetError):  # too many features to write down
        pass
    return None


def pays(fitted: FittedKernel, support: Objects, outputs: int) -> bool:
    """Whether scoring as many new objects as there are support objects is faster by weights, including the folding."""
    features, count, write = fitted.feature_map(), len(support), not fitted.kernel.is_linear
    if features is None or not count:
        return False
    entries: float = features.columns_at_least(support)
    if 2.0 * cost.of_folded(entries, outputs, write=write) > cost.of_support(count, numbers_of(support), outputs):
        return False  # known before any feature is computed
    entries = entries or entries_per_object(fitted, support)
    width = numbers_of(support) or entries * cost.READ / cost.MULTIPLY  # counts are compared one by one
    return 2.0 * cost.of_folded(entries, outputs, write=write) <= cost.of_support(count, width, outputs)


def weights_of_columns(machine: Expansion, sign: float = 1.0) -> Any:
    """One weight per column, for a machine with the linear kernel; read-only, and CSR if its vectors are."""
    support: Any = machine.support
    weights = (sign * machine.coefficients.T) @ support.values
    if not support.is_sparse:
        weights.flags.writeable = False  # because changing it would have no effect
        return weights
    import scipy.sparse as sp

    sparse = sp.csr_array(weights)
    sparse.data.flags.writeable = False
    return sparse
