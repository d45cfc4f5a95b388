"""Explanations add up to the decision, position by position."""

import numpy as np
import pytest

from mercer import kernels
from mercer.errors import KernelError
from mercer.kernels.features.feature_map import WeightTable
from mercer.kernels.features.vocabulary import Vocabulary
from mercer.kernels.strings.explain import explain, strongest_words

KERNELS = [
    kernels.Spectrum(p=3),
    kernels.BlendedSpectrum(p=3, decay=0.6),
    kernels.WeightedDegree(degree=3),
    kernels.GappedKmer(l=4, k=2),
    kernels.normalise(kernels.GappedKmer(l=4, k=2, reverse_complement=True, unknown="skip")),
    kernels.GappedKmer(l=4, k=2, weights=(6.0, 1.0)),
    kernels.Mismatch("ACGT", p=3, m=1),
    kernels.normalise(kernels.Mismatch("ACGT", p=4, m=2, unknown="skip")),
    kernels.RestrictedGapWeighted(p=3, m=2, decay=0.7),
    kernels.normalise(kernels.RestrictedGapWeighted(p=2, m=1)) + kernels.Mismatch("ACGT", p=2),
    kernels.normalise(kernels.Spectrum(p=2)) + 0.5 * kernels.GappedKmer(l=3, k=2),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_positions_and_intercept_add_up(kernel):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), size=size)) for size in (12, 15, 9, 20)]
    fitted = kernel.fit(texts)
    coefficients = rng.normal(size=4)
    table = WeightTable.of(fitted, fitted.coerce(texts), coefficients, 0.25)
    new = ["ACGTACGTTG", "TTTTACG"]
    wanted = fitted(new, texts) @ coefficients + 0.25
    for text, found, value in zip(new, explain(table, new), wanted, strict=True):
        assert "".join(found.symbols) == text
        assert found.contributions.shape == (len(text), 1)
        assert found.contributions.sum() + found.intercept[0] == pytest.approx(value, abs=1e-9)
        assert found.value[0] == pytest.approx(value, abs=1e-9)


def test_the_planted_word_is_found():
    fitted = kernels.Spectrum(p=3).fit(["AACATAA", "AAGATAA"])
    table = WeightTable.of(fitted, fitted.coerce(["AACATAA", "AAGATAA"]), np.asarray([1.0, -1.0]))
    words = strongest_words(table, fitted.coerce(["AACATAA", "AAGATAA"]), count=6)
    assert {"".join(word.symbols) for word in words} == {"AAC", "ACA", "CAT", "AAG", "AGA", "GAT"}
    (found,) = explain(table, ["TCATT"])
    np.testing.assert_allclose(found.contributions[:, 0], [0, 1 / 3, 1 / 3, 1 / 3, 0])
    gapped = kernels.GappedKmer(l=3, k=2).fit(["ACA"])
    table = WeightTable.of(gapped, gapped.coerce(["ACA"]), np.ones(1))
    assert ("A", None, "A") in {word.symbols for word in strongest_words(table, gapped.coerce(["ACA"]))}


def test_a_word_with_a_mismatch_and_a_subsequence_are_spelt():
    near = kernels.Mismatch("ACGT", p=3, m=1).fit(["ACA"])
    table = WeightTable.of(near, near.coerce(["ACA"]), np.ones(1))
    words = {"".join(word.symbols) for word in strongest_words(table, near.coerce(["ACA"]), count=20)}
    assert len(words) == 10
    assert {"ACA", "ACG", "TCA"} < words
    (found,) = explain(table, ["TACT"])  # TAC is two changes from ACA, and shares words with it; ACT is one
    assert found.value[0] == pytest.approx(near(["TACT"], ["ACA"])[0, 0])
    gaps = kernels.RestrictedGapWeighted(p=2, m=1, decay=0.5).fit(["ACG"])
    table = WeightTable.of(gaps, gaps.coerce(["ACG"]), np.ones(1))
    spelt = {word.symbols: word.weights[0] for word in strongest_words(table, gaps.coerce(["ACG"]))}
    assert spelt == {("A", "C"): 0.25, ("C", "G"): 0.25, ("A", None, "G"): 0.125}
    (found,) = explain(table, ["AG"])
    np.testing.assert_allclose(found.contributions[:, 0], [0.5 * 0.25 * 0.125] * 2)


def test_kernels_without_positions_say_so():
    fitted = kernels.GapWeighted(p=2).fit(["abc"])
    table = WeightTable(fitted, Vocabulary(), np.ones((0, 1)), np.zeros(1))
    with pytest.raises(KernelError, match="cannot be explained"):
        explain(table, ["abc"])
