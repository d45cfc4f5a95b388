"""Kernels on subsequences and alignments: the worked examples, and enumeration."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import KernelError, KernelWarning
from tests.oracles import strings as oracle

SENTENCES = ["science is organized knowledge", "wisdom is organized life"]
short = st.text("abc", max_size=6)
pairs = st.lists(st.tuples(short, short), min_size=1, max_size=4)


def block(kernel, left, right=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        fitted = kernel.fit(left)
    return fitted(left, right)


def value(kernel, s, t):
    return block(kernel, [s], [t])[0, 0]


def test_all_subsequences_examples():
    kernel = kernels.AllSubsequences()
    wanted = [[8, 6, 4, 2], [6, 12, 3, 3], [4, 3, 8, 4], [2, 3, 4, 8]]
    np.testing.assert_array_equal(block(kernel, ["bar", "baa", "car", "cat"]), wanted)
    prefixes = block(kernel, ["gatta"], ["", "c", "ca", "cat", "cata"])
    np.testing.assert_array_equal(prefixes, [[1, 1, 3, 7, 14]])
    assert value(kernel, "cat", "cart") == 8
    assert value(kernel, "a" * 10, "a" * 10) == 184756


@settings(max_examples=40)
@given(pairs)
def test_all_subsequences_are_counted(strings):
    for s, t in strings:
        assert value(kernels.AllSubsequences(), s, t) == oracle.all_subsequences(s, t)


@pytest.mark.parametrize("length", [20, 600, 3000])
def test_the_cosine_of_all_subsequences_never_overflows(length):
    cosine = kernels.normalise(kernels.AllSubsequences())
    found = block(cosine, ["a" * length, "a" * (length - 10), ""])

    def log_choose(n, k):
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    own = log_choose(2 * length, length), log_choose(2 * length - 20, length - 10)
    wanted = math.exp(log_choose(2 * length - 10, length) - sum(own) / 2)
    assert found[0, 1] == pytest.approx(wanted, abs=1e-9)
    np.testing.assert_array_equal(np.diag(found), 1)
    assert np.isfinite(found).all()


def test_values_beyond_every_float_are_refused_in_words():
    with pytest.raises(KernelError, match="normalise"):
        block(kernels.AllSubsequences(), ["a" * 600])


def test_fixed_length_examples():
    found = [value(kernels.FixedLengthSubsequences(p=p), "gatta", "cata") for p in range(1, 5)]
    assert found == [6, 5, 2, 0]
    four = block(kernels.FixedLengthSubsequences(p=2), ["bar", "bat", "car", "cat"])
    assert (four[0, 0], four[0, 1], four[0, 3]) == (3, 1, 0)


def test_gap_weighted_examples():
    def gaps(p, decay=0.5):
        return kernels.GapWeighted(p=p, decay=decay)

    for decay in (0.3, 0.5, 0.9):
        four = block(gaps(2, decay), ["cat", "car", "bat", "bar"])
        assert four[0, 0] == pytest.approx(2 * decay**4 + decay**6, abs=1e-12)
        assert four[0, 1] == pytest.approx(decay**4, abs=1e-12)
        assert four[0, 3] == 0
        assert block(kernels.normalise(gaps(2, decay)), ["cat"], ["car"])[0, 0] == pytest.approx(1 / (2 + decay**2))
        assert value(gaps(2, decay), "gatta", "cata") == pytest.approx(2 * decay**4 + 2 * decay**5 + decay**7)
        assert value(gaps(3, decay), "gatta", "cata") == pytest.approx(2 * decay**7)
    assert [value(gaps(p), "gatta", "cata") for p in range(1, 5)] == [1.5, 0.1953125, 0.015625, 0]
    assert [value(gaps(p), "cat", "cart") for p in (2, 3)] == [0.1015625, 0.0078125]
    four = block(gaps(3, 0.7), ["gatta", "cata", "taga", "attac"])
    wanted = [1.0047812845, 0.1647086, 0.46589004, 0.35059402, 0.35059402]
    np.testing.assert_allclose([four[0, 0], four[0, 1], four[0, 3], four[1, 1], four[2, 2]], wanted, atol=1e-9)
    np.testing.assert_array_equal(four[2, [0, 1, 3]], 0)
    cosines = [value(kernels.normalise(gaps(p)), *SENTENCES) for p in range(1, 7)]
    wanted = [0.8486792152, 0.5798136983, 0.4784547863, 0.4388705084, 0.4057451635, 0.3691560120]
    np.testing.assert_allclose(cosines, wanted, atol=1e-9)
    assert sum(value(gaps(p), "gatta", "cata") for p in range(1, 5)) == 1.7109375


@settings(max_examples=60)
@given(pairs, st.integers(1, 4), st.floats(0.05, 1.0))
def test_weighted_subsequences_are_enumerated(strings, p, decay):
    decays = {"a": decay, "b": 1.0, "c": 0.3}
    soft = [[1.0, 0.5, 0.0], [0.5, 1.0, -0.2], [0.0, -0.2, 0.7]]
    for s, t in strings:
        for kernel, wanted in (
            (kernels.FixedLengthSubsequences(p=p), oracle.gap_weighted(s, t, p, 1.0)),
            (kernels.GapWeighted(p=p, decay=decay), oracle.gap_weighted(s, t, p, decay)),
            (kernels.GapNumberWeighted(p=p, decay=decay), oracle.gap_number(s, t, p, decay)),
            (kernels.RestrictedGapWeighted(p=p, m=2, decay=decay), oracle.restricted(s, t, p, 2, decay)),
            (kernels.CharacterWeighted(decays, p=p), oracle.character_weighted(s, t, p, decays)),
            (
                kernels.CharacterWeighted({"c": 0.3, "b": 1.0}, p=p, default=decay, gaps_only=True),
                oracle.character_weighted(s, t, p, decays, gaps_only=True),
            ),
            (
                kernels.SoftMatching(soft, "abc", p=p, decay=decay),
                oracle.soft_matching(s, t, p, decay, lambda a, b: soft["abc".index(a)]["abc".index(b)]),
            ),
        ):
            assert value(kernel, s, t) == pytest.approx(wanted, rel=1e-9, abs=1e-12), kernel


def test_many_pairs_of_all_lengths_at_once():
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("ab"), size=n % 9)) for n in range(70)]
    for kernel, wanted in (
        (kernels.GapWeighted(p=2, decay=0.6), lambda s, t: oracle.gap_weighted(s, t, 2, 0.6)),
        (kernels.GapNumberWeighted(p=2, decay=0.0), lambda s, t: oracle.spectrum(s, t, 2)),
        (kernels.AllSubsequences(), oracle.all_subsequences),
    ):
        found = block(kernel, texts)
        chosen = [(int(i), int(j)) for i, j in rng.integers(0, 70, size=(150, 2))]
        np.testing.assert_allclose([found[i, j] for i, j in chosen], [wanted(texts[i], texts[j]) for i, j in chosen])


def test_character_weighted_examples():
    decays = {"c": 0.9, "a": 0.5, "t": 0.8, "g": 0.3, "r": 0.7}
    found = [value(kernels.CharacterWeighted(decays, p=p), "gatta", "cata") for p in (1, 2, 3)]
    np.testing.assert_allclose(found, [2.28, 0.608, 0.064], atol=1e-9)
    assert value(kernels.CharacterWeighted(decays, p=2), "cat", "cart") == pytest.approx(0.40522, abs=1e-9)
    tokens = [["the", "cat"], ["the", "big", "cat"]]
    kernel = kernels.CharacterWeighted({"big": 0.25}, p=2, default=0.5)
    assert block(kernel, tokens)[0, 1] == 0.25 * 0.0625


def test_soft_matching_examples():
    similar = np.eye(4)
    similar[0, 1] = similar[1, 0] = 0.5
    found = [value(kernels.SoftMatching(similar, "bcat", p=p, decay=0.5), "cat", "bat") for p in (2, 3)]
    assert found == [0.1015625, 0.0078125]
    hard = [value(kernels.SoftMatching(np.eye(4), "bcat", p=p, decay=0.5), "cat", "bat") for p in (2, 3)]
    assert hard == [0.0625, 0]
    chain = [[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]]
    with pytest.raises(ValueError, match=r"-0\.272792"):
        kernels.SoftMatching(chain, "abc", p=1, decay=1.0)
    for repair in ("clip", "shift"):
        repaired = kernels.SoftMatching(chain, "abc", p=1, decay=1.0, repair=repair)
        assert np.linalg.eigvalsh(block(repaired, ["a", "b", "c"]))[0] > -1e-9
    assert kernels.SoftMatching(chain, "abc", repair="shift").matrix[0, 1] == 0.9


def test_gap_number_examples():
    found = [value(kernels.GapNumberWeighted(p=p, decay=0.5), "gatta", "cata") for p in (1, 2, 3)]
    assert found == [6, 3.25, 1]
    assert value(kernels.GapNumberWeighted(p=2, decay=0.5), "cat", "cart") == 1.75
    assert value(kernels.GapNumberWeighted(p=2, decay=0.0), "banana", "ananas") == 8
    four = block(kernels.GapNumberWeighted(p=2, decay=0.5), ["cat", "car", "bat", "bar"])
    assert (four[0, 0], four[0, 1], four[0, 3]) == (2.25, 1, 0)


def test_restricted_examples():
    found = [value(kernels.RestrictedGapWeighted(p=2, m=m, decay=0.5), "gatta", "cata") for m in range(4)]
    assert found == [0.125, 0.1875, 0.1953125, 0.1953125]
    words = ["cat", "car", "bat", "bar"]
    wanted = block(kernels.GapWeighted(p=2, decay=0.5), words)
    np.testing.assert_allclose(block(kernels.RestrictedGapWeighted(p=2, m=1, decay=0.5), words), wanted, atol=1e-12)


def test_local_alignment_examples():
    assert value(kernels.LocalAlignment(beta=0.5), "cat", "cart") == pytest.approx(41.1993115951, abs=1e-9)
    plain = kernels.LocalAlignment(beta=1.0, match=1.0, mismatch=0.0, gap_open=1.0, gap_extend=1.0)
    assert value(plain, "ab", "ab") == pytest.approx(3 + 2 * math.e + math.e**2, abs=1e-9)
    assert value(plain, "", "ab") == 1
    assert not kernels.LogLocalAlignment().psd
    binary = [format(n, f"0{size}b") for size in range(1, 5) for n in range(2**size)]
    logarithm = kernels.LogLocalAlignment(beta=0.5)
    assert np.linalg.eigvalsh(block(logarithm, binary))[0] < -0.1


@settings(max_examples=30)
@given(st.text("ab", max_size=5), st.text("ab", max_size=5), st.floats(0.1, 1.5))
def test_local_alignments_are_enumerated(s, t, beta):
    wanted = oracle.local_alignment(s, t, beta, lambda a, b: 2.0 if a == b else -1.0, 3.0, 1.0)
    assert value(kernels.LocalAlignment(beta=beta), s, t) == pytest.approx(wanted, rel=1e-9)
    table = kernels.LocalAlignment(beta=beta, matrix=[[2.0, -1.0], [-1.0, 2.0]], alphabet="ab")
    assert value(table, s, t) == pytest.approx(wanted, rel=1e-9)
    assert value(kernels.LogLocalAlignment(beta=beta), s, t) == pytest.approx(math.log(wanted) / beta, rel=1e-9)


def test_local_alignment_of_long_strings():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACDE"), size=n)) for n in (3, 300, 2000)]
    texts.append(texts[2][:1990])
    found = block(kernels.normalise(kernels.LocalAlignment()), texts)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(np.diag(found), 1)
    logs = block(kernels.LogLocalAlignment(), texts)
    by_logs = math.exp(0.5 * (logs[2, 3] - (logs[2, 2] + logs[3, 3]) / 2))
    assert found[2, 3] == pytest.approx(by_logs, rel=1e-6)
    assert 0 < found[2, 3] < 1


def test_a_substitution_matrix_by_name():
    pytest.importorskip("Bio", reason="no-run: Biopython is an extra")
    kernel = kernels.SoftMatching("BLOSUM62", "ACDEFGHIKLMNPQRSTVWY", p=2, repair="clip")
    assert np.linalg.eigvalsh(block(kernel, ["MKV", "MRV", "WWW"]))[0] > -1e-9
    assert kernels.LocalAlignment(beta=0.1, matrix="BLOSUM62", gap_open=11.0).alphabet[:3] == "ARN"
    with pytest.raises(ValueError, match="Did you mean 'BLOSUM62'"):
        kernels.SoftMatching("BLOSUM6")


def test_long_strings_stay_finite():
    texts = ["ab" * 800, "ba" * 800]  # long enough that 0.5 ** -length overflows
    for kernel in (kernels.GapWeighted(p=3, decay=0.5), kernels.GapNumberWeighted(p=2)):
        found = block(kernels.normalise(kernel), texts)
        assert np.isfinite(found).all()
        assert 0.9 < found[0, 1] < 1
