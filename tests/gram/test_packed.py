"""A triangle in 16 bits multiplies as the matrix does, to within half a step."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of, gram_of_rows
from mercer.gram.packed import PackedGram, packed_bytes, packed_if_it_fits

N = 1300  # tiles that are not full, on the diagonal and beside it


def objects(seed=0, n=N):
    return np.random.default_rng(seed).normal(size=(n, 3))


KERNELS = [kernels.RBF(gamma=0.1), kernels.RBF(gamma=20.0), 1e6 * kernels.Polynomial(degree=2), kernels.Linear()]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_products_are_off_by_half_a_step_of_each_entry(kernel):
    X = objects()
    fitted = kernel.fit(X)
    gram, exact = gram_of(fitted, X, dtype=np.float32), fitted(X)
    packed = PackedGram(gram)
    vectors = np.random.default_rng(1).normal(size=(N, 2)) * [1.0, 1e-30]
    found = packed.matvec(vectors)
    lengths = np.sqrt(np.diag(exact))
    allowed = (1 / 65_534 + 2e-6) * np.outer(lengths, lengths) @ np.abs(vectors) + 1e-6 * np.abs(exact) @ np.abs(
        vectors
    )
    assert (np.abs(found - exact @ vectors) <= allowed).all()
    # A product of one vector is that of a column of several.
    np.testing.assert_array_equal(packed.matvec(vectors[:, 0]), found[:, 0])


def test_the_noise_is_about_the_largest_eigenvalue_of_the_errors():
    X = objects(n=700)
    fitted = kernels.RBF(gamma=0.5).fit(X)
    packed = PackedGram(gram_of(fitted, X, dtype=np.float32, executor=Threads(1)))
    largest = np.abs(np.linalg.eigvalsh(packed.matvec(np.eye(700)) - fitted(X))).max()
    assert 0.3 * packed.noise < largest < 2.0 * packed.noise


def test_entries_and_parts_are_those_of_the_kernel_and_threads_change_nothing():
    X = objects()
    fitted = kernels.RBF(gamma=0.5).fit(X)
    grams = [gram_of(fitted, X, dtype=np.float32, executor=Threads(count)) for count in (1, 3)]
    one, three = (PackedGram(gram) for gram in grams)
    v = np.random.default_rng(0).normal(size=N)
    np.testing.assert_array_equal(one.matvec(v), three.matvec(v))
    some = np.array([5, 1, 900])
    np.testing.assert_array_equal(one.view(some).dense(), grams[0].view(some).dense())
    np.testing.assert_allclose(one.rows(some), fitted(X)[some], atol=1e-6)
    assert one.stored() is one
    assert not one.in_memory


def test_it_is_packed_where_the_triangle_fits():
    n = 2100
    X = objects(n=n)
    fitted = kernels.RBF(gamma=0.5).fit(X)
    half = packed_bytes(n) / 2**20
    for memory in (half + 0.1, "auto"):
        assert isinstance(packed_if_it_fits(gram_of(fitted, X, memory=memory)), PackedGram)
    others = [
        gram_of(fitted, X, memory=half - 0.1),
        gram_of(fitted, X, dtype=np.float64),
        gram_of(fitted, X).view(np.arange(5)),
        gram_of(fitted, X, X[:9]),
        gram_of_rows(X),
    ]
    for gram in others:
        assert packed_if_it_fits(gram) is gram
