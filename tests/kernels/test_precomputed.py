"""Precomputed Gram matrices."""

import numpy as np
import pytest

from mercer import SVC, KernelPCA, KernelRidge, NuSVC, OneClassSVM
from mercer.errors import InputError, KernelError
from mercer.gram.make import gram_of
from mercer.inputs.gram_rows import GramRows
from mercer.kernels import Linear, Precomputed, normalise, precomputed

X = np.random.default_rng(0).normal(size=(8, 3))
NEW = np.random.default_rng(1).normal(size=(4, 3))
K, K_NEW = X @ X.T, NEW @ X.T


def test_training_and_new():
    fitted = Precomputed().fit(K)
    np.testing.assert_allclose(fitted(K), K)
    np.testing.assert_allclose(gram_of(fitted, K_NEW, GramRows.coerce(K)).dense(), K_NEW)


def test_new_rows_of_the_wrong_width():
    fitted = Precomputed().fit(K)
    with pytest.raises(InputError, match=r"K\(new, training\), of shape \(8, 8\).*Got shape \(8, 4\)"):
        gram_of(fitted, K_NEW.T, GramRows.coerce(K))


def test_new_objects_cannot_be_compared_with_each_other():
    new = GramRows.coerce(K_NEW, new=True)
    fitted = Precomputed().fit(K)
    features = fitted.features(new)
    with pytest.raises(KernelError, match="cannot compare new objects with each other"):
        fitted.tile(features, features, np.empty((4, 4)))


def test_normalising_needs_self_similarity():
    kernel = normalise(Precomputed())
    train = GramRows.coerce(K)
    fitted = kernel.fit(train)
    with pytest.raises(KernelError, match="self_similarity"):
        gram_of(fitted, K_NEW, train).dense()
    own = (NEW**2).sum(axis=1)
    got = gram_of(fitted, GramRows.rows(K_NEW, self_similarity=own), train).dense()
    np.testing.assert_allclose(got, normalise(Linear()).fit(X)(NEW, X), atol=1e-12)


def test_subsets_of_the_training_objects():
    fitted, train = Precomputed().fit(K), GramRows.coerce(K)
    part = train.take(np.array([5, 2]))
    np.testing.assert_allclose(gram_of(fitted, part).dense(), K[np.ix_([5, 2], [5, 2])])
    np.testing.assert_allclose(gram_of(fitted, K_NEW, part).dense(), K_NEW[:, [5, 2]])


def test_after_storage_training_objects_serve_as_columns():
    fitted, train = Precomputed().fit(K), GramRows.coerce(K).take(np.array([5, 2]))
    again = GramRows.from_arrays(train.to_arrays())
    np.testing.assert_allclose(gram_of(fitted, K_NEW, again).dense(), K_NEW[:, [5, 2]])


def test_nothing_is_claimed():
    assert not Precomputed().psd
    assert not Precomputed().symmetric


def test_a_symmetric_matrix_is_used_as_it_is_and_stays_ours():
    X = np.random.default_rng(0).normal(size=(20, 3))
    K = X @ X.T
    K = (K + K.T) / 2
    gram = gram_of(Precomputed().fit(K), K)
    assert gram.in_memory
    K[0, 1] = K[1, 0] = 77.0  # what its owner does with it later
    assert gram.dense()[0, 1] != 77.0
    K[0, 1] += 1e-6  # within rounding: evened out
    gram = gram_of(Precomputed().fit(K), K)
    assert gram.dense()[0, 1] == gram.dense()[1, 0] == pytest.approx(77.0 + 5e-7)


@pytest.mark.parametrize(
    "learner",
    [SVC(), SVC(psd="clip"), SVC(C=np.inf), NuSVC(nu=0.3), KernelRidge(), KernelPCA(2), OneClassSVM(nu=0.2)],
    ids=repr,
)
def test_a_large_matrix_is_used_where_it_lies_and_never_written_to(learner, monkeypatch):
    monkeypatch.setattr(precomputed, "_COPIED", 0)
    X = np.random.default_rng(0).normal(size=(60, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    before = K.copy()
    assert np.shares_memory(gram_of(Precomputed().fit(K), K).dense(), K)
    learner.set_params(kernel="precomputed").fit(K, np.where(X[:, 0] > 0, 1, -1))
    assert np.array_equal(K, before)


def test_what_is_not_ours_to_write_to_is_copied(monkeypatch):
    monkeypatch.setattr(precomputed, "_COPIED", 0)
    K = np.eye(4)
    K.setflags(write=False)
    values = gram_of(Precomputed().fit(K), K).dense()
    assert np.array_equal(values, K)
    assert not np.shares_memory(values, K)


def test_differences_in_the_last_bits_are_left_and_larger_ones_evened_out():
    K = np.eye(3) + 0.5
    K[0, 1] += 1e-15
    assert gram_of(Precomputed().fit(K), K).dense()[0, 1] == K[0, 1]
    K[0, 1] += 1e-9
    values = gram_of(Precomputed().fit(K), K).dense()
    assert values[0, 1] == values[1, 0] == pytest.approx(0.5 + 5e-10, abs=1e-14)
