"""What the columns of a feature space are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mercer.inputs.base import Objects
from mercer.kernels.algebra.constant import Constant
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.kernels.algebra.tables import OnColumns
from mercer.kernels.algebra.through import Through
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.feature_map import has_feature_map
from mercer.kernels.features.space import FeatureSpace, plain_features
from mercer.kernels.features.vocabulary import Vocabulary


def feature_names(space: FeatureSpace, objects: Objects, columns: Sequence[str] | None = None) -> tuple[Any, ...]:
    """A name for each column of the space of these objects, of which one is enough.

    Numbers are called as their columns are (by `columns`, or by their place), monomials by their factors, and features
    that are counted by their hexadecimal ids.

    >>> from mercer import kernels
    >>> from mercer.kernels.features.space import FeatureSpace
    >>> fitted = (kernels.Linear() + kernels.Polynomial(degree=2, coef0=0.0)).fit([[1.0, 2.0]])
    >>> rows = fitted.coerce([[1.0, 2.0]])
    >>> feature_names(FeatureSpace.of(fitted, rows)[0], rows)
    (0, 1, 'x0^2', 'x0 x1', 'x1^2')
    """
    one = objects.take(slice(0, 1))
    return tuple(_names(space.fitted.kernel, space.fitted.state, one, iter(space.words), columns))


def _names(
    kernel: Kernel, state: State, one: Objects, words: Iterator[Vocabulary], columns: Sequence[str] | None
) -> Iterator[Any]:
    """In the order in which the feature space has them."""
    if has_feature_map(kernel):
        yield from (f"{int(name):016x}" for name in next(words).names)
    elif isinstance(kernel, Sum):
        for term, own in zip(kernel.terms, state.parts, strict=True):
            yield from _names(term, own, one, words, columns)
    elif isinstance(kernel, Scaled | Normalised):
        yield from _names(kernel.kernel, state.parts[0], one, words, columns)
    elif isinstance(kernel, Through):
        chosen = kernel.columns if isinstance(kernel, OnColumns) else None
        yield from _names(kernel.kernel, state.parts[0], kernel.images(one), words, chosen)
    else:
        yield from _plain_names(kernel, state, one, columns)


def _plain_names(kernel: Kernel, state: State, one: Objects, columns: Sequence[str] | None) -> Sequence[Any]:
    from mercer.kernels.vectors.linear import Linear
    from mercer.kernels.vectors.polynomial import Polynomial

    width = int(plain_features(kernel, state, one).shape[1])
    if isinstance(kernel, Linear):
        return range(width) if columns is None or len(columns) != width else columns
    if isinstance(kernel, Constant):
        return ("1",)
    own: Any = kernel
    if isinstance(kernel, Polynomial):
        return tuple(own.feature_matrix(one, columns, state=state).names)
    if hasattr(kernel, "feature_matrix"):
        return tuple(own.feature_matrix(one, columns).names)
    return range(width)
