"""Explicit feature maps: the same values as the kernel, in blocks, and models folded into weights."""

import warnings

import numpy as np
import pytest

from mercer import kernels
from mercer.errors import KernelError
from mercer.kernels import featuremap
from mercer.kernels.featuremap import Columns, WeightTable, has_feature_map

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
    monkeypatch.setattr(featuremap, "_FIRST_BLOCK", 5)
    monkeypatch.setattr(featuremap, "_NAMES_PER_BLOCK", 700)
    train, new = strings(0, 30), strings(1, 11)
    fitted = fit(kernel, train)
    objects, others = fitted.coerce(train), fitted.coerce(new)
    columns = Columns.of(fitted, objects)
    matrix, unseen = columns.matrix(objects), columns.matrix(others)
    assert len(list(columns.blocks(objects))) > 1
    np.testing.assert_allclose((matrix @ matrix.T).toarray(), fitted(train), atol=1e-8)
    np.testing.assert_allclose((unseen @ matrix.T).toarray(), fitted(new, train), atol=1e-8)
    coefficients = np.random.default_rng(2).normal(size=(30, 2))
    table = WeightTable.of(fitted, objects, coefficients, [1.0, -2.0])
    np.testing.assert_allclose(table(new), fitted(new, train) @ coefficients + [1.0, -2.0], atol=1e-8)


def test_features_unseen_in_training_count_in_the_norm():
    fitted = kernels.normalise(kernels.Spectrum(p=1)).fit(["ab"])
    row = Columns.of(fitted, fitted.coerce(["ab"])).matrix(fitted.coerce(["abcc"])).toarray()
    np.testing.assert_allclose(row, [[1 / 6**0.5, 1 / 6**0.5]])


def test_kernels_without_a_map_say_so():
    for kernel in (
        kernels.GapWeighted(),
        kernels.WeightedDegree(shift=1),
        kernels.RBF(gamma=1.0, over=kernels.Spectrum()),
    ):
        assert not has_feature_map(kernel)
        fitted = fit(kernel, ["abcd", "bcde"])
        with pytest.raises(KernelError, match="no feature map"):
            Columns.of(fitted, fitted.coerce(["abcd"]))
    table = kernels.on("text", kernels.Spectrum(p=2))
    assert has_feature_map(table)
    fitted = table.fit({"text": ["banana"]})
    assert len(Columns.of(fitted, fitted.coerce({"text": ["banana"]}))) == 3
