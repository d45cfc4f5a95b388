"""A look for negative eigenvalues that costs no more than what waits for it."""

import math

import numpy as np
import pytest

from mercer import kernels
from mercer.errors import KernelError
from mercer.gram import cost, definiteness, spectrum
from mercer.gram.definiteness import lowest_value, refuse_wrong_word
from mercer.gram.make import gram_of
from mercer.gram.spectrum import negligible

N = 700


def given(matrix):
    return gram_of(kernels.Precomputed().fit(matrix), matrix)


def with_eigenvalues(values):
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(len(values), len(values))))[0]
    matrix = (vectors * values) @ vectors.T
    return (matrix + matrix.T) / 2


POSITIVE = np.linspace(0.5, 20.0, N)
WORTH = {"factored": cost.of_single_factor(N), "stepped": cost.of_single_factor(N) / 2}
"""As much as a factor in float32 costs, and half as much."""


@pytest.fixture(params=sorted(WORTH))
def worth(request, monkeypatch):
    monkeypatch.setattr(spectrum, "directly", lambda n: False)
    return WORTH[request.param]


def test_positive_matrices_pass(worth):
    for values in (POSITIVE, np.maximum(POSITIVE - 5.0, 0.0)):  # singular ones, too
        gram = given(with_eigenvalues(values))
        assert lowest_value(gram, worth) >= -negligible(gram)


@pytest.mark.parametrize("lowest", [-300.0, -5.0])
def test_a_negative_value_is_attained(worth, lowest):
    gram = given(with_eigenvalues(np.concatenate(([lowest], POSITIVE[1:]))))
    assert lowest - 1e-9 <= lowest_value(gram, worth) < 0.5 * lowest


def test_a_factor_in_single_precision_sees_a_millionth_of_the_trace(monkeypatch):
    monkeypatch.setattr(spectrum, "directly", lambda n: False)
    for share, seen in ((-1e-5, True), (-1e-8, False)):
        values = POSITIVE.copy()
        values[0] = share * values.sum()
        gram = given(with_eigenvalues(values))
        assert (lowest_value(gram, WORTH["factored"]) < -negligible(gram)) == seen


def test_low_rank_is_proved_and_what_is_left_is_not_overlooked(monkeypatch):
    monkeypatch.setattr(spectrum, "directly", lambda n: False)
    X = np.random.default_rng(1).normal(size=(N, 5))
    worth = 0.9 * cost.of_factor(N)
    with monkeypatch.context() as no_other_way:
        no_other_way.delattr(definiteness, "_direction")
        no_other_way.delattr(definiteness, "_by_steps")
        assert lowest_value(given(X @ X.T), worth) == 0.0
    # The same diagonal, to which a factor of rank five is everything; but two objects are more alike than any can be.
    spoilt = X @ X.T
    spoilt[3, 4] = spoilt[4, 3] = 1.5 * math.sqrt(spoilt[3, 3] * spoilt[4, 4])
    assert lowest_value(given(spoilt), worth) < -negligible(given(spoilt))


def test_a_negative_self_similarity_is_a_proof():
    matrix = with_eigenvalues(POSITIVE)
    matrix[7, 7] = -0.5
    assert lowest_value(given(matrix), 0.0) <= -0.5


def test_the_look_costs_less_than_training():
    """Counted in products with the matrix: as many as the shares of the cost of training allow."""
    for n in (1_000, 4_000, 20_000):
        worth = cost.of_matrix(cost.KINKED, n, 0.0, n)
        steps = max(definiteness._FEWEST_STEPS, definiteness._PRODUCTS * worth / spectrum.of_product(n))
        rank = definiteness._LOW_RANK * worth
        part = definiteness._PART * worth
        assert steps * spectrum.of_product(n) + rank + part <= 0.5 * worth


def test_a_word_is_tested_on_a_few_objects() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 2))

    def check(function: object) -> None:
        kernel = kernels.FromBlocks(function, symmetric=True, psd=True)
        refuse_wrong_word(kernel, gram_of(kernel.fit(X), X))

    check(lambda A, B: A @ B.T)
    check(lambda A, B: 1e-20 * (A @ B.T))  # a question of shape, not of units
    with pytest.raises(KernelError, match="on 12 objects has the eigenvalue -"):
        check(lambda A, B: np.tanh(A @ B.T - 1.0))
    with pytest.raises(KernelError, match="eigenvalue -"):
        check(lambda A, B: 1e-20 * np.tanh(A @ B.T - 1.0))
