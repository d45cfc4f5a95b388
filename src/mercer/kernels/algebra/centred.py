"""Centring in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.base import Batch, Features, FittedKernel, Kernel, State

_ROWS, _COLUMNS = 512, 4096
"""Mean similarities are summed in blocks of 16 MiB, whatever the number of objects."""
_SINGLE_SHARE = 0.05
"""float32 is used only if centring leaves at least this fraction of the largest k(x, x), because of cancellation."""


@final
@dataclass(frozen=True, eq=False)
class CentredFeatures(Batch):
    """The features of a kernel, and the mean similarity of each object."""

    inner: Features
    shift: Float64
    """The mean of k0(x, .) over the training objects, less half the mean over all their pairs."""


@final
@dataclass(frozen=True)
class Centred(OfKernel):
    """The kernel with the mean of the training objects moved to the origin: written ``kernels.centre(kernel)``.

    k(x, z) = k0(x, z) - mean_i k0(x, x_i) - mean_j k0(x_j, z) + mean_ij k0(x_i, x_j), with means over the training
    objects, for new objects too. So a fitted kernel keeps all training objects, and every prediction uses all of them.

    >>> from mercer import kernels
    >>> kernels.centre(kernels.Linear()).fit([[1.0], [3.0]])([[1.0], [3.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    kernel: Kernel

    reason = "it subtracts one vector, the mean, from the features of the kernel"
    formula = r"\operatorname{centre}\left[<kernel>\right]"
    data_dependent = True

    def __post_init__(self) -> None:
        _check.instance("centre", "kernel", self.kernel, Kernel, "a kernel")

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Objects) -> State:
        inner = self.kernel.resolve(objects)
        training = self.kernel.features(objects, inner, np.float64)
        FittedKernel(self.kernel, inner).diagonal(training)  # refuses overflow before any pair is compared
        means = _mean_similarities(self.kernel, training, training, inner)
        half = np.asarray(means.mean() / 2)
        return State({"shift": means - half, "half_mean": half}, (inner,), objects)

    def features(self, objects: Objects, state: State, dtype: DType) -> CentredFeatures:
        (inner,) = state.parts
        exact = self.kernel.features(objects, inner, np.float64)
        if objects is state.objects:  # the training objects themselves, whose means are known
            shift = state.values["shift"]
        else:
            training = self.kernel.features(state.objects, inner, np.float64)
            shift = _mean_similarities(self.kernel, exact, training, inner) - state.number("half_mean")
        kept = exact if dtype is np.float64 else self.kernel.features(objects, inner, dtype)
        return CentredFeatures(kept, shift)

    def align(self, left: CentredFeatures, right: CentredFeatures, state: State) -> tuple[Features, Features]:
        rows, columns = self.kernel.align(left.inner, right.inner, state.parts[0])
        return CentredFeatures(rows, left.shift), CentredFeatures(columns, right.shift)

    def tile(self, left: CentredFeatures, right: CentredFeatures, state: State, out: Floating) -> None:
        self.kernel.tile(left.inner, right.inner, state.parts[0], out)
        _subtract(out, left.shift.astype(out.dtype), right.shift.astype(out.dtype))

    def tile_entries(self, left: CentredFeatures, right: CentredFeatures, state: State) -> int:
        return self.kernel.tile_entries(left.inner, right.inner, state.parts[0])

    def diagonal(self, features: CentredFeatures, state: State) -> Float64:
        with np.errstate(invalid="ignore"):
            values = self.kernel.diagonal(features.inner, state.parts[0]) - 2 * features.shift
        return np.maximum(values, 0.0) if self.psd else values  # a squared length: only rounding goes below zero

    def single_precision(self, features: CentredFeatures, state: State) -> bool:
        before = self.kernel.diagonal(features.inner, state.parts[0]).max(initial=0.0)
        after = self.diagonal(features, state).min(initial=np.inf)
        return bool(after >= _SINGLE_SHARE * before) and self.kernel.single_precision(features.inner, state.parts[0])


def centre(kernel: Kernel) -> Centred:
    """The kernel around the mean of the training objects: `Centred`."""
    return Centred(kernel)


def _mean_similarities(kernel: Kernel, objects: Any, training: Any, state: State) -> Float64:
    """The mean of k(x, .) over the training objects, for each x."""
    rows, columns = kernel.align(objects, training, state)
    totals = np.zeros(len(objects))
    for top in range(0, len(objects), _ROWS):
        left = rows.take(slice(top, top + _ROWS))
        for start in range(0, len(training), _COLUMNS):
            right = columns.take(slice(start, start + _COLUMNS))
            block = np.empty((len(left), len(right)))
            with np.errstate(over="ignore", invalid="ignore"):  # FittedKernel.diagonal reports overflow
                kernel.tile(left, right, state, block)
                totals[top : top + _ROWS] += block.sum(axis=1)
    return totals / len(training)


@jit
def _subtract(tile: Array, left: Array, right: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        shift = left[i]
        for j in range(row.shape[0]):
            row[j] = row[j] - shift - right[j]
