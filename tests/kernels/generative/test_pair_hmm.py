"""Pair hidden Markov models: the worked examples, enumeration, long strings, estimation, what makes a kernel."""

import itertools
import math

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.errors import KernelWarning
from mercer.kernels.generative.pair_learning import PairModel, _class_counts, _expected, improved, learn_pairs, ways
from tests.kernels.generative.models import PAIR, PAIRS, words
from tests.oracles import generative as oracle


def test_pair_examples():
    found = PAIR.fit(["ab"])(["ab"], ["a", "ab", "abb"])
    np.testing.assert_allclose(found, [[0.00184758, 0.00322616484, 0.000643839462]], atol=1e-12)
    assert PAIR.fit([""])([""], [""])[0, 0] == pytest.approx(0.064, abs=1e-12)
    everything = words(0, 1, 2, 3)
    assert np.linalg.eigvalsh(PAIR.fit(everything)(everything))[0] == pytest.approx(1.7e-4, abs=1e-5)


def test_pair_features_enumerated():
    strings = words(0, 1, 2, 3)
    mapped = [oracle.pair_features(s, 0.2, 0.3, 0.1, **PAIRS) for s in strings]
    wanted = [[sum(value * b.get(word, 0.0) for word, value in a.items()) for b in mapped] for a in mapped]
    np.testing.assert_allclose(PAIR.fit(strings)(strings), wanted, rtol=1e-9)


def test_pairs_with_wider_range(monkeypatch):
    random = np.random.default_rng(0)
    strings = ["".join(random.choice(list("ab"), size=size)) for size in (0, 3, 40, 90)]
    usual = PAIR.fit(strings)(strings)
    monkeypatch.setattr("mercer.kernels.generative.pair_hmm._SMALL", 1.0)  # every pair the long way
    np.testing.assert_allclose(PAIR.fit(strings)(strings), usual, rtol=1e-9)


def test_long_pairs():
    random = np.random.default_rng(0)
    string = "".join(random.choice(list("ACGT"), size=900))
    strings = [string, string[:200] + "A" + string[200:], string[:400] + string[500:]]
    K = kernels.normalise(kernels.PairHMM()).fit(strings)(strings)
    np.testing.assert_array_equal(np.diag(K), 1.0)
    assert 0.0 < K[0, 2] < K[0, 1] < 0.1


def sampled_pair(random, model):
    """A pair of coded strings drawn from a model."""
    opened, longer, stop = model.rates
    strings = [], []
    while True:
        for string in strings:
            inside = False
            while random.random() < (longer if inside else opened):
                string.append(random.choice(len(model.background), p=model.background))
                inside = True
        if random.random() < stop:
            return tuple(np.array(string, dtype=np.int32) for string in strings)
        chosen = random.choice(len(model.weights), p=model.weights)
        for string in strings:
            string.append(random.choice(len(model.background), p=model.classes[chosen]))


def test_expected_counts_enumerated():
    model = PairModel(np.array([0.2, 0.3, 0.1]), *(np.asarray(PAIRS[name]) for name in PAIRS))
    for s, t in [("ab", "abb"), ("", "ba"), ("aab", "ba"), ("", "")]:
        found = list(oracle.pair_alignments(s, t, 0.2, 0.3, 0.1, PAIRS["background"], model.match))
        total = sum(value for value, _, _ in found)
        matched = np.zeros((2, 2))
        for value, pairs, _ in found:
            for a, b in pairs:
                matched[a, b] += value / total
        gaps = sum(value * count for value, _, count in found) / total
        own = np.zeros((2, 2))
        codes = [np.array(["ab".index(symbol) for symbol in text], dtype=np.int32) for text in (s, t)]
        tables = np.log(model.match), np.log(model.background), np.log(ways(model.rates))
        likelihood, opened = _expected(*codes, *tables, own)
        assert likelihood == pytest.approx(math.log(total))
        assert opened == pytest.approx(gaps)
        np.testing.assert_allclose(own, matched, atol=1e-12)


def test_counts_of_classes_enumerated():
    model = PairModel(np.full(3, 0.5), *(np.asarray(PAIRS[name]) for name in PAIRS))
    matched = np.array([[3.0, 1.0], [0.5, 2.0]])
    shown, chosen = np.zeros((2, 2)), np.zeros(2)
    for a, b in itertools.product(range(2), repeat=2):
        likely = model.weights * model.classes[:, a] * model.classes[:, b]
        likely *= matched[a, b] / likely.sum()
        chosen += likely
        shown[:, a] += likely
        shown[:, b] += likely
    found = _class_counts(matched, model)
    np.testing.assert_allclose(found[0], shown)
    np.testing.assert_allclose(found[1], chosen)


