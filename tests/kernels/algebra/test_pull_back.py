"""Kernels from a function or a transformer of the user's: pull-backs and rank one."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from mercer import kernels
from mercer.errors import InputError, KernelError, ParameterError

X = np.random.default_rng(0).normal(size=(6, 3))


def test_pull_back_by_a_fitted_transformer() -> None:
    scaler = StandardScaler().fit(X)
    fitted = kernels.pull_back(kernels.RBF(gamma=0.5), scaler).fit(X)
    scaled = scaler.transform(X)
    np.testing.assert_allclose(fitted(X[:2], X), kernels.RBF(gamma=0.5).fit(scaled)(scaled[:2], scaled), atol=1e-12)
    assert str(fitted.kernel) == "pull_back(rbf(gamma=0.5), <StandardScaler>)"


def test_pull_back_changes_the_kind_of_objects() -> None:
    texts = ["a kernel", "another kernel", "nothing"]
    counts = CountVectorizer().fit(texts)
    kernel = kernels.pull_back(kernels.Linear(), counts, objects="strings")
    rows = counts.transform(texts).toarray()
    np.testing.assert_allclose(kernel.fit(texts)(texts), rows @ rows.T)
    lengths = kernels.pull_back(kernels.Linear(), lambda words: [[float(len(word))] for word in words], objects="items")
    assert lengths.fit([("a", "b")])([("a", "b")], [("a", "b", "c")])[0, 0] == 6.0
    labels = kernels.pull_back(kernels.Spectrum(p=1), lambda rows: ["a" * int(row[0]) for row in rows])
    assert labels.fit([[2.0]])([[2.0]], [[3.0]])[0, 0] == 6.0


def test_pull_back_resolves_on_images_and_takes_sparse_rows() -> None:
    images = PolynomialFeatures(2).fit(X)
    kernel = kernels.pull_back(kernels.RBF(gamma="scale"), images)
    assert kernel.data_dependent
    expected = kernels.RBF(gamma="scale").fit(images.transform(X))(images.transform(X))
    np.testing.assert_allclose(kernel.fit(X)(X), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.fit(X)(sp.csr_array(X), X), expected, atol=1e-12)


def test_closure_on_random_functions() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        weights = rng.normal(size=(3, 2))
        kernel = kernels.pull_back(kernels.RBF(gamma=0.5), lambda rows, w=weights: np.sin(rows @ w)) + kernels.rank_one(
            lambda rows, w=weights: np.cos(rows @ w[:, 0])
        )
        assert kernel.psd
        assert np.linalg.eigvalsh(kernel.fit(X)(X))[0] > -1e-9


def test_rank_one_on_any_objects() -> None:
    longest = kernels.rank_one(lambda words: [len(word) for word in words], objects="strings")
    np.testing.assert_allclose(longest.fit(["a", "abc"])(["a", "abc"]), [[1.0, 3.0], [3.0, 9.0]])
    assert str(longest) == "rank_one(<function <lambda>>, objects='strings')"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (kernels.rank_one(lambda rows: rows), r"one number per object, shape \(6,\)"),
        (kernels.rank_one(lambda rows: 1.0), r"returned shape \(\)"),
        (kernels.rank_one(lambda rows: 1 / 0), "ZeroDivisionError"),
        (kernels.rank_one(lambda rows: np.full(6, np.nan)), "nan for object 0"),
        (kernels.pull_back(kernels.Linear(), lambda rows: rows[:2]), "returned 2 for 6 objects"),
        (kernels.pull_back(kernels.Linear(), lambda rows: 1 / 0), "ZeroDivisionError"),
        (kernels.pull_back(kernels.Linear(), StandardScaler()), "NotFittedError"),
        (kernels.rank_one(lambda rows: np.full(6, 1e200)), "overflow in kernel"),
    ],
)
def test_functions_that_break_their_contract(kernel: Any, words: str) -> None:
    with pytest.raises(KernelError, match=words):
        kernel.fit(X)(X)


def test_images_that_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="of pull_back returned cannot be compared"):
        kernels.pull_back(kernels.Linear(), lambda rows: np.full((6, 1), np.inf)).fit(X)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kernels.rank_one(3), "function of a batch"),  # type: ignore[arg-type]
        (lambda: kernels.rank_one(len, objects="string"), "Did you mean 'strings'"),
        (lambda: kernels.pull_back(kernels.Linear(), 3), "fitted transformer"),
        (lambda: kernels.pull_back(len, len), "a kernel"),  # type: ignore[arg-type]
        (lambda: kernels.pull_back(kernels.Precomputed(), len), "precomputed"),
    ],
)
def test_bad_parameters(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
