"""Tests between samples: statistics against plain sums, level by simulation, power on what differs."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import hsic_test, kernels, mmd_test
from mercer.errors import InputError, ParameterError

RANDOM = np.random.default_rng(0)


def plain_mmd(K, m):
    n = len(K) - m
    xx, yy, xy = K[:m, :m], K[m:, m:], K[:m, m:]
    off = lambda block: (block.sum() - np.trace(block)) / (len(block) * (len(block) - 1))  # noqa: E731
    return off(xx) + off(yy) - 2 * xy.sum() / (m * n)


def test_mmd_statistic():
    X, Y = RANDOM.normal(size=(9, 2)), RANDOM.normal(size=(13, 2)) + 1
    pooled = np.vstack([X, Y])
    K = np.exp(-0.5 * ((pooled[:, None] - pooled[None]) ** 2).sum(axis=2))
    found = mmd_test(X, Y, kernels.RBF(0.5), permutations=300, random_state=0)
    assert found.statistic == pytest.approx(plain_mmd(K, 9), abs=1e-12)
    rng = np.random.default_rng(0)
    for value in found.null[:5]:
        order = rng.permutation(22)[:9]
        rest = np.setdiff1d(np.arange(22), order)
        assert value == pytest.approx(plain_mmd(K[np.ix_(np.r_[order, rest], np.r_[order, rest])], 9), abs=1e-12)


def test_hsic_statistic():
    X, Y = RANDOM.normal(size=(12, 2)), RANDOM.normal(size=(12, 1))
    K = X @ X.T
    L = np.exp(-((Y - Y.T) ** 2))
    H = np.eye(12) - 1 / 12
    found = hsic_test(X, Y, kernels.Linear(), kernels.RBF(1.0), permutations=50, random_state=0)
    assert found.statistic == pytest.approx(np.trace(K @ H @ L @ H) / 144)
    order = np.random.default_rng(0).permutation(12)
    assert found.null[0] == pytest.approx(np.trace(K @ H @ L[np.ix_(order, order)] @ H) / 144)


@pytest.mark.parametrize("test", ["mmd", "hsic"])
def test_level_by_simulation(test):
    """Under the null hypothesis p <= 0.1 in a tenth of the cases: of 300, 30 with a standard deviation of 5.2."""
    rng = np.random.default_rng(1)
    kernel = kernels.RBF(0.5)
    small = 0
    for trial in range(300):
        X, Y = rng.normal(size=(12, 1)), rng.normal(size=(12, 1))
        if test == "mmd":
            found = mmd_test(X, Y, kernel, permutations=39, random_state=trial)
        else:
            found = hsic_test(X, Y, kernel, kernel, permutations=39, random_state=trial)
        small += found.p_value <= 0.1
    assert 10 <= small <= 50


def test_power():
    same = RANDOM.normal(size=(80, 1))
    assert mmd_test(same, 3 * RANDOM.normal(size=(80, 1)), random_state=0).p_value <= 0.01
    angle = RANDOM.uniform(0, 2 * np.pi, 80)[:, None]
    # On a circle the coordinates are uncorrelated and dependent.
    assert hsic_test(np.cos(angle), np.sin(angle), permutations=199, random_state=0).p_value <= 0.01


def test_on_objects_of_other_kinds():
    words, others = ["gattaca", "gattica", "gattac", "gatta"] * 5, ["ccgcg", "cgcgc", "cgccg", "gcgcc"] * 5
    assert mmd_test(words, others, kernels.Spectrum(2), permutations=99, random_state=0).p_value == 0.01
    assert mmd_test(words, words[::-1], "spectrum(p=2)", permutations=99, random_state=0).p_value > 0.5
    lengths = [[float(len(word))] for word in words]
    assert hsic_test(words, lengths, "spectrum(p=2)", "rbf()", permutations=99, random_state=0).p_value == 0.01
    table = {"word": words, "x": np.arange(20.0)}
    on = kernels.on("word", kernels.Spectrum(2))
    assert mmd_test(table, {"word": others, "x": np.arange(20.0)}, on, permutations=99, random_state=0).p_value == 0.01
    sparse = sp.csr_array(np.eye(6)), sp.csr_array(np.ones((6, 6)))
    assert mmd_test(*sparse, kernels.Linear(), permutations=99, random_state=0).p_value <= 0.05


def test_refusals():
    with pytest.raises(InputError, match="two objects or more"):
        mmd_test([[1.0]], [[1.0], [2.0]])
    with pytest.raises(InputError, match="Two views"):
        hsic_test([[1.0], [2.0]], [[1.0]])
    with pytest.raises(InputError, match="one string"):
        mmd_test("gattaca", ["a"], kernels.Spectrum(1))
    with pytest.raises(ParameterError, match="'permutations'"):
        mmd_test([[1.0], [2.0]], [[1.0], [2.0]], permutations=0)
    with pytest.raises(ParameterError, match="compared with each other"):
        mmd_test(np.eye(2), np.eye(2), kernels.Precomputed())
