"""Rows in blocks against the same rows in one array, and machines trained on either."""

import tracemalloc

import numpy as np
import pytest

from mercer import (
    SVC,
    SVR,
    KernelKMeans,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelPCA,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeCV,
    LinearSVC,
    NuSVC,
    OneClassSVM,
    kernels,
)
from mercer.gram import block_rows
from mercer.gram.block_rows import BlockRows, rows_of_features
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of_rows
from mercer.solvers.weights.row_products import rows_of

RNG = np.random.default_rng(0)
N = 5000
X = RNG.normal(size=(N, 3))
NOISE = RNG.normal(size=N)
NUMBERS = np.sin(X[:, 0]) + 0.1 * NOISE
SIGNS = np.where(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * NOISE > 0, 1, -1)
CLASSES = (X[:, 0] > 0) + (X[:, 1] > 0.5).astype(int)
KERNEL = kernels.Nystrom(kernels.RBF(gamma=0.5), m=30)
SMALL = 0.1
"""MiB of memory: less than the rows take in float32, so that they are written anew for every product."""

LEARNERS = {
    "squared": (KernelRidge(kernel=KERNEL, alpha=0.1), NUMBERS),
    "path": (KernelRidgeCV(kernel=KERNEL, alphas=[0.01, 1.0], fit_intercept=True), NUMBERS),
    "hinge": (SVC(kernel=KERNEL, tol=1e-5), SIGNS),
    "squared hinge": (KernelMachineClassifier("squared_hinge", kernel=KERNEL), SIGNS),
    "logistic": (KernelLogisticRegression(kernel=KERNEL), SIGNS),
    "multinomial": (KernelLogisticRegression(kernel=KERNEL), CLASSES),
    "epsilon": (SVR(kernel=KERNEL, tol=1e-5), NUMBERS),
    "quantile": (KernelQuantileRegressor(kernel=KERNEL, tol=1e-5), NUMBERS),
    "one class": (OneClassSVM(kernel=KERNEL, nu=0.2), None),
    "nu": (NuSVC(kernel=KERNEL, nu=0.6), SIGNS),
}


@pytest.fixture
def in_blocks(monkeypatch):
    """Blocks of a few hundred rows already for few numbers."""
    monkeypatch.setattr(block_rows, "_MANY", 1000)
    monkeypatch.setattr(block_rows, "_BLOCK_BYTES", 8 * 30 * 500)


def scores(model):
    return model.decision_function(X[:100]) if hasattr(model, "decision_function") else model.predict(X[:100])


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_finds_in_blocks_what_it_finds_on_the_array(name, monkeypatch, in_blocks):
    learner, y = LEARNERS[name]
    learner.set_params(dual=False)
    held, streamed = (scores(learner.set_params(memory=memory).fit(X, y)) for memory in ("auto", SMALL))
    certificate = learner.certificate_
    monkeypatch.setattr(block_rows, "_MANY", 2**25)
    exact = scores(learner.set_params(memory="auto").fit(X, y))
    np.testing.assert_allclose(held, exact, atol=2e-4)
    np.testing.assert_allclose(streamed, exact, atol=2e-4)
    proof = learner.certificate_
    assert proof.relative_gap < 1e-4
    # That of blocks counts what rounding of rows to float32 may lose at most: it holds the optimum, and is wider.
    assert certificate.relative_gap < 1e-2
    slack = 1e-6 * abs(proof.primal)
    assert certificate.dual <= proof.primal + slack
    assert certificate.primal >= proof.dual - slack


def test_components_and_clusters_by_products_with_blocks(in_blocks):
    components = KernelPCA(kernel=KERNEL, n_components=2, tol=1e-4).fit(X)
    rows = KERNEL.feature_matrix(X).matrix
    spread = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1] * N
    np.testing.assert_allclose(components.eigenvalues_, spread[:2], rtol=1e-4)
    found = KernelKMeans(n_clusters=3, kernel=KERNEL, random_state=0, memory=SMALL).fit(X)
    means = np.stack([rows[found.labels_ == k].mean(axis=0) for k in range(3)])
    nearest = np.argmin(np.square(means).sum(axis=1) - 2 * rows @ means.T, axis=1)
    assert (nearest == found.labels_).mean() > 0.999