def test_pairs_are_learnt_back():
    random = np.random.default_rng(0)
    classes = 0.7 * np.eye(4) + 0.1 * np.roll(np.eye(4), 1, axis=1) + 0.05
    truth = PairModel(np.array([0.15, 0.6, 0.04]), np.full(4, 0.25), np.array([0.1, 0.2, 0.3, 0.4]), classes)
    pairs = [sampled_pair(random, truth) for _ in range(60)]
    even = np.full(4, 0.25)
    start = PairModel(np.array([0.1, 0.5, 0.05]), even, even, 0.6 * np.eye(4) + 0.1)
    reached, model = [], start
    for _ in range(12):
        model, value = improved(pairs, model, start, [True] * 3, emissions=True)
        reached.append(value)
    assert np.all(np.diff(reached) > -1e-9)
    learnt = learn_pairs(pairs, start, [True] * 3, emissions=True)
    np.testing.assert_allclose(learnt.rates, truth.rates, rtol=0.2)
    np.testing.assert_allclose(learnt.match, truth.match, atol=0.03)
    fixed = learn_pairs(pairs, start, [False, True, False], emissions=False)
    np.testing.assert_array_equal(fixed.rates[[0, 2]], start.rates[[0, 2]])
    np.testing.assert_array_equal(fixed.classes, start.classes)
    assert fixed.rates[1] > 0.5


LEARNT = kernels.PairHMM(gap_open=None, gap_extend=None, stop=None, mutation=None)


def test_pairs_are_estimated_by_fit():
    random = np.random.default_rng(1)
    families = ["".join(random.choice(list("abcd"), size=40)) for _ in range(4)]
    strings = [text[:cut] + text[cut + 2 :] for text in families for cut in (3, 12, 22, 33)]
    fitted = LEARNT.fit(strings)
    opened, _, stop = fitted.state.values["rates"]
    assert 0.01 < opened < 0.06  # two gaps in some 74 places
    assert stop == pytest.approx(1 / 37, rel=0.15)
    likely = fitted.state.values["odds"] * np.outer(*[fitted.state.values["background"]] * 2)
    assert likely.sum() == pytest.approx(1.0)
    assert np.trace(likely) > 0.93  # mutations: there are none
    assert np.linalg.eigvalsh(likely)[0] >= 0.0
    np.testing.assert_array_equal(fitted(strings), LEARNT.fit(strings)(strings))
    everything = ["".join(word) for n in range(4) for word in itertools.product("abcd", repeat=n)]
    assert np.linalg.eigvalsh(fitted(everything))[0] > -1e-12


def test_estimates_without_evidence_are_the_usual_rates():
    fitted = LEARNT.fit(["abab", "abab"])
    usual = kernels.PairHMM().fit(["abab", "abab"])
    for name in ("rates", "odds"):
        np.testing.assert_allclose(fitted.state.values[name], usual.state.values[name])
    assert LEARNT.data_dependent
    assert not PAIR.data_dependent
    assert PAIR.with_params(stop=None).data_dependent


def test_estimates_are_capped():
    random = np.random.default_rng(0)
    strings = ["".join(random.choice(list("ab"), size=3_000)) for _ in range(5)]
    assert 0.0 < LEARNT.fit(strings).state.values["rates"][2] < 0.01


def test_probabilities_of_all_short_pairs_sum_to_one():
    kernel = PAIR.with_params(gap_open=0.02, gap_extend=0.05, stop=0.9)
    everything = words(*range(7))
    assert kernel.fit(everything)(everything).sum() == pytest.approx(1.0, abs=1e-5)


def test_matches_of_unlike_symbols_are_flagged():
    """The trap: gaps are PSD-safe, but matched symbols are likelier to differ than to agree."""
    trap = kernels.PairHMM(0.2, 0.3, 0.1, alphabet="ab", background=(0.5, 0.5), match=((0.1, 0.4), (0.4, 0.1)))
    everything = words(0, 1, 2, 3)
    K = trap.fit(everything)(everything)
    alignments = [
        [oracle.pair_alignments(s, t, 0.2, 0.3, 0.1, (0.5, 0.5), trap.match) for t in everything] for s in everything
    ]
    np.testing.assert_allclose(K, [[sum(value for value, _, _ in cell) for cell in row] for row in alignments])
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(-0.0116, abs=5e-5)
    assert not trap.psd
    with pytest.warns(KernelWarning, match=r"pair_hmm.* smallest eigenvalue is about -0.0116"):
        SVC(kernel=trap).fit(everything, [0, 1] * 7 + [0])
    SVC(kernel=trap, psd="clip").fit(everything, [0, 1] * 7 + [0])
    safe = trap.with_params(match=((0.4, 0.1), (0.1, 0.4)))
    assert safe.psd
    assert np.linalg.eigvalsh(safe.fit(everything)(everything))[0] > 0


def test_matches_and_classes_agree():
    table = PairModel(np.zeros(3), *(np.asarray(PAIRS[name]) for name in PAIRS)).match
    given = PAIR.with_params(weights=None, classes=None, match=table)
    strings = words(0, 1, 2, 3)
    np.testing.assert_allclose(given.fit(strings)(strings), PAIR.fit(strings)(strings), rtol=1e-12)
    assert kernels.parse(str(given)) == given
