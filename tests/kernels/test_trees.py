"""Mixed trees of sums, products and functions of kernels, against plain NumPy evaluation of the same tree."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.gram.make import gram_of
from tests.oracles.kerneltrees import Tree, build, matrix, trees

A, B, C = kernels.Linear(), kernels.RBF(gamma=0.5), kernels.Polynomial(degree=2)


def points(seed: int, n: int) -> Any:
    # Between a half and one in size, so that powers neither vanish nor explode and no length is zero.
    generator = np.random.default_rng(seed)
    return generator.uniform(0.5, 1.0, (n, 3)) * generator.choice([-1.0, 1.0], (n, 3)) / np.sqrt(3)


def scale(tree: Tree, *batches: Any) -> float:
    return max(float(np.abs(np.diagonal(matrix(tree, X, X, X))).max()) for X in batches)


def cancels(tree: Tree, X: Any) -> bool:
    """Whether a distance inside is a difference of values so large that its rounding shows in the exponential."""
    parts = [part for part in tree[1:] if isinstance(part, tuple) and isinstance(part[0], str)]
    large = tree[0] == "over" and scale(tree[1], X) > 1e4
    return large or any(cancels(part, X) for part in parts)


@settings(max_examples=150, deadline=None)
@given(trees(4), st.integers(0, 5))
def test_mixed_trees_equal_plain_numpy(tree: Tree, seed: int) -> None:
    X, Z = points(seed, 5), points(seed + 100, 4)
    assume(not cancels(tree, np.vstack([X, Z])))
    kernel = build(tree)
    fitted = kernel.fit(X)
    tolerance = 1e-9 * max(scale(tree, X, Z), 1e-300)
    np.testing.assert_allclose(fitted(X), matrix(tree, X, X, X), rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(fitted(Z, X), matrix(tree, Z, X, X), rtol=1e-9, atol=tolerance)
    assert kernel.psd


@settings(max_examples=60, deadline=None)
@given(trees(2).map(lambda tree: ("centre", tree)), st.integers(0, 5))
def test_centred_trees_equal_plain_numpy(tree: Tree, seed: int) -> None:
    X, Z = points(seed, 6), points(seed + 100, 4)
    assume(not cancels(tree, np.vstack([X, Z])))
    fitted = build(tree).fit(X)
    tolerance = 1e-9 * max(1.0, scale(tree[1], X, Z))
    np.testing.assert_allclose(fitted(X), matrix(tree, X, X, X), atol=tolerance)
    np.testing.assert_allclose(fitted(Z, X), matrix(tree, Z, X, X), atol=tolerance)


@settings(max_examples=60, deadline=None)
@given(trees(3), st.integers(0, 5))
def test_closure_rules_keep_the_smallest_eigenvalue(tree: Tree, seed: int) -> None:
    X = points(seed, 12)
    assume(not cancels(tree, X))
    eigenvalues = np.linalg.eigvalsh(build(tree).fit(X)(X))
    assert eigenvalues[0] >= -1e-9 * max(eigenvalues[-1], 1e-300)


@settings(max_examples=40, deadline=None)
@given(trees(3), st.integers(0, 5))
def test_single_precision_is_told_truthfully(tree: Tree, seed: int) -> None:
    X = points(seed, 9)
    assume(not cancels(tree, X))
    fitted = build(tree).fit(X)
    if fitted.kernel.single_precision(fitted.features(fitted.kernel.coerce(X), np.float32), fitted.state):
        exact = fitted(X)
        lengths = np.sqrt(np.outer(np.diagonal(exact), np.diagonal(exact)))
        single = gram_of(fitted, X, dtype=np.float32).dense()
        assert (np.abs(single - exact) <= 1e-5 * lengths + 1e-30).all()


def test_precedence_is_that_of_algebra() -> None:
    assert kernels.Sum((A, kernels.Product((B, C)))) == A + B * C
    assert kernels.Product((kernels.Sum((A, B)), C)) == (A + B) * C
    assert A + B + C == kernels.Sum((A, B, C)) == A + (B + C)
    assert kernels.Product((2.0 * A, B)) == 2 * A * B
    assert kernels.Product((A, kernels.Power(B, 2))) == A * B**2


def test_numbers_stand_on_both_sides() -> None:
    assert 2.0 * A == A * 2 == np.float64(2) * A == A * np.int64(2)
    assert kernels.Sum((A, kernels.Constant(1.0))) == A + 1.0
    assert np.float64(1) + A == kernels.Sum((kernels.Constant(1.0), A))
    assert sum([A, B, C]) == A + B + C
    strings = kernels.Spectrum(p=2)
    assert strings + 1.0 == kernels.Sum((strings, kernels.Constant(1.0, objects="strings")))
    assert (kernels.on("a", A) + 1.0).domain.kind == "tables"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: -1.0 * A, "negative multiple"),
        (lambda: 0 * A, "factor"),
        (lambda: A + -1.0, "negative constant"),
        (lambda: A**0.5, "fractional power"),
        (lambda: A**-1, "fractional power"),
        (lambda: kernels.PolynomialOf(A, [1.0, -2.0]), r"coefficients\[1\]"),
        (lambda: kernels.PolynomialOf(A, []), "non-empty"),
        (lambda: kernels.PolynomialOf(A, 3.0), "non-empty"),  # type: ignore[arg-type]
        (lambda: A + kernels.Spectrum(), "one kind of objects"),
        (lambda: kernels.exp(2.0), "a kernel"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_kernel_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("make", [lambda: A - B, lambda: A + "x", lambda: A ** "2", lambda: A * [1], lambda: A * True])
def test_what_has_no_meaning_is_a_type_error(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


def test_terms_of_one_measure_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    from mercer.kernels.vectors.linear import Linear

    plain = Linear.tile
    monkeypatch.setattr(Linear, "tile", lambda self, *rest: (calls.append(1), plain(self, *rest))[1])
    kernel = A + A**2 + kernels.exp(0.5 * A) + kernels.PolynomialOf(A, (1.0, 2.0)) + C
    kernel.fit([[1.0], [2.0]])([[1.0], [2.0]])
    assert len(calls) == 1


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.exp(A),
        A**400,
        kernels.PolynomialOf(A, [0.0] * 400 + [1.0]),
        kernels.centre(A**400),
        1e303 * A,
        (A * 1e150) * (A * 1e150),
    ],
    ids=lambda kernel: str(kernel)[:20],
)
def test_overflow_is_answered_in_words(kernel: Any) -> None:
    with pytest.raises(ValueError, match=r"overflow in kernel .* of object 1"):
        kernel.fit([[1.0], [1e3]])([[1.0], [1e3]])


def test_parameters_have_stable_paths() -> None:
    edges = [("s", "a", B), ("a", "t", A)]
    assert kernels.dag(edges).with_params(**{"0__gamma": 2.0}).terms[0] == kernels.RBF(gamma=2.0)  # type: ignore[attr-defined]
    assert (B**2).with_params(kernel__gamma=3.0) == kernels.RBF(gamma=3.0) ** 2
    assert kernels.PolynomialOf(B, (1.0, 2.0)).get_params()["kernel__gamma"] == 0.5
