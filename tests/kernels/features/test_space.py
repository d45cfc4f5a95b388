"""Explicit feature maps: the same values as the kernel, in blocks, and models folded into weights."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.errors import KernelError
from mercer.kernels.features import space as feature_space
from mercer.kernels.features.space import FeatureSpace, entries_per_object

KERNELS = [
    kernels.Spectrum(p=3),
    kernels.Spectrum(p=2, algorithm="trie"),
    kernels.BlendedSpectrum(p=3, decay=0.7),
    kernels.Mismatch("ACGT", p=3, m=1),
    kernels.GappedKmer(l=5, k=3),
    kernels.GappedKmer(l=4, k=2, reverse_complement=True),
    kernels.GappedKmer(l=4, k=2, weights=(6.0, 1.0)),
    kernels.WeightedDegree(degree=4),
    kernels.RestrictedGapWeighted(p=2, m=2),
    kernels.normalise(kernels.Spectrum(p=2)) + 0.5 * kernels.GappedKmer(l=4, k=2) + kernels.Spectrum(p=2),
]


def strings(seed, n):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), size=rng.integers(0, 25))) for _ in range(n)]


def fit(kernel, raw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kernel.fit(raw)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_maps_and_tables_agree_with_the_kernel(kernel, monkeypatch):
    monkeypatch.setattr(feature_space, "_FIRST_BLOCK", 5)
    monkeypatch.setattr(feature_space, "_ENTRIES_PER_BLOCK", 700)
    train, new = strings(0, 30), strings(1, 11)
    fitted = fit(kernel, train)
    objects, others = fitted.coerce(train), fitted.coerce(new)
    space, matrix = FeatureSpace.of(fitted, objects)
    unseen = space.matrix(others)
    assert len(list(space.blocks(objects))) > 1
    np.testing.assert_allclose((matrix @ matrix.T).toarray(), fitted(train), atol=1e-8)
    np.testing.assert_allclose((unseen @ matrix.T).toarray(), fitted(new, train), atol=1e-8)
    coefficients = np.random.default_rng(2).normal(size=(30, 2))
    folded, weights = FeatureSpace.folded(fitted, objects, coefficients)
    scores = np.vstack([rows @ weights for rows in folded.blocks(others)])
    np.testing.assert_allclose(scores, fitted(new, train) @ coefficients, atol=1e-8)


def test_features_unseen_in_training_count_in_the_norm():
    fitted = kernels.normalise(kernels.Spectrum(p=1)).fit(["ab"])
    row = FeatureSpace.of(fitted, fitted.coerce(["ab"]))[0].matrix(fitted.coerce(["abcc"])).toarray()
    np.testing.assert_allclose(row, [[1 / 6**0.5, 1 / 6**0.5]])


def test_kernels_without_a_map_say_so():
    for kernel in (
        kernels.GapWeighted(),
        kernels.WeightedDegree(shift=1),
        kernels.RBF(gamma=1.0, over=kernels.Spectrum()),
    ):
        fitted = fit(kernel, ["abcd", "bcde"])
        assert fitted.feature_map() is None
        with pytest.raises(KernelError, match="has no explicit features"):
            FeatureSpace.of(fitted, fitted.coerce(["abcd"]))
        with pytest.raises(KernelError, match="has no explicit features"):
            FeatureSpace.folded(fitted, fitted.coerce(["abcd"]), np.ones((1, 1)))
    table = kernels.on("text", kernels.Spectrum(p=2))
    fitted = table.fit({"text": ["banana"]})
    assert fitted.feature_map().counted
    assert FeatureSpace.of(fitted, fitted.coerce({"text": ["banana"]}))[1].shape == (1, 3)


ROWS = np.random.default_rng(5).normal(size=(12, 3)).round(2)
VECTOR_KERNELS = [
    kernels.Linear(),
    kernels.Polynomial(degree=2, gamma="scale"),
    kernels.normalise(kernels.Polynomial(degree=2)) + 2.0 * kernels.Linear() + 1.0,
    kernels.ANOVA(degree=2),
    kernels.AllSubsets(),
    kernels.RandomFourierFeatures(size=20),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_kernels_on_vectors_have_their_columns_from_the_start(kernel, sparse):
    raw = sp.csr_array(ROWS) if sparse else ROWS
    fitted = kernel.fit(raw[:8])
    space, matrix = FeatureSpace.of(fitted, fitted.coerce(raw[:8]))
    unseen = space.matrix(fitted.coerce(raw[8:]))
    np.testing.assert_allclose(dense(matrix @ matrix.T), fitted(raw[:8]), atol=1e-9)
    np.testing.assert_allclose(dense(unseen @ matrix.T), fitted(raw[8:], raw[:8]), atol=1e-9)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def test_rows_that_mix_kinds_have_columns_side_by_side(monkeypatch):
    monkeypatch.setattr(feature_space, "_FIRST_BLOCK", 3)
    table = {"text": strings(3, 12), "a": list(ROWS[:, 0]), "b": list(ROWS[:, 1])}
    mixed = kernels.normalise(
        kernels.on("text", kernels.Spectrum(p=2))
        + kernels.on(["a", "b"], kernels.Linear())
        + kernels.on("text", kernels.Spectrum(p=1))
    )
    fitted = fit(mixed, table)
    space, matrix = FeatureSpace.of(fitted, fitted.coerce(table))
    np.testing.assert_allclose(dense(matrix @ matrix.T), fitted(table), atol=1e-12)
    new = {"text": ["zebra", "AC"], "a": [1.0, 2.0], "b": [0.5, 0.0]}  # has features without a column
    np.testing.assert_allclose(dense(space.matrix(fitted.coerce(new)) @ matrix.T), fitted(new, table), atol=1e-12)
    again = FeatureSpace.restored(fitted, [words.names for words in space.words])
    np.testing.assert_array_equal(dense(again.matrix(fitted.coerce(table))), dense(matrix))


def test_feature_matrices_of_counting_kernels_name_their_columns():
    first = kernels.Spectrum(p=2).feature_matrix(["banana", "bandana"])
    second = kernels.Spectrum(p=2).feature_matrix(["ananas"])
    assert first.shape == (2, 5)
    assert set(first.names) & set(second.names) == {"an", "na"}
    with pytest.raises(KernelError, match="no explicit features"):
        kernels.WeightedDegree(shift=1).feature_matrix(["abc"])


def test_large_maps_are_in_single_precision(monkeypatch):
    monkeypatch.setattr(feature_space, "_IN_SINGLE", 10)
    fitted = kernels.Spectrum(p=1).fit(["abcde", "fghij"])
    assert entries_per_object(fitted, fitted.coerce(["abcde", "fghij"])) == 5
    assert FeatureSpace.of(fitted, fitted.coerce(["abcde", "fghij"]))[1].dtype == np.float64
    assert FeatureSpace.of(fitted, fitted.coerce(["abcdef", "fghij"]))[1].dtype == np.float32
