"""Kernels on contiguous words: the worked examples, and enumeration."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import KernelWarning
from mercer.kernels.strings.masks import coefficients
from mercer.kernels.strings.mismatch import common_neighbours
from tests.oracles import strings as oracle

FOUR = ["bar", "bat", "car", "cat"]
SENTENCES = ["science is organized knowledge", "wisdom is organized life"]
dna = st.text("ACGT", max_size=12)


def value(kernel, s, t):
    return block(kernel, [s], [t])[0, 0]


def block(kernel, left, right=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        fitted = kernel.fit(left)
    return fitted(left, right)


def test_the_lecture_on_spectra():
    assert value(kernels.Spectrum(p=1), "CATTC", "AAAGAGA") == 5
    assert value(kernels.Spectrum(p=2), "CATTC", "AAAGAGA") == 0
    assert value(kernels.Spectrum(p=2), *SENTENCES) == 15
    assert value(kernels.Spectrum(p=1, tokens="words"), *SENTENCES) == 2


@pytest.mark.parametrize("algorithm", ["counts", "trie"])
def test_spectrum_examples(algorithm):
    def spectrum(p):
        return kernels.Spectrum(p=p, algorithm=algorithm)

    np.testing.assert_array_equal(block(spectrum(2), FOUR), [[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]])
    words = ["statistics", "computation", "station"]
    np.testing.assert_array_equal(block(spectrum(3), words), [[8, 2, 3], [2, 9, 4], [3, 4, 5]])
    assert value(spectrum(1), "statistics", "computation") == 10
    np.testing.assert_array_equal(block(spectrum(2), ["banana", "ananas"]), [[9, 8], [8, 9]])
    assert value(kernels.normalise(spectrum(2)), "banana", "ananas") == pytest.approx(8 / 9, abs=1e-12)
    assert value(spectrum(2), "aaa", "aaa") == 4  # occurrences overlap


@settings(max_examples=60)
@given(st.lists(st.text("ab\U0001f600c", max_size=9), min_size=1, max_size=5), st.integers(1, 4))
def test_spectrum_is_counting_whatever_the_algorithm(texts, p):
    wanted = [[oracle.spectrum(s, t, p) for t in texts] for s in texts]
    np.testing.assert_array_equal(block(kernels.Spectrum(p=p), texts), wanted)
    np.testing.assert_array_equal(block(kernels.Spectrum(p=p, algorithm="trie"), texts), wanted)


def test_blended_examples():
    assert value(kernels.BlendedSpectrum(p=3), "banana", "ananas") == 26
    assert value(kernels.BlendedSpectrum(p=3, decay=0.5), "banana", "ananas") == 3.828125
    wanted = [[5, 3, 3, 1], [3, 5, 1, 3], [3, 1, 5, 3], [1, 3, 3, 5]]
    np.testing.assert_array_equal(block(kernels.BlendedSpectrum(p=2), FOUR), wanted)
    half = block(kernels.BlendedSpectrum(p=2, decay=0.5), FOUR)
    assert (half[0, 0], half[0, 1], half[0, 3]) == (0.875, 0.5625, 0.25)


@given(st.text("abc", max_size=9), st.text("abc", max_size=9), st.integers(1, 4), st.floats(0.1, 2))
def test_blended_is_a_sum_of_spectra(s, t, p, decay):
    wanted = oracle.blended(s, t, p, decay)
    assert value(kernels.BlendedSpectrum(p=p, decay=decay), s, t) == pytest.approx(wanted, rel=1e-9)


def test_mismatch_examples():
    assert [common_neighbours(4, 1, 4, d) for d in range(4)] == [13, 4, 2, 0]
    five = block(kernels.Mismatch("abcrt", p=3, m=1), FOUR)
    np.testing.assert_array_equal(five, [[13, 5, 5, 2], [5, 13, 2, 5], [5, 2, 13, 5], [2, 5, 5, 13]])
    np.testing.assert_array_equal(block(kernels.Mismatch("ACGT", p=2, m=1), ["ACGT", "AGGT"]), [[33, 31], [31, 41]])
    assert value(kernels.Mismatch("ACGT", p=4, m=1), "ACGTACGGA", "AGGTTCGAC") == 30
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert value(kernels.Mismatch(letters, p=3, m=1), "cat", "car") == 26


@settings(max_examples=50)
@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(1, 4), st.data())
def test_mismatch_is_counting_neighbours(s, t, p, data):
    m = data.draw(st.integers(0, p - 1))
    assert value(kernels.Mismatch("abc", p=p, m=m), s, t) == oracle.mismatch(s, t, "abc", p, m)


def test_gapped_kmer_examples():
    kernel = kernels.GappedKmer(l=4, k=2)
    np.testing.assert_array_equal(block(kernel, ["ACGTAC", "ACGGAC"]), [[18, 9], [9, 18]])
    assert value(kernels.normalise(kernel), "ACGTAC", "ACGGAC") == pytest.approx(0.5, abs=1e-12)
    assert value(kernel, "ACGTACGGA", "AGGTTCGAC") == 18
    assert value(kernels.GappedKmer(l=3, k=2), "ACGTT", "AACGA") == 4
    assert value(kernels.GappedKmer(l=3, k=2, reverse_complement=True), "ACGTT", "AACGA") == 22


@settings(max_examples=60)
@given(st.lists(dna, min_size=1, max_size=4), st.integers(1, 5), st.data(), st.booleans())
def test_gapped_kmers_are_counted(texts, l, data, both):  # noqa: E741
    k = data.draw(st.integers(1, l))
    wanted = [[oracle.gapped_kmers(s, t, l, k, both) for t in texts] for s in texts]
    np.testing.assert_array_equal(block(kernels.GappedKmer(l=l, k=k, reverse_complement=both), texts), wanted)


def test_gapped_kmers_of_long_strings_take_the_walk_for_their_diagonal():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), size=n)) for n in (700, 10)]
    kernel = kernels.GappedKmer(l=4, k=2, reverse_complement=True)
    fitted = kernel.fit(texts)
    features = fitted.features(fitted.coerce(texts))
    tile = np.empty((2, 2))
    fitted.tile(*fitted.align(features, features), tile)
    np.testing.assert_array_equal(fitted.diagonal(features), np.diag(tile))


def test_any_profile_of_mismatches():
    s, t = "ACGTACGGA", "AGGTTCGAC"
    windows = [[x[i : i + 4] for i in range(len(x) - 3)] for x in (s, t)]
    distances = [sum(a != b for a, b in zip(u, v, strict=True)) for u in windows[0] for v in windows[1]]
    assert [distances.count(d) for d in range(5)] == [0, 3, 9, 9, 15]
    for profile in ((5.0, 1.0), (1.0, 0.5, 0.25, 0.125, 0.0625)):
        wanted = sum(profile[d] for d in distances if d < len(profile))
        assert value(kernels.GappedKmer(l=4, k=2, weights=profile), s, t) == pytest.approx(wanted, abs=1e-9)
    np.testing.assert_array_equal(coefficients([13.0, 4.0, 2.0], 4), [0, 0, 2, -2, 9])
    assert kernels.GappedKmer(l=4, weights=(6.0, 1.0), k=2).psd
    assert not kernels.GappedKmer(l=4, weights=(3.0, 1.0), k=2).psd


def test_windows_with_other_symbols_can_be_left_out():
    skip = kernels.GappedKmer(l=3, k=2, reverse_complement=True, unknown="skip")
    parts = kernels.GappedKmer(l=3, k=2, reverse_complement=True)
    whole = value(skip, "ACGTTNAACGA", "ACGA")
    assert whole == value(parts, "ACGTT", "ACGA") + value(parts, "AACGA", "ACGA")
    assert value(skip, "acgtN", "ACGA") == 0
    folded = kernels.GappedKmer(l=3, k=2, reverse_complement=True, lowercase=True)
    assert value(folded, "acgTT", "AACGA") == 22


@settings(max_examples=60)
@given(st.lists(st.text("AC", max_size=10), min_size=1, max_size=40), st.integers(1, 5), st.integers(0, 3))
def test_weighted_degree_is_its_formula(texts, degree, shift):
    kernel = kernels.WeightedDegree(degree=degree, shift=shift)
    wanted = [[oracle.weighted_degree(s, t, degree, shift) for t in texts[:5]] for s in texts]
    np.testing.assert_allclose(block(kernel, texts)[:, :5], wanted, atol=1e-9)
    own = [oracle.weighted_degree(s, s, degree, shift) for s in texts]
    np.testing.assert_allclose(np.diag(block(kernel, texts)), own, atol=1e-9)


def test_words_and_tokens_are_symbols_everywhere():
    lists = [text.split() for text in SENTENCES]
    for kernel in (kernels.Spectrum(p=1), kernels.GappedKmer(l=2, k=1), kernels.BlendedSpectrum(p=2)):
        as_words = block(kernel.with_params(tokens="words"), SENTENCES)
        np.testing.assert_array_equal(block(kernel, lists), as_words)
    assert value(kernels.Spectrum(p=2), [1, 2, 3], [2, 3, 4]) == 1
    assert value(kernels.Spectrum(p=2), list("banana"), list("ananas")) == 8


def test_case_and_unicode_are_folded_on_request():
    assert value(kernels.Spectrum(p=1), "Aé", "ae\u0301") == 0
    assert value(kernels.Spectrum(p=1, lowercase=True, normalize="NFC"), "Aé", "ae\u0301") == 2