def test_products_are_those_of_the_array_for_any_number_of_threads(monkeypatch, in_blocks):
    fitted = KERNEL.fit(X)
    array = fitted.kernel.feature_matrix(X, state=fitted.state).matrix
    w, b = RNG.normal(size=(30, 2)), RNG.normal(size=N)
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        for memory in ("auto", SMALL):
            rows = rows_of_features(fitted, fitted.coerce(X), memory)
            assert isinstance(rows, BlockRows)
            assert rows.held == (memory == "auto")
            assert len(rows.blocks) == 10
            results.append((rows @ w, rows.T @ b, rows.squared_lengths, rows_of(rows).normal(np.abs(b))))
    for found in results[2:]:
        for one, other in zip(results[len(results) % 2], found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    for held in (0, 1):
        for found in results[held::2]:
            for one, other in zip(results[held], found, strict=True):
                np.testing.assert_array_equal(one, other)
    outputs, combination, lengths, normal = results[0]
    np.testing.assert_allclose(outputs, array @ w, atol=1e-4)
    np.testing.assert_allclose(combination, array.T @ b, atol=1e-3)
    np.testing.assert_allclose(lengths, (array**2).sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(np.tril(normal), np.tril(array.T @ (np.abs(b)[:, None] * array)), atol=1e-2)


def test_entries_of_the_matrix_come_block_by_block(in_blocks):
    fitted = KERNEL.fit(X)
    gram = gram_of_rows(rows_of_features(fitted, fitted.coerce(X), SMALL))
    some = np.array([5, 700, 4321])
    np.testing.assert_allclose(gram.rows(some), fitted(X[some], X), atol=1e-5)


def test_memory_is_that_of_a_few_blocks(in_blocks):
    many, kernel = np.tile(X, (8, 1)), KERNEL.with_params(m=200)
    model = KernelRidge(kernel=kernel, alpha=0.1, dual=False, memory=SMALL)
    model.fit(many[:N], NUMBERS)  # compiled, which takes memory of its own
    tracemalloc.start()
    model.fit(many, np.tile(NUMBERS, 8))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * len(many) * 200 * 8  # vectors of the length of y are there, n x m is not even in float32


def test_linear_machines_keep_landmarks_and_weights_alone(in_blocks):
    model = LinearSVC(kernel=KERNEL).fit(X, SIGNS)
    assert model.coef_.shape == (1, 30)
    assert model.score(X, SIGNS) > 0.8


def test_the_tree_of_a_sum_is_fixed():
    numbers = list(RNG.normal(size=37) * 10.0 ** RNG.integers(-8, 8, size=37))

    def by_hand(part):
        """Neighbours first: the left of two parts is as large a power of two as fits below the right end."""
        if len(part) == 1:
            return part[0]
        half = 1 << ((len(part) - 1).bit_length() - 1)
        return by_hand(part[:half]) + by_hand(part[half:])

    for threads in (1, 2, 3, 8):
        for size in (1, 2, 3, 7, 8, 37):
            assert Threads(threads).reduce(lambda x: x, numbers[:size], lambda a, b: a + b) == by_hand(numbers[:size])


def test_many_rows_that_are_picked_stay_blocks(monkeypatch, in_blocks):
    fitted = KERNEL.fit(X)
    rows = rows_of_features(fitted, fitted.kernel.coerce(X), SMALL)
    picked = np.arange(N)[::-3]
    expected = rows[picked]
    monkeypatch.setattr(block_rows, "_AS_ARRAY", 0)
    kept = rows[picked]
    assert isinstance(kept, BlockRows)
    assert kept.shape == expected.shape
    monkeypatch.undo()
    np.testing.assert_array_equal(kept[:], expected)


@pytest.mark.parametrize("kernel", [kernels.Spectrum(2), kernels.Nystrom(kernels.Spectrum(1), m=5)], ids=str)
def test_products_of_rows_are_values_of_the_kernel(kernel):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta"]
    fitted = kernel.fit(words)
    rows = rows_of_features(fitted, fitted.kernel.coerce(words))
    found = rows @ rows.T
    np.testing.assert_allclose(found.toarray() if hasattr(found, "toarray") else found, fitted(words), atol=1e-10)
