"""The latent semantic kernel, over any kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from mercer import _check
from mercer._record import integer
from mercer._types import Float64
from mercer.errors import KernelWarning
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.embedding import Embedding, similarities

_NULL = 1e-10
"""Eigenvalues below this fraction of the largest are noise, which dividing by their square roots would amplify."""
_TIE = 1e-9
"""Eigenvalues closer than this, relative to the largest, are equal up to rounding."""
_DENSE = 1500
"""Up to this many objects all eigenvalues are computed; beyond, as many as are needed, by Lanczos iterations."""


@final
@dataclass(frozen=True)
class LatentSemantic(Embedding):
    """The latent semantic kernel: the base kernel in its `k` leading directions on the training objects.

    With (lambda_i, v_i) the leading eigenpairs of the Gram matrix of the training objects x_j, an object has the
    coordinates lambda_i^(-1/2) sum_j v_ij k0(x_j, x), and the kernel is their inner product. Over `VectorSpace` these
    directions are topics, terms that occur together. Any base kernel will do, on any objects.

    Directions with an eigenvalue of 0 are left out. If the k-th eigenvalue is tied with the next, the k-th direction
    would be arbitrary, so all tied ones are kept. Prediction uses all training objects.

    >>> from mercer import kernels
    >>> documents = ["cat sat cat", "cat mat", "dog sat", "dog dog mat"]
    >>> kernels.LatentSemantic(kernels.VectorSpace(), k=2).fit(documents)(["cat sat"], documents).round(6)
    array([[2.906662, 1.363239, 0.531188, 0.158586]])
    """

    kernel: Kernel
    k: int = integer(100, low=1)

    reason = "it is an inner product of coordinates"
    data_dependent = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.instance("LatentSemantic", "kernel", self.kernel, Kernel, "a kernel")

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Objects) -> State:
        inner = self.kernel.resolve(objects)
        features = self.kernel.features(objects, inner, np.float64)
        gram = similarities(self.kernel, features, features, inner)
        np.fill_diagonal(gram, FittedKernel(self.kernel, inner).diagonal(features))
        values, vectors = _leading(gram, self.k)
        rank = int((values > _NULL * max(float(values[0]), 0.0)).sum()) if values[0] > 0 else 0
        if rank < self.k:
            warnings.warn(
                f"{len(objects)} objects have {rank} directions that are not null, fewer than the k={self.k} asked of "
                f"LatentSemantic: {rank} are used.",
                KernelWarning,
                stacklevel=4,
            )
        kept = min(rank, self.k)
        while 0 < kept < rank and values[kept - 1] - values[kept] <= _TIE * values[0]:
            kept += 1
        if kept > self.k:
            warnings.warn(
                f"Eigenvalue {self.k} of the training objects, {values[self.k - 1]:.6g}, equals those up to number "
                f"{kept}: LatentSemantic keeps all {kept} directions. Choose another k.",
                KernelWarning,
                stacklevel=4,
            )
        return State({"eigenvalues": values[:kept], "vectors": vectors[:, :kept]}, (inner,), objects)

    def coordinates(self, objects: Any, state: State) -> Float64:
        (inner,) = state.parts
        values, vectors = state.values["eigenvalues"], state.values["vectors"]
        if objects is state.objects:  # the training objects themselves
            return np.asarray(vectors * np.sqrt(values))
        features = self.kernel.features(objects, inner, np.float64)
        training = self.kernel.features(state.objects, inner, np.float64)
        return np.asarray(similarities(self.kernel, features, training, inner) @ (vectors / np.sqrt(values)))


def _leading(gram: Float64, count: int) -> tuple[Float64, Float64]:
    """Eigenvalues and vectors in descending order, a few more than `count`, to detect a tie at its end."""
    n = len(gram)
    wanted = min(n, count + 1)
    values, vectors = _largest(gram, wanted)
    while wanted < n and values[-1] > 0 and values[count - 1] - values[-1] <= _TIE * values[0]:
        wanted = min(n, 2 * wanted)  # the tie continues: look further
        values, vectors = _largest(gram, wanted)
    return values, vectors


def _largest(gram: Float64, count: int) -> tuple[Float64, Float64]:
    n = len(gram)
    if n <= _DENSE or count > n // 5:
        values, vectors = scipy.linalg.eigh(gram, subset_by_index=(n - count, n - 1))
    else:
        start = np.random.default_rng(0).normal(size=n)  # fixed: the same data give the same kernel
        values, vectors = scipy.sparse.linalg.eigsh(gram, k=count, which="LA", v0=start)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return np.asarray(values[::-1]), np.ascontiguousarray(vectors[:, ::-1])
