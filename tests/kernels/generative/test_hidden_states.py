"""Hidden Markov models and trees: the worked examples, enumeration, long strings, learning."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.kernels.generative.learning import expected, learn
from tests.kernels.generative.models import HMM, MODEL, SHAPE, TREE, words
from tests.oracles import generative as oracle


def test_hidden_markov_examples():
    np.testing.assert_allclose(HMM.fit(["ab"])(["ab"], ["ab", "aa"]), [[0.104938, 0.056282]], atol=1e-9)
    np.testing.assert_allclose(HMM.fit(["aba"])(["aba"], ["abb"]), [[0.015200758]], atol=1e-9)


def test_hidden_tree_examples():
    found = TREE.fit(["aab"])(["aab"], ["aab", "abb", "bba"])
    np.testing.assert_allclose(found, [[0.0463904435, 0.0181942415, 0.0021400915]], atol=1e-9)
    chain = kernels.HiddenTree(parents=(-1, 0, 1), observed=(0, 1, 2), alphabet="ab", **MODEL)
    np.testing.assert_allclose(chain.fit(["aba"])(["aba"], ["abb"]), [[0.015200758]], atol=1e-9)


@pytest.mark.parametrize("length", [1, 2, 4])
def test_probabilities_of_all_pairs_sum_to_one(length):
    everything = words(length)
    assert HMM.fit(everything)(everything).sum() == pytest.approx(1.0, abs=1e-12)
    shape = (-1, *[0] * length)
    star = kernels.HiddenTree(parents=shape, alphabet="ab", **MODEL)
    assert star.fit(everything)(everything).sum() == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=15)
@given(st.lists(st.text("ab", min_size=3, max_size=3), min_size=2, max_size=4), st.integers(0, 1000))
def test_hidden_states_enumerated(strings, seed):
    random = np.random.default_rng(seed)
    model = {
        "start": random.dirichlet([1, 1, 1]),
        "transitions": random.dirichlet([1, 1, 1], size=3),
        "emissions": random.dirichlet([1, 1], size=3),
    }
    tree = kernels.HiddenTree(parents=SHAPE, observed=(0, 2, 4), alphabet="ab", **model)
    wanted = [[oracle.tree_kernel(s, t, SHAPE, (0, 2, 4), **model) for t in strings] for s in strings]
    np.testing.assert_allclose(tree.fit(strings)(strings), wanted, rtol=1e-9)
    chain = kernels.FixedLengthHMM(alphabet="ab", **model)
    wanted = [[oracle.tree_kernel(s, t, (-1, 0, 1), (0, 1, 2), **model) for t in strings] for s in strings]
    np.testing.assert_allclose(chain.fit(strings)(strings), wanted, rtol=1e-9)


def test_ten_thousand_symbols():
    random = np.random.default_rng(0)
    strings = ["".join(random.choice(list("ab"), size=10_000)) for _ in range(3)]
    cosines = kernels.normalise(HMM).fit(strings)
    K = cosines([*strings, strings[0][:-1] + "a", strings[0][:-1] + "b"])
    assert np.isfinite(K).all()
    assert sorted(K[0, 3:]) == pytest.approx([K[0, 3:].min(), 1.0])
    assert 0.1 < K[0, 3:].min() < 1.0


def test_a_state_that_seems_lost_may_win():
    """Two states that never mix: each is negligible for half of the string, and both matter in the end."""
    model = {"start": (0.5, 0.5), "transitions": ((1.0, 0.0), (0.0, 1.0)), "emissions": ((0.9, 0.1), (0.1, 0.9))}
    kernel = kernels.FixedLengthHMM(alphabet="ab", **model)
    string = "a" * 500 + "b" * 500
    fitted = kernel.fit([string])
    features = fitted.features(fitted.coerce([string]))
    wanted = 1000 * math.log2(0.9) + 1000 * math.log2(0.1)
    assert kernel.log_diagonal(features, fitted.state)[0] == pytest.approx(wanted, abs=1e-8)
    out = np.empty((1, 1))
    kernel.log_tile(features, features, fitted.state, out)
    assert out[0, 0] == pytest.approx(wanted, abs=1e-8)


def test_impossible_strings_compare_as_nothing():
    model = {"start": (1.0, 0.0), "transitions": ((0.5, 0.5), (0.0, 1.0)), "emissions": ((1.0, 0.0), (0.0, 1.0))}
    kernel = kernels.normalise(kernels.FixedLengthHMM(alphabet="ab", **model))
    np.testing.assert_array_equal(kernel.fit(["ab"])(["ab", "ba"]), [[1.0, 0.0], [0.0, 0.0]])


def test_learning_raises_the_likelihood():
    random = np.random.default_rng(0)
    codes = np.repeat(random.integers(0, 2, size=(60, 5)), 3, axis=1)  # runs of three: states are worth having
    parents, places = np.arange(15) - 1, np.arange(15)
    values = []
    model = tuple(np.asarray(MODEL[name]) for name in ("start", "transitions", "emissions"))
    for _ in range(8):
        counts, likelihood = expected(codes, parents, places, model)
        values.append(likelihood)
        model = tuple(table / table.sum(axis=-1, keepdims=True) for table in counts)
    assert np.all(np.diff(values) > -1e-9)
    learnt = learn(codes, parents, places, 2, 2, 0)
    assert expected(codes, parents, places, learnt)[1] > values[0]
    for one, other in zip(learnt, learn(codes, parents, places, 2, 2, 0), strict=True):
        np.testing.assert_array_equal(one, other)
