"""What two objects have in common: contributions that add up to k(x, z).

Kernels that count are split by features: k(x, z) = sum_f phi_f(x) phi_f(z). Kernels that are computed by recursions
have too many features: their values are split by where common parts end. With F(i, j) the value between the first i
symbols of x and the first j of z, the mixed difference F(i, j) - F(i-1, j) - F(i, j-1) + F(i-1, j-1) is the
contribution of pairs of common parts that end at symbol i and symbol j; over all i and j these differences add up to
k(x, z), for any kernel. Trees are split by subtrees and their children, sets element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import InputError, KernelError, MercerError
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.ragged import offsets_of
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors, is_sparse
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.features.space import FeatureSpace
from mercer.theory.arguments import kernel_of
from mercer.theory.mercer import whole_matrix

MOST_SYMBOLS = 150
"""The most symbols of a string that is split by recursion, which takes a kernel value for every pair of prefixes."""
_EXACT = 1e-9
"""How closely contributions must add up to the kernel value, relative to it."""


Known = tuple[float, tuple[float, float]]
"""k(x, z), and k(x, x) with k(z, z)."""


@final
@dataclass(frozen=True, eq=False)
class Shared:
    """Contributions that add up to `value`, the largest first; and what each part of either object adds.

    `left` and `right` are the parts of the two objects (symbols, nodes ...) with their shares, empty if features have
    no positions in objects. `how` says what the names are: "features", "ends" of common parts (positions and symbols in
    both), "roots" of common fragments (nodes in postorder), "elements", or "columns"; "whole" has none.
    """

    value: float
    norms: tuple[float, float]
    """k(x, x) and k(z, z)."""
    how: str
    names: tuple[Any, ...]
    contributions: Float64
    left: tuple[tuple[Any, float], ...] = ()
    right: tuple[tuple[Any, float], ...] = ()

    @property
    def cosine(self) -> float:
        """The normalised kernel value."""
        scale = float(np.sqrt(self.norms[0]) * np.sqrt(self.norms[1]))
        return self.value / scale if scale > 0 else 0.0


def shared(kernel: Any, x: Any, z: Any) -> Shared:
    """What x and z have in common, by a kernel that counts, aligns or multiplies.

    >>> from mercer import kernels, shared
    >>> found = shared(kernels.Spectrum(p=2), "banana", "bandana")
    >>> found.value, [(name, float(part)) for name, part in zip(found.names, found.contributions)]
    (7.0, [('an', 4.0), ('na', 2.0), ('ba', 1.0)])
    >>> sum(share for _, share in found.left)
    7.0
    """
    chosen: Kernel = kernel_of("shared", kernel)
    fitted, objects, known = _compared(chosen, x, z)
    for split in (_by_features, _by_columns, _by_recursion):
        found = split(fitted, objects, x, z, known)
        if found is not None and _adds_up(found):
            return _sorted(found)
    raise KernelError(
        f"Values of {chosen} cannot be split: it has no explicit features. Kernels that count or align (on "
        "strings, sets, trees, graphs and documents), dot products, polynomials and sums over columns can be."
    )


def unsplit(kernel: Kernel, x: Any, z: Any) -> Shared:
    """The value alone, for a kernel that cannot be split."""
    return Shared(*_compared(kernel, x, z)[2], "whole", (), np.zeros(0))


def _compared(kernel: Kernel, x: Any, z: Any) -> tuple[FittedKernel, Objects, Known]:
    objects = kernel.coerce(_pair(x, z))
    fitted = kernel.fit(objects)
    K = whole_matrix(fitted, objects)
    return fitted, objects, (float(K[0, 1]), (float(K[0, 0]), float(K[1, 1])))


def _pair(x: Any, z: Any) -> Any:
    if isinstance(x, Mapping) and isinstance(z, Mapping) and set(x) == set(z) and "edges" not in x:
        return {name: [x[name], z[name]] for name in x}  # rows of a table
    return [x, z]


def _adds_up(found: Shared) -> bool:
    total = float(found.contributions.sum())
    scale = max(abs(found.value), float(np.abs(found.contributions).sum()), np.finfo(float).tiny)
    return abs(total - found.value) <= _EXACT * scale


def _sorted(found: Shared) -> Shared:
    order = np.argsort(-np.abs(found.contributions), kind="stable")
    order = order[found.contributions[order] != 0]
    names = tuple(found.names[place] for place in order)
    return Shared(found.value, found.norms, found.how, names, found.contributions[order], found.left, found.right)


def _by_features(fitted: FittedKernel, objects: Objects, x: Any, z: Any, known: Known) -> Shared | None:
    """Features that both have, with the product of their values."""
    if fitted.feature_map() is None:
        return None
    space, rows = FeatureSpace.of(fitted, objects)
    dense = np.asarray(rows.todense() if is_sparse(rows) else rows, dtype=np.float64)
    both = dense[0] * dense[1]
    places = np.flatnonzero(both)
    # Coordinates are named as in monomials, which distinguishes them from features known only by their number.
    coordinates = [f"x{place}" for place in range(objects.n_features)] if isinstance(objects, Vectors) else None
    names = space.names(objects, coordinates)
    sides = [_shares(space, objects, own, dense[1 - own]) for own in (0, 1)]
    return Shared(*known, "features", tuple(names[place] for place in places), both[places], sides[0], sides[1])


def _shares(space: FeatureSpace, objects: Objects, own: int, weights: Float64) -> tuple[tuple[Any, float], ...]:
    """What each part of one object adds, if features have positions; the features of the other are the weights."""
    if not space.words:
        return ()
    found = space.features.shares(objects.take(slice(own, own + 1)), space.weigh(weights[:, None]))
    if found is None:
        return ()
    return tuple(zip(found.parts, (float(share) for share in found.contributions[:, 0]), strict=True))


def _by_columns(fitted: FittedKernel, objects: Objects, x: Any, z: Any, known: Known) -> Shared | None:
    """The summands of a kernel on a table, each on its columns."""
    parts = fitted.kernel.on_columns
    if not parts:
        return None
    values = np.array([float(whole_matrix(part.fit(objects), objects)[0, 1]) for part in parts])
    return Shared(*known, "columns", tuple(str(part) for part in parts), values)


def _by_recursion(fitted: FittedKernel, objects: Objects, x: Any, z: Any, known: Known) -> Shared | None:
    kind = fitted.kernel.domain.kind
    if kind in ("strings", "time series"):
        return _by_prefixes(fitted, x, z, known)
    if kind == "trees":
        return _by_subtrees(fitted, objects, known)
    return _by_elements(fitted, x, z, known) if kind == "sets" else None


def _by_prefixes(fitted: FittedKernel, x: Any, z: Any, known: Known) -> Shared:
    """Pairs of symbols at which common parts end."""
    if max(len(x), len(z)) > MOST_SYMBOLS:
        raise InputError(
            f"Strings of more than {MOST_SYMBOLS} symbols take too long to split by this kernel: got {len(x)} and "
            f"{len(z)}."
        )
    F = np.zeros((len(x) + 1, len(z) + 1))
    try:
        F[:] = _across(fitted, [x[:end] for end in range(len(x) + 1)], [z[:end] for end in range(len(z) + 1)])
    except MercerError:  # empty strings cannot be compared, and add nothing
        F[1:, 1:] = _across(fitted, [x[: end + 1] for end in range(len(x))], [z[: end + 1] for end in range(len(z))])
    ends = np.diff(np.diff(F, axis=0), axis=1)
    # The contribution of empty prefixes (such as a common empty part) has no symbol, and is listed separately.
    outside = F[-1, -1] - float(ends.sum())
    places = np.argwhere(ends != 0)
    names = [(int(i), int(j), _symbol(x, i), _symbol(z, j)) for i, j in places]
    amounts = np.array([*(ends[i, j] for i, j in places), outside])
    sides = (
        tuple((_symbol(one, place), float(share)) for place, share in enumerate(ends.sum(axis=axis)))
        for one, axis in ((x, 1), (z, 0))
    )
    return Shared(*known, "ends", (*names, "empty parts"), amounts, *sides)


def _symbol(one: Any, place: int) -> Any:
    found = one[int(place)]
    return found.tolist() if isinstance(found, np.ndarray | np.generic) else found


def _by_subtrees(fitted: FittedKernel, objects: Any, known: Known) -> Shared:
    """Pairs of nodes at which common fragments are rooted."""
    batches, lowers = zip(*(_subtrees(objects.take(slice(own, own + 1))) for own in (0, 1)), strict=True)
    F = gram_of(fitted, batches[0], batches[1], dtype=np.float64).exact()
    rooted = lowers[0] @ F @ lowers[1].T
    places = np.argwhere(rooted != 0)
    names = tuple((int(i), int(j)) for i, j in places)
    sides = (tuple((place, float(share)) for place, share in enumerate(rooted.sum(axis=axis))) for axis in (1, 0))
    return Shared(*known, "roots", names, np.array([rooted[i, j] for i, j in places]), *sides)


def _subtrees(tree: Trees) -> tuple[Trees, Float64]:
    """The subtree below each node, in postorder, and the matrix that subtracts those of its children."""
    sizes: list[int] = []
    waiting: list[int] = []
    lower = np.eye(len(tree.arities))
    for node, arity in enumerate(tree.arities.tolist()):
        children = [waiting.pop() for _ in range(arity)]
        lower[node, children] -= 1.0
        sizes.append(1 + sum(sizes[child] for child in children))
        waiting.append(node)
    spans: list[Indices] = [np.arange(node + 1 - size, node + 1) for node, size in enumerate(sizes)]
    rows = np.concatenate(spans)
    return Trees(offsets_of(sizes), tree.labels[rows], tree.arities[rows]), lower


def _by_elements(fitted: FittedKernel, x: Any, z: Any, known: Known) -> Shared:
    """Common elements, each with its contribution when sets grow element by element: the mean of both orders."""
    both = [one for one in dict.fromkeys(x) if one in set(z)]
    rest = [one for one in dict.fromkeys([*x, *z]) if one not in set(both)]
    amounts = np.zeros(len(both) + 1)
    for order in (both, both[::-1]):
        grown = [[*rest, *order[:end]] for end in range(len(order) + 1)]
        left, right = ([[one for one in own if one in set(part)] for part in grown] for own in (x, z))
        values = np.array([float(_across(fitted, [a], [b])[0, 0]) for a, b in zip(left, right, strict=True)])
        for place, step in zip(order, np.diff(values), strict=True):
            amounts[both.index(place)] += step / 2
        amounts[-1] += values[0] / 2
    sides = tuple((one, float(share)) for one, share in zip(both, amounts[:-1], strict=True))
    return Shared(*known, "elements", (*both, "elements in one or neither"), amounts, sides, sides)


def _across(fitted: FittedKernel, left: Sequence[Any], right: Sequence[Any]) -> Float64:
    coerce: Callable[[Any], Objects] = fitted.kernel.coerce
    return gram_of(fitted, coerce(list(left)), coerce(list(right)), dtype=np.float64).exact()
