"""Trees of kernels, twice: as the library builds them, and as matrices by plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from mercer import kernels
from mercer.kernels import Kernel

Tree = tuple[Any, ...]


def build(tree: Tree) -> Kernel:
    """The kernel that a tree stands for, by the operators and functions that users write."""
    name, *rest = tree
    if name == "linear":
        return kernels.Linear()
    if name == "poly":
        return kernels.Polynomial(degree=rest[0], coef0=rest[1])
    if name == "rbf":
        return kernels.RBF(gamma=rest[0])
    if name == "constant":
        return kernels.Constant(rest[0])
    if name == "plus":
        return build(rest[0]) + rest[1]
    inner = build(rest[0])
    if name == "sum":
        return inner + build(rest[1])
    if name == "product":
        return inner * build(rest[1])
    if name == "scale":
        return rest[1] * inner
    if name == "power":
        return inner ** rest[1]
    if name == "polynomial":
        return kernels.PolynomialOf(inner, rest[1])
    if name == "normalise":
        return kernels.normalise(inner)
    if name == "exp":
        return kernels.exp(kernels.normalise(inner))
    if name == "over":
        return kernels.RBF(gamma=rest[1], over=inner)
    assert name == "centre"
    return kernels.centre(inner)


def matrix(tree: Tree, X: Any, Z: Any, train: Any) -> Any:
    """The values between the rows of X and Z, one formula after another; `train` is what centring averages over."""
    name, *rest = tree
    if name == "linear":
        return X @ Z.T
    if name == "poly":
        return (X @ Z.T + rest[1]) ** rest[0]
    if name == "rbf":
        return np.exp(-rest[0] * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))
    if name == "constant":
        return np.full((len(X), len(Z)), rest[0])
    K = matrix(rest[0], X, Z, train)
    if name == "sum":
        return K + matrix(rest[1], X, Z, train)
    if name == "plus":
        return K + rest[1]
    if name == "product":
        return K * matrix(rest[1], X, Z, train)
    if name == "scale":
        return rest[1] * K
    if name == "power":
        return np.prod(np.stack([np.ones_like(K)] + [K] * rest[1]), axis=0)
    if name == "polynomial":
        return sum(c * K**power for power, c in enumerate(rest[1]))
    if name == "centre":
        rows, columns = matrix(rest[0], X, train, train), matrix(rest[0], train, Z, train)
        both = matrix(rest[0], train, train, train)
        return K - rows.mean(axis=1)[:, None] - columns.mean(axis=0)[None, :] + both.mean()
    own = np.diagonal(matrix(rest[0], X, X, train))[:, None]
    other = np.diagonal(matrix(rest[0], Z, Z, train))[None, :]
    if name == "over":
        return np.exp(-rest[1] * (own + other - 2 * K))
    cosine = K / np.sqrt(own * other)
    return np.exp(cosine) if name == "exp" else cosine


_gammas = st.sampled_from([0.1, 0.5, 2.0])
leaves: st.SearchStrategy[Tree] = st.one_of(
    st.just(("linear",)),
    st.tuples(st.just("poly"), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])),
    st.tuples(st.just("rbf"), _gammas),
    st.tuples(st.just("constant"), st.sampled_from([0.25, 1.0])),
)


def trees(depth: int) -> st.SearchStrategy[Tree]:
    """Trees of at most that depth."""
    if depth == 0:
        return leaves
    below = trees(depth - 1)
    numbers = st.sampled_from([0.25, 0.5, 2.0])
    coefficients = st.lists(numbers | st.just(0.0), min_size=1, max_size=4).filter(any).map(tuple)
    return st.one_of(
        leaves,
        st.tuples(st.just("sum"), below, below),
        st.tuples(st.just("product"), below, below),
        st.tuples(st.just("scale"), below, numbers),
        st.tuples(st.just("plus"), below, numbers),
        st.tuples(st.just("power"), below, st.integers(0, 3)),
        st.tuples(st.just("polynomial"), below, coefficients),
        st.tuples(st.sampled_from(["normalise", "exp"]), below),
        st.tuples(st.just("over"), below, _gammas),
    )
