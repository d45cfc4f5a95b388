"""Remedies for a matrix that is not positive semi-definite, and the effect of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.gram.contract import Gram
from mercer.gram.spectrum import lowest_pair, lowest_values
from mercer.kernels.base import Kernel
from mercer.theory.witness import lowest_eigenvalue

_HALVINGS = 8  # halvings of a decay, to 0.4 % of it: smaller ones leave only the diagonal
_PROBES, _LOWEST, _SAMPLE = 16, 32, 600
"""For large matrices: random vectors for the norm, lowest eigenvalues, and objects to try a smaller decay on. More give
better estimates, but take longer."""
_INERTIA = (
    "k(x, z) / sqrt(k(x, x) k(z, z)) keeps the number of negative eigenvalues (Sylvester's law of inertia): it puts "
    "objects on a common scale, but repairs nothing."
)
_DAMPED = "lambda k(x, z) between different objects with lambda <= {:.4g}, and k(x, x) as it is."


Refit = tuple[Kernel, Callable[[Kernel, Indices], Float64]]
"""The kernel, and a function from another kernel and the positions of some objects to the matrix of these."""


@final
@dataclass(frozen=True)
class Remedy:
    """One remedy: its meaning, the smallest eigenvalue afterwards, and how much it changes the matrix."""

    name: str
    smallest: float
    change: float
    """|K' - K| / |K| (Frobenius); for `normalise`, relative to the previous matrix of cosines."""
    works: bool
    meaning: str
    by: str = ""
    """How the figures were found if not all eigenvalues are known."""

    def __str__(self) -> str:
        verdict = "works" if self.works else "does not help"
        effect = f"smallest eigenvalue {self.smallest:.3g}, changes {self.change:.2%}"
        return f"{self.name}: {verdict}; {effect}{f' ({self.by})' if self.by else ''}. {self.meaning}"


def remedies_for(K: Float64, eigenvalues: Float64, tolerance: float, refit: Refit | None) -> Iterator[Remedy]:
    """Every remedy, tried on this matrix."""
    own = np.diagonal(K)
    cosine = None
    if (own > 0).all():
        root = np.sqrt(own)
        cosine = lowest_eigenvalue(K / np.outer(root, root))
    lowest, flipped = float(eigenvalues[0]), float(np.abs(eigenvalues).min())
    length, negative = float(np.linalg.norm(eigenvalues)), float(np.linalg.norm(np.minimum(eigenvalues, 0.0)))
    yield from _of_spectrum(own, lowest, flipped, (length, negative), cosine, tolerance)
    if refit is not None:
        yield from _smaller_decay(K, tolerance, refit, np.arange(len(K)))


def remedies_by_products(
    gram: Gram, lowest: float, vector: Float64, tolerance: float, rng: np.random.Generator, refit: Refit | None
) -> Iterator[Remedy]:
    """The same for a matrix that is too large to decompose, by its products with vectors.

    Lanczos iterations find its lowest eigenvalues, random vectors its norm (Hutchinson); a smaller decay is tried on a
    sample of the objects. `vector` belongs to the `lowest` eigenvalue.
    """
    product, own = gram.matvec, gram.diagonal()
    n = len(own)
    probes = rng.choice((-1.0, 1.0), size=(_PROBES, n))
    length = float(np.sqrt(np.mean([float(np.square(product(probe)).sum()) for probe in probes])))
    values = np.minimum(lowest_values(product, n, _LOWEST, rng), 0.0)
    values[0] = min(float(values[0]), lowest)
    least = "" if values[-1] == 0.0 else "at least "  # eigenvalues that were not computed may also be negative
    cosine = None
    if (own > 0).all():
        root = np.sqrt(own)
        cosine = float(lowest_pair(lambda v: product(v / root) / root, n, rng)[0])
        cosine = min(cosine, lowest / float(own.max()))  # v'Kv stays negative when divided by lengths
    lengths = length, min(float(np.linalg.norm(values)), length)
    for remedy in _of_spectrum(own, lowest, 0.0, lengths, cosine, tolerance):
        yield replace(remedy, by=f"{least}by {_LOWEST} Lanczos values")
    if refit is not None:
        heaviest = np.argsort(-np.abs(vector), kind="stable")[: _SAMPLE // 2]
        ids = np.unique(np.concatenate([heaviest, rng.choice(n, size=min(n, _SAMPLE // 2), replace=False)]))
        for remedy in _smaller_decay(gram.view(ids).exact(), tolerance, refit, ids):
            yield replace(remedy, by=f"tried on {len(ids)} of {n:,} objects")


def _of_spectrum(
    own: Float64, lowest: float, flipped: float, lengths: tuple[float, float], cosine: float | None, tolerance: float
) -> Iterator[Remedy]:
    """Remedies that the spectrum decides.

    `own` is the diagonal. `lowest` is the lowest eigenvalue, and `flipped` that of the matrix with signs changed;
    `lengths` are the norms of all eigenvalues and of the negative ones. `cosine` is the lowest eigenvalue of the matrix
    of cosines, if there is one.
    """
    length, negative = lengths[0], lengths[1] / lengths[0]
    mapped = "Negative eigenvalues {}. New objects must be mapped too."
    yield Remedy("clip", 0.0, negative, True, mapped.format("become 0: the nearest such matrix"))
    yield Remedy("flip", flipped, 2 * negative, True, mapped.format("change sign: their information is kept"))
    shifted = float(-lowest * np.sqrt(len(own)) / length)
    added = f"{-lowest:.3g} is added to every k(x, x), so each object is more like itself; new objects need nothing."
    yield Remedy("shift", 0.0, shifted, True, f"{added} Like a larger ridge.")
    if cosine is not None:
        yield Remedy("normalise", cosine, 0.0, cosine >= -tolerance / float(own.max()), _INERTIA)
        # D + lambda (K - D) is positive semi-definite up to the lambda at which 1 + lambda (cosine - 1) vanishes.
        factor = min(1.0, 1.0 / (1.0 - cosine))
        off = max(length**2 - float(np.square(own).sum()), 0.0) ** 0.5
        yield Remedy("smaller lambda", 0.0, (1.0 - factor) * off / length, True, _DAMPED.format(factor))


def _smaller_decay(K: Float64, tolerance: float, refit: Refit, ids: Indices) -> Iterator[Remedy]:
    """For kernels that damp long walks, gaps or fragments by a factor: halve that factor until no eigenvalue is
    negative.
    """
    kernel, matrix = refit
    for path, value in kernel.get_params().items():
        if path.rpartition("__")[2] != "decay" or not isinstance(value, float):
            continue
        found: Any = None
        for halving in range(1, _HALVINGS + 1):
            try:
                found = matrix(kernel.with_params(**{path: value / 2**halving}), ids)
            except MercerError:
                return
            after = lowest_eigenvalue(found)
            scale = float(np.abs(np.diagonal(found)).sum() / max(np.abs(np.diagonal(K)).sum(), 1e-300))
            if after >= -tolerance * scale:
                change = float(np.linalg.norm(found - K) / np.linalg.norm(K))
                yield Remedy(f"smaller {path}", after, change, True, f"{path} = {value / 2**halving:.4g} instead of "
                             f"{value:.4g}.")  # fmt: skip
                return
