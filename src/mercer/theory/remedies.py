"""What can be done about a matrix that is not positive semi-definite, and what each remedy does to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.gram.contract import Gram
from mercer.gram.spectrum import lowest_pair, lowest_values
from mercer.kernels.base import Kernel
from mercer.theory.witness import lowest_eigenvalue

_HALVINGS = 8  # of a decay, to 0.4 % of it: smaller ones leave nothing but the diagonal
_PROBES, _LOWEST, _SAMPLE = 16, 32, 600
"""For large matrices: random vectors for their length, lowest eigenvalues, and objects to try a smaller decay on. More
make the figures better and take longer."""
_INERTIA = (
    "k(x, z) / sqrt(k(x, x) k(z, z)) keeps the number of negative eigenvalues (Sylvester's law of inertia): it puts "
    "objects on one scale, and repairs nothing."
)
_DAMPED = "lambda k(x, z) between different objects with lambda <= {:.4g}, and k(x, x) as it is."


Refit = tuple[Kernel, Callable[[Kernel, Indices], Float64]]
"""The kernel, and a function from another kernel and the positions of some objects to the matrix of these."""


@final
@dataclass(frozen=True)
class Remedy:
    """One way out: what it does, the smallest eigenvalue afterwards, and how much of the matrix it changes."""

    name: str
    smallest: float
    change: float
    """|K' - K| / |K| (Frobenius); of `normalise`, against the matrix of cosines before."""
    works: bool
    meaning: str
    by: str = ""
    """How the figures were found where not all eigenvalues are known."""

    def __str__(self) -> str:
        verdict = "works" if self.works else "does not help"
        effect = f"smallest eigenvalue {self.smallest:.3g}, changes {self.change:.2%}"
        return f"{self.name}: {verdict}; {effect}{f' ({self.by})' if self.by else ''}. {self.meaning}"


def remedies_for(K: Float64, eigenvalues: Float64, tolerance: float, refit: Refit | None) -> Iterator[Remedy]:
    """Every remedy, tried on this matrix."""
    length = float(np.linalg.norm(eigenvalues))
    share = float(np.linalg.norm(np.minimum(eigenvalues, 0.0))) / length
    yield from _moved(share, float(eigenvalues[0]), float(np.abs(eigenvalues).min()), length, len(K))
    own = np.diagonal(K)
    if (own > 0).all():
        yield _normalised(K, own, tolerance)
        yield _damped(K, own)
    if refit is not None:
        yield from _smaller_decay(K, tolerance, refit, np.arange(len(K)))


def remedies_by_products(
    gram: Gram, lowest: float, vector: Float64, tolerance: float, rng: np.random.Generator, refit: Refit | None
) -> Iterator[Remedy]:
    """The same for a matrix that is too large to decompose, by its products with vectors.

    Lanczos iterations find its lowest eigenvalues, random vectors its length (Hutchinson); a smaller decay is tried on
    a sample of the objects. `vector` belongs to the `lowest` eigenvalue.
    """
    product, diagonal = gram.matvec, gram.diagonal()
    n = len(diagonal)
    probes = rng.choice((-1.0, 1.0), size=(_PROBES, n))
    length = float(np.sqrt(np.mean([float(np.square(product(probe)).sum()) for probe in probes])))
    values = np.minimum(lowest_values(product, n, _LOWEST, rng), 0.0)
    values[0] = min(float(values[0]), lowest)
    least = "" if values[-1] == 0.0 else "at least "  # more may be negative than were looked for
    by = f"{least}by {_LOWEST} Lanczos values"
    share = min(float(np.linalg.norm(values)) / length, 1.0)
    for remedy in _moved(share, lowest, 0.0, length, n):
        yield dataclasses.replace(remedy, by=by)
    if (diagonal > 0).all():
        root = np.sqrt(diagonal)
        cosine = float(lowest_pair(lambda v: product(v / root) / root, n, rng)[0])
        cosine = min(cosine, lowest / float(diagonal.max()))  # v'Kv < 0 stays so, divided by lengths
        yield Remedy("normalise", cosine, 0.0, cosine >= -tolerance / float(diagonal.max()), _INERTIA, by)
        factor = min(1.0, 1.0 / (1.0 - cosine))
        off = max(length**2 - float(np.square(diagonal).sum()), 0.0) ** 0.5
        yield Remedy("smaller lambda", 0.0, (1.0 - factor) * off / length, True, _DAMPED.format(factor), by)
    if refit is not None:
        heaviest = np.argsort(-np.abs(vector), kind="stable")[: _SAMPLE // 2]
        ids = np.unique(np.concatenate([heaviest, rng.choice(n, size=min(n, _SAMPLE // 2), replace=False)]))
        for remedy in _smaller_decay(gram.view(ids).exact(), tolerance, refit, ids):
            yield dataclasses.replace(remedy, by=f"tried on {len(ids)} of {n:,} objects")


def _moved(share: float, lowest: float, flipped: float, length: float, n: int) -> Iterator[Remedy]:
    """Remedies that move eigenvalues alone; `share` is the length of the negative ones beside that of all."""
    meaning = "Negative eigenvalues {}. New objects must be mapped too."
    yield Remedy("clip", 0.0, share, True, meaning.format("become 0: the nearest such matrix"))
    yield Remedy("flip", flipped, 2 * share, True, meaning.format("change sign: what they say is kept"))
    shifted = -lowest * np.sqrt(n) / length
    added = f"{-lowest:.3g} is added to every k(x, x), so each object is more like itself; new objects need nothing."
    yield Remedy("shift", 0.0, float(shifted), True, f"{added} Like a larger ridge.")


def _normalised(K: Float64, own: Float64, tolerance: float) -> Remedy:
    root = np.sqrt(own)
    after = lowest_eigenvalue(K / np.outer(root, root))
    return Remedy("normalise", after, 0.0, after >= -tolerance / float(own.max()), _INERTIA)


def _damped(K: Float64, own: Float64) -> Remedy:
    """D + lambda (K - D) is positive semi-definite up to the lambda at which 1 + lambda * lowest vanishes."""
    root = np.sqrt(own)
    off = K / np.outer(root, root)
    np.fill_diagonal(off, 0.0)
    factor = min(1.0, -1.0 / min(lowest_eigenvalue(off), -1e-300))
    damped = factor * K
    np.fill_diagonal(damped, own)
    after = lowest_eigenvalue(damped)
    change = float(np.linalg.norm(damped - K) / np.linalg.norm(K))
    return Remedy("smaller lambda", after, change, True, _DAMPED.format(factor))


def _smaller_decay(K: Float64, tolerance: float, refit: Refit, ids: Indices) -> Iterator[Remedy]:
    """Kernels that damp long walks, gaps or fragments by a factor: halve it until the matrix is in order."""
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
