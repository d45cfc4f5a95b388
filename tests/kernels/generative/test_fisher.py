"""Fisher kernels: the worked examples, scores as derivatives, estimation."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from mercer import kernels
from mercer.errors import KernelWarning, MissingExtraError
from tests.kernels.generative.models import MARKOV, MODEL, SCORES, TABLE, words
from tests.oracles import generative as oracle


def test_markov_examples():
    pair = ["abba", "aaba"]
    wanted = [[6.8055555556, 4.7658730159], [4.7658730159, 5.3543083900]]
    np.testing.assert_allclose(MARKOV.fit(pair)(pair), wanted, atol=1e-9)
    uniform = kernels.MarkovFisher(alphabet="ab", probabilities=((0.5, 0.5), (0.5, 0.5)))
    assert uniform.fit(pair)(pair)[0, 1] == pytest.approx(0.0, abs=1e-12)


def probability(word):
    steps = itertools.pairwise("ab".index(symbol) for symbol in word)
    return 0.5 * math.prod(TABLE[a][b] for a, b in steps)


def test_exact_information():
    """Every string of length 4, as often as it is likely: the empirical information is then the exact one."""
    training = [word for word in words(4) for _ in range(round(2000 * probability(word)))]
    assert len(training) == 2000
    kernel = MARKOV.with_params(information="empirical")
    assert kernel.fit(training)(["abba"], ["aaba"])[0, 0] == pytest.approx(1.1866042256, abs=1e-9)
    assert kernel.fit(training).state.values["whitening"].shape == (4, 2)


def test_more_directions_than_strings_are_told():
    with pytest.warns(KernelWarning, match="as many directions as there are training objects, 3"):
        kernels.MarkovFisher(order=2, information="empirical").fit(["aabbabab", "bbabaabb", "abbaabba"])


def test_the_mean_score_is_zero():
    everything = words(4)
    scores = np.array([oracle.markov_score(word, TABLE) for word in everything])
    likely = np.array([probability(word) for word in everything])
    np.testing.assert_allclose(likely @ scores, 0.0, atol=1e-12)
    K = MARKOV.fit(everything)(everything)
    np.testing.assert_allclose(K, scores @ scores.T, atol=1e-9)
    np.testing.assert_allclose(likely @ K, 0.0, atol=1e-9)


@settings(max_examples=20)
@given(st.lists(st.text("ab", max_size=9), min_size=2, max_size=5), st.integers(0, 3))
@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
def test_markov_scores_of_any_order(strings, order):
    table = np.random.default_rng(order).dirichlet([2, 2], size=2**order)
    kernel = kernels.MarkovFisher(order, alphabet="ab", probabilities=table)
    scores = np.array([oracle.markov_score(s, table, order) for s in strings])
    np.testing.assert_allclose(kernel.fit(strings)(strings), scores @ scores.T, rtol=1e-9, atol=1e-9)
    whole = kernel.with_params(information="empirical").fit(strings)(strings)
    wanted = scores @ np.linalg.pinv(scores.T @ scores / len(strings), rcond=1e-10, hermitian=True) @ scores.T
    np.testing.assert_allclose(whole, wanted, rtol=1e-6, atol=1e-6)


def test_markov_estimates():
    fitted = kernels.MarkovFisher(smoothing=0.5).fit(["aab", "abc"])
    wanted = (np.array([[1, 2, 0], [0, 0, 1], [0, 0, 0]]) + 0.5) / np.array([[4.5], [2.5], [1.5]])
    np.testing.assert_allclose(fitted.state.values["probabilities"], wanted)
    with pytest.warns(KernelWarning, match="1 of 2 strings have no more than the 2 symbols"):
        kernels.MarkovFisher(order=2).fit(["ab", "aba"])


def test_scores_of_a_hidden_model_are_derivatives():
    def parts(logits):
        rows = [np.exp(logits[:2]), *np.exp(logits[2:].reshape(4, 2))]
        rows = [row / row.sum() for row in rows]
        return rows[0], rows[1:3], rows[3:5]

    tables = [np.asarray(MODEL[name]) for name in ("start", "transitions", "emissions")]
    logits = np.concatenate([np.log(table).ravel() for table in tables])
    for string in ("a", "ab", "bbaba"):
        codes = ["ab".index(symbol) for symbol in string]
        slopes = []
        for place in range(len(logits)):
            step = np.zeros(len(logits))
            step[place] = 1e-6
            up, down = (oracle.hmm_log_probability(codes, *parts(logits + s)) for s in (step, -step))
            slopes.append((up - down) / 2e-6)
        # The parameters are tau / sum of tau at tau = p: a derivative by tau is one by its logarithm, divided by p.
        wanted = np.asarray(slopes) / np.exp(logits)
        fitted = SCORES.fit([string])
        np.testing.assert_allclose(SCORES.coordinates(fitted.coerce([string]), fitted.state)[0], wanted, atol=1e-6)


def test_a_hidden_model_with_one_state_is_a_chain_of_order_zero():
    one = kernels.HMMFisher(alphabet="ab", start=(1.0,), transitions=((1.0,),), emissions=((0.7, 0.3),))
    zero = kernels.MarkovFisher(0, alphabet="ab", probabilities=((0.7, 0.3),))
    strings = ["", "a", "abba", "bbbb"]
    with pytest.warns(KernelWarning):
        wanted = zero.fit(strings)(strings)
    np.testing.assert_allclose(one.fit(strings)(strings), wanted, atol=1e-9)


def test_training_without_hmmlearn_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "hmmlearn", None)
    monkeypatch.setitem(sys.modules, "hmmlearn.hmm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mercer\[hmm\]'; or give start"):
        kernels.HMMFisher(states=2).fit(["abab", "ba"])
    kernels.HMMFisher(alphabet="ab", **MODEL).fit(["abab", "ba"])  # which a given model does not need


def test_hidden_models_are_trained_by_hmmlearn():
    pytest.importorskip("hmmlearn")
    strings = ["aabbab", "abab", "bbbbaaaa", "ab"] * 5
    fitted = kernels.HMMFisher(states=2).fit(strings)
    np.testing.assert_allclose(fitted.state.values["transitions"].sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted(strings), kernels.HMMFisher(states=2).fit(strings)(strings))
    assert np.isfinite(kernels.HMMFisher(alphabet="ab", **MODEL).fit(["ab"])(["ab" * 5000])).all()


@pytest.mark.parametrize("kind", ["diag", "full", "tied", "spherical"])
def test_scores_of_a_mixture_are_derivatives(kind):
    random = np.random.default_rng(0)
    rows = np.vstack([random.normal(size=(40, 2)), random.normal(size=(40, 2)) + 3])
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(rows)
    kernel = kernels.GaussianMixtureFisher.of(mixture)
    fitted = kernel.fit(rows)
    scores = kernel.coordinates(fitted.coerce(rows[:3]), fitted.state)
    wide = scores.shape[1]
    assert wide == 2 + 2 * (2 + (2 if kind in ("diag", "spherical") else 4))
    for component, channel in itertools.product(range(2), repeat=2):
        values = []
        for step in (1e-5, -1e-5):
            mixture.means_[component, channel] += step
            values.append(mixture.score_samples(rows[:3]))
            mixture.means_[component, channel] -= step
        place = 2 + component * ((wide - 2) // 2) + channel
        np.testing.assert_allclose(scores[:, place], (values[0] - values[1]) / 2e-5, atol=1e-5)


def test_mixtures_are_trained_and_bags_add_up():
    random = np.random.default_rng(0)
    bags = [random.normal(size=(size, 2)) for size in (3, 1, 4, 2)]
    kernel = kernels.GaussianMixtureFisher(components=2)
    rows = np.vstack(bags)
    fitted = kernel.fit(rows)
    sums = np.array([kernel.coordinates(fitted.coerce(bag), fitted.state).sum(axis=0) for bag in bags])
    np.testing.assert_allclose(kernels.DerivedSubsets(kernel).fit(bags)(bags), sums @ sums.T, rtol=1e-9, atol=1e-9)
