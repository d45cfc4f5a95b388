"""The p-spectrum kernel against enumeration."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputTypeError, KernelWarning, ParameterError
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.kernels import Spectrum, normalise
from mercer.kernels.features import counts

texts = st.lists(st.text(st.characters(codec=None, exclude_categories=()), max_size=9), min_size=1, max_size=5)
small_alphabet = st.lists(st.text("ab", max_size=12), min_size=1, max_size=6)
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")


def spectrum(text, p):
    return Counter(text[i : i + p] for i in range(len(text) - p + 1))


def enumerated(left, right, p):
    rows, columns = [spectrum(text, p) for text in left], [spectrum(text, p) for text in right]
    return np.array([[sum(a[word] * b[word] for word in a) for b in columns] for a in rows], dtype=float)


def test_words():
    words = ["bar", "bat", "car", "cat"]
    wanted = [[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]]
    assert Spectrum(p=2).fit(words)(words).tolist() == wanted


@pytest.mark.parametrize(
    ("s", "t", "p", "wanted"),
    [
        ("statistics", "computation", 3, 2),
        ("statistics", "computation", 1, 10),
        ("banana", "ananas", 2, 8),
        ("banana", "banana", 2, 9),
        ("ananas", "ananas", 2, 9),
        ("aaa", "aa", 2, 2),  # occurrences overlap
    ],
)
def test_worked_examples(s, t, p, wanted):
    assert Spectrum(p=p).fit([s, t])([s], [t])[0, 0] == wanted


def test_cosine():
    both = ["banana", "ananas"]
    got = normalise(Spectrum(p=2)).fit(both)(both)
    np.testing.assert_allclose(got, [[1, 8 / 9], [8 / 9, 1]], atol=1e-12)


@quiet
@given(texts, texts, st.integers(1, 4))
def test_against_enumeration_over_unicode(left, right, p):
    fitted = Spectrum(p=p).fit(right)
    assert np.array_equal(fitted(left, right), enumerated(left, right, p))
    assert np.array_equal(np.diagonal(fitted(right)), np.diagonal(enumerated(right, right, p)))


@quiet
@given(small_alphabet, st.integers(1, 5))
def test_against_enumeration_over_two_letters(strings, p):
    assert np.array_equal(Spectrum(p=p).fit(strings)(strings), enumerated(strings, strings, p))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_counts_give_the_same(dtype, monkeypatch):
    random = np.random.default_rng(0)
    strings = ["".join(random.choice(list("ACGT"), size=60)) for _ in range(40)]
    wanted = enumerated(strings, strings, 5)
    fitted = Spectrum(p=5).fit(strings)
    assert np.array_equal(gram_of(fitted, strings, dtype=dtype).dense(), wanted)
    monkeypatch.setattr(counts, "_DENSE_COLUMNS", 0)
    monkeypatch.setattr(counts, "_DENSE_SHARE", 2.0)
    sparse = gram_of(fitted, strings, dtype=dtype, executor=Threads(1))
    assert isinstance(sparse.axes[0].features, counts.SparseCounts)
    assert np.array_equal(sparse.dense(), wanted)
    assert np.array_equal(sparse.view(np.array([3, 1]), slice(0, 9)).dense(), wanted[[3, 1], :9])


def test_short_strings_warn_once_with_their_number():
    with pytest.warns(KernelWarning, match="2 of 3 strings are shorter than 3, the length") as caught:
        fitted = Spectrum(p=3).fit(["", "ab", "abc"])
    assert len(caught) == 1
    assert fitted(["", "ab", "abc"]).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]


@quiet
def test_only_short_strings():
    strings = ["", "a"]
    assert Spectrum(p=3).fit(strings)(strings).tolist() == [[0, 0], [0, 0]]
    assert normalise(Spectrum(p=3)).fit(strings)(strings).tolist() == [[0, 0], [0, 0]]


def test_words_unseen_in_training_meet_nothing():
    fitted = Spectrum(p=2).fit(["abab"])
    assert fitted(["zzzz", "abzz"], ["abab"]).tolist() == [[0], [2]]


def test_order_inside_a_word_matters():
    assert Spectrum(p=3).fit(["abc"])(["abc"], ["cba"])[0, 0] == 0
    assert Spectrum(p=2).fit(["ab"])(["ab"], ["\x00ab"])[0, 0] == 1


@pytest.mark.parametrize("p", [0, -1, 1.5, "3", True, None])
def test_p_out_of_range(p):
    with pytest.raises(ParameterError, match=r"'p' parameter of Spectrum must be an int in \[1, 10000\]"):
        Spectrum(p=p)


def test_vectors_are_no_strings():
    with pytest.raises(InputTypeError, match="Expected a list of strings"):
        Spectrum().fit(np.ones((2, 3)))
