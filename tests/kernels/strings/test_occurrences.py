"""Explanations add up to the decision, position by position, and features are spelt as they are read."""

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.errors import KernelError
from mercer.kernels.features.space import FeatureSpace

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


def shares_of(fitted, support, coefficients, new):
    """The shares of the letters of each new string, and the weights of features by name."""
    objects = fitted.coerce(support)
    space, weights = FeatureSpace.folded(fitted, objects, np.reshape(coefficients, (-1, 1)))
    weigh, texts = space.weigh(weights), fitted.coerce(new)
    found = [space.features.shares(texts.take(slice(i, i + 1)), weigh) for i in range(len(texts))]
    return found, dict(zip(space.names(objects), weights[:, 0], strict=True))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_positions_add_up(kernel):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), size=size)) for size in (12, 15, 9, 20)]
    fitted = kernel.fit(texts)
    coefficients = rng.normal(size=4)
    new = ["ACGTACGTTG", "TTTTACG"]
    wanted = fitted(new, texts) @ coefficients
    for text, found, value in zip(new, shares_of(fitted, texts, coefficients, new)[0], wanted, strict=True):
        assert "".join(found.parts) == text
        assert found.contributions.shape == (len(text), 1)
        assert found.contributions.sum() == pytest.approx(value, abs=1e-9)


def test_the_planted_word_is_found():
    fitted = kernels.Spectrum(p=3).fit(["AACATAA", "AAGATAA"])
    (found,), weights = shares_of(fitted, ["AACATAA", "AAGATAA"], [1.0, -1.0], ["TCATT"])
    assert {word for word, weight in weights.items() if weight} == {"AAC", "ACA", "CAT", "AAG", "AGA", "GAT"}
    np.testing.assert_allclose(found.contributions[:, 0], [0, 1 / 3, 1 / 3, 1 / 3, 0])


def test_a_word_with_a_mismatch_and_a_subsequence_are_spelt():
    near = kernels.Mismatch("ACGT", p=3, m=1).fit(["ACA"])
    (found,), weights = shares_of(near, ["ACA"], [1.0], ["TACT"])  # TAC is two changes from ACA, ACT is one
    assert len(weights) == 10
    assert {"ACA", "ACG", "TCA"} < set(weights)
    assert found.contributions.sum() == pytest.approx(near(["TACT"], ["ACA"])[0, 0])
    gaps = kernels.RestrictedGapWeighted(p=2, m=1, decay=0.5).fit(["ACG"])
    (found,), weights = shares_of(gaps, ["ACG"], [1.0], ["AG"])
    assert weights == {"AC": 0.25, "CG": 0.25, "AG": 0.125}
    np.testing.assert_allclose(found.contributions[:, 0], [0.5 * 0.25 * 0.125] * 2)


@pytest.mark.parametrize(
    ("kernel", "text", "names"),
    [
        (kernels.Spectrum(3), "statistics", ["sta", "tat", "ati", "tis", "ist", "sti", "tic", "ics"]),
        (kernels.BlendedSpectrum(2), "aba", ["a", "b", "ab", "ba"]),
        (kernels.WeightedDegree(2), "abc", ["a@0", "b@1", "c@2", "ab@0", "bc@1"]),
        (kernels.GappedKmer(l=3, k=2), "ACA", ["AC.", "A.A", ".CA"]),
        (kernels.GappedKmer(l=3, k=2, reverse_complement=True), "ACC", ["AC.", "A.C", ".CC", "GG.", "G.T", ".GT"]),
        (kernels.Spectrum(2, tokens="words"), "to be or", ["to be", "be or"]),
        (kernels.Spectrum(1), ["to", "be"], ["to", "be"]),
    ],
    ids=str,
)
def test_names(kernel, text, names):
    assert set(kernel.feature_matrix([text]).names) == set(names)


def test_kernels_without_positions_say_so():
    model = SVC(kernel=kernels.GapWeighted(p=2)).fit(["abc", "bcd", "xyz", "yzx"], [0, 0, 1, 1])
    with pytest.raises(KernelError, match="cannot be taken apart"):
        model.explain(["abc"], by="features")
