"""Every implementation of Gram matrices, against the plain matrix of kernel values; and bugs that are caught."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.gram.contract import Setting
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of, gram_of_values
from mercer.gram.of_features import DotProducts, FeatureRows, FeaturesGram
from mercer.gram.pairs import PairBlocks
from mercer.gram.stored import PairRows, StoredGram
from mercer.gram.tiled import FeatureAxis, Source
from mercer.testing.gram import check_gram, gram_checks
from tests.conformance import planted_grams

X = np.random.default_rng(0).normal(size=(600, 4))
X[np.abs(X) < 0.3] = 0.0
NEW = np.random.default_rng(1).normal(size=(90, 4))
PRODUCTS = X @ X.T
SIMILAR = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
SIMILAR_NEW = np.exp(-0.2 * ((NEW[:, None] - X) ** 2).sum(axis=2))
RBF = kernels.RBF(gamma=0.2).fit(X)
USER = kernels.FromBlocks(lambda left, right: left @ right.T).fit(X)
GIVEN = kernels.Precomputed().fit(SIMILAR)


def computed(threads, memory, fitted=RBF, rows=X, columns=None, dtype=np.float64):
    return gram_of(fitted, rows, columns, dtype=dtype, memory=memory, executor=Threads(threads))


def stored(threads, memory, **options):
    return computed(threads, memory, **options).stored()


def valued(threads, memory):
    return gram_of_values(SIMILAR, SIMILAR.diagonal(), computed(threads, memory))


def of_features(threads, memory, rows=X, dtype=np.float64):
    setting = Setting(dtype, Threads(threads), memory)
    axis = FeatureAxis.all_of(FeatureRows(rows.astype(dtype)))
    return FeaturesGram(Source(DotProducts(), setting, np.square(X).sum(axis=1)), axis, axis)


def blocks(threads, memory):
    setting = Setting(np.float64, Threads(threads), memory)
    pair = PairRows(SIMILAR[:200, :200], SIMILAR[200:, 200:], SIMILAR[:200, 200:])
    return StoredGram(pair, setting, SIMILAR.diagonal())


def pair(threads, memory):
    groups = [np.arange(200), np.arange(200, 600)]
    return PairBlocks(computed(threads, max(memory, 8.0)), groups, [(0, 1)]).of((0, 1))


def part(threads, memory):
    return computed(threads, memory).view(np.arange(599, -1, -1)).view(np.arange(599, -1, -1))


make = functools.partial
MATRICES = {
    "computed": (computed, SIMILAR),
    "computed in float32": (make(computed, dtype=np.float32), SIMILAR),
    "computed by a user's function": (make(computed, fitted=USER), PRODUCTS),
    "of new objects": (make(computed, rows=NEW, columns=X), SIMILAR_NEW),
    "of new objects in float32": (make(computed, rows=NEW, columns=X, dtype=np.float32), SIMILAR_NEW),
    "a view": (part, SIMILAR),
    "of features": (of_features, PRODUCTS),
    "of features in float32": (make(of_features, dtype=np.float32), PRODUCTS),
    "of CSR features": (make(of_features, rows=sp.csr_array(X)), PRODUCTS),
    "stored": (stored, SIMILAR),
    "stored in float32": (make(stored, dtype=np.float32), SIMILAR),
    "stored, of new objects": (make(stored, rows=NEW, columns=X), SIMILAR_NEW),
    "precomputed": (make(computed, fitted=GIVEN, rows=SIMILAR), SIMILAR),
    "of given values": (valued, SIMILAR),
    "of blocks": (blocks, SIMILAR),
    "a pair of groups": (pair, SIMILAR),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{name}: {check}")
        for name, (made, values) in MATRICES.items()
        for check in gram_checks(made, values)
    ],
)
def test_conformance(check):
    check()


def failing(cls):
    failed = set()
    for check in gram_checks(cls.make, planted_grams.VALUES):
        try:
            check()
        except Exception:
            failed.add(check.name)
    return failed


def test_the_good_one():
    check_gram(planted_grams.Good.make, planted_grams.VALUES)


@pytest.mark.parametrize(("cls", "check", "others"), planted_grams.GRAMS)
def test_planted(cls, check, others):
    failed = failing(cls)
    assert check in failed
    assert failed <= {check} | others


def test_every_check_has_its_bug():
    names = {check.name for check in gram_checks(planted_grams.Good.make, planted_grams.VALUES)}
    assert names == {check for _, check, _ in planted_grams.GRAMS}
