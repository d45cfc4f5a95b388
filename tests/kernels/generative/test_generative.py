"""Kernels from probability models: the worked examples, enumeration, long strings, and what is refused."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

import mercer
from mercer import SVC, kernels
from mercer.errors import InputError, KernelWarning, MissingExtraError, ParameterError
from mercer.kernels.generative.learning import expected, learn
from mercer.kernels.strings.pairlearning import PairModel, _class_counts, _expected, improved, learn_pairs, ways
from tests.oracles import generative as oracle

MODEL = {"start": (0.6, 0.4), "transitions": ((0.7, 0.3), (0.2, 0.8)), "emissions": ((0.9, 0.1), (0.2, 0.8))}
HMM = kernels.FixedLengthHMM(alphabet="ab", **MODEL)
SHAPE = (-1, 0, 0, 1, 1)
TREE = kernels.HiddenTree(parents=SHAPE, alphabet="ab", **MODEL)
PAIRS = {"background": (0.5, 0.5), "weights": (0.5, 0.5), "classes": ((0.9, 0.1), (0.2, 0.8))}
PAIR = kernels.PairHMM(alphabet="ab", gap_open=0.2, gap_extend=0.3, stop=0.1, **PAIRS)
TABLE = ((0.7, 0.3), (0.4, 0.6))
MARKOV = kernels.MarkovFisher(alphabet="ab", probabilities=TABLE)
SCORES = kernels.HMMFisher(alphabet="ab", **MODEL)


def words(*lengths):
    return ["".join(word) for n in lengths for word in itertools.product("ab", repeat=n)]


# Hidden Markov models and trees ----------------------------------------------------------------------------------


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


# Pairs ------------------------------------------------------------------------------------------------------------


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
    monkeypatch.setattr("mercer.kernels.strings.pairhmm._SMALL", 1.0)  # every pair the long way
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


# Fisher kernels ---------------------------------------------------------------------------------------------------


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


# Everything -------------------------------------------------------------------------------------------------------

GIVEN = [HMM, TREE, PAIR, MARKOV, SCORES]


@pytest.mark.parametrize("kernel", GIVEN, ids=lambda kernel: type(kernel).__name__)
def test_text_tables_and_model_files(kernel, tmp_path):
    assert kernels.parse(str(kernel)) == kernel
    rows = {"word": words(3) * 2, "number": np.arange(16.0)}
    mixed = kernels.on("word", kernels.normalise(kernel)) + kernels.on("number", kernels.RBF(gamma=0.1))
    model = SVC(kernel=mixed).fit(rows, [0, 1] * 8)
    mercer.save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model").decision_function(rows), model.decision_function(rows)
    )


@pytest.mark.parametrize("kernel", GIVEN, ids=lambda kernel: type(kernel).__name__)
def test_unknown_symbols_are_named(kernel):
    with pytest.raises(InputError, match=r"String 1 has 'c' at position 2"):
        kernel.fit(["aab", "abc"])
    with pytest.raises(InputError, match=r"String 0 has 'x' at position 0"):
        kernel.fit(["aab"])(["xab"], ["aab"])


def test_unequal_lengths_are_named():
    with pytest.raises(InputError, match=r"one length, 2 here, but string 1 has 3 symbols \(1 such"):
        HMM.fit(["ab", "aba"])
    with pytest.raises(InputError, match=r"one length, 3 here, but string 0 has 2"):
        TREE.fit(["ab"])
    with pytest.raises(InputError, match="string 0 is empty"):
        HMM.fit([""])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HMM.with_params(transitions=((0.7, 0.3), (0.2, 0.7))), "'transitions' .* row 1 sums to 0.9"),
        (lambda: HMM.with_params(emissions=((0.9, 0.1), (1.2, -0.2))), "'emissions' .* row 1 has -0.2 at column 1"),
        (lambda: HMM.with_params(start=(0.6, 0.6)), "'start' .* it sums to 1.2"),
        (lambda: HMM.with_params(start=(1.0,)), "'transitions' .* table of 1 rows and 1 columns"),
        (lambda: HMM.with_params(alphabet="abc"), "'emissions' .* table of 2 rows and 3 columns"),
        (lambda: HMM.with_params(start=None), "'start' .* given beside transitions"),
        (lambda: TREE.with_params(parents=(-1, 2, 0)), "'parents' .* Number the nodes from the root downwards"),
        (lambda: TREE.with_params(observed=(1, 1)), "'observed'"),
        (lambda: MARKOV.with_params(probabilities=((0.7, 0.3), (1.0, 0.0))), "row 1 has the probability 0 at column 1"),
        (lambda: MARKOV.with_params(order=2), "table of 4 rows and 2 columns"),
        (lambda: MARKOV.with_params(alphabet=None), "'alphabet'"),
        (lambda: kernels.MarkovFisher(smoothing=0.0), "'smoothing'"),
        (lambda: kernels.MarkovFisher(order=30).fit(["ab"]), "'order'"),
        (lambda: PAIR.with_params(classes=((0.9, 0.2), (0.2, 0.8))), "'classes' .* row 0 sums to 1.1"),
        (lambda: PAIR.with_params(background=(1.0, 0.0)), "gives 'b' the probability 0"),
        (lambda: PAIR.with_params(weights=None), "'weights'"),
        (lambda: kernels.PairHMM(stop=1.0), "'stop'"),
        (lambda: PAIR.with_params(match=((0.5, 0), (0, 0.5))), "'match' .* instead of classes"),
        (lambda: kernels.PairHMM(alphabet="ab", match=((0.5, 0.2), (0.1, 0.2))), "'match' .* symmetric"),
        (lambda: kernels.PairHMM(alphabet="ab", match=((0.5, 0.2), (0.2, 0.5))), "'match' .* the sum 1.4"),
        (lambda: kernels.PairHMM(alphabet="ab", match=((0.5, 0.5),)), "'match' .* 2 x 2"),
        (lambda: kernels.PairHMM(match=((1.0,),)), "'alphabet' .* match"),
        (lambda: SCORES.with_params(emissions=((0.9, 0.2), (0.2, 0.8))), "'emissions' .* row 0 sums to 1.1"),
        (lambda: kernels.GaussianMixtureFisher(weights=(1.0,)), "'means'"),
        (
            lambda: kernels.GaussianMixtureFisher(weights=(1.0,), means=[[0.0]], covariances=[[0.0]]),
            "positive definite, but number 0 is not",
        ),
    ],
)
def test_models_that_are_none(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_impossible_strings_have_no_score():
    model = {"start": (1.0, 0.0), "transitions": ((0.5, 0.5), (0.0, 1.0)), "emissions": ((1.0, 0.0), (0.0, 1.0))}
    with pytest.raises(InputError, match="String 1 has the probability 0"):
        kernels.HMMFisher(alphabet="ab", **model).fit(["ab", "ba"])


def test_too_few_vectors_for_a_mixture():
    with pytest.raises(InputError, match="A mixture of 4 Gaussians needs as many vectors, got 2"):
        kernels.GaussianMixtureFisher().fit([[1.0], [2.0]])
