"""Terms of documents are counted once, and kept for the next call."""

import numpy as np

from mercer import kernels
from mercer.inputs.strings import Strings
from mercer.kernels.documents import terms
from mercer.kernels.documents.terms import Kept, count_terms


def counting(texts):
    seen = []

    def analyse(text):
        seen.append(text)
        return text.split()

    return seen, lambda way: count_terms(analyse, Strings.coerce(texts), way)


def test_a_document_is_split_once(monkeypatch):
    monkeypatch.setattr(terms, "_KEPT", Kept())
    seen, count = counting(["a b b", "c", "", "a b b"])
    first, again, apart = count("words"), count("words"), count("others")
    assert seen == ["a b b", "c", "", "a b b", "c", ""]
    for one, other, third in zip(first, again, apart, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, third)
    assert first[1].tolist() == [1, 2, 1, 1, 2]
    assert first[2].tolist() == [0, 2, 3, 3, 5]


def test_functions_of_users_are_called_each_time():
    seen, count = counting(["a b", "a b"])
    count(None), count(None)
    assert len(seen) == 4


def test_the_older_generation_is_forgotten():
    kept = Kept(most=3)
    two = np.zeros(2, dtype=np.int64), np.zeros(2)
    for key in "abcd":
        kept.put(key, two)
    assert kept.get("a") is not None  # of the older generation, and young again
    for key in "efgh":
        kept.put(key, two)
    assert kept.get("b") is None
    assert kept.get("h") is not None


def test_kernels_that_split_differently_share_nothing():
    texts = ["One two", "two three"]
    words = kernels.VectorSpace().fit(texts)(texts)
    pairs = kernels.VectorSpace(ngrams=(1, 2)).fit(texts)(texts)
    cased = kernels.VectorSpace(lowercase=False, stop_words=("two",)).fit(texts)(texts)
    assert (words[0, 0], pairs[0, 0], cased[0, 0], cased[0, 1]) == (2, 3, 1, 0)
