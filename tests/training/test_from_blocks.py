"""Learners trained on objects that are read from blocks, against the same learners on objects in memory."""

import pickle

import numpy as np
import pytest

import mercer
from mercer import (
    SVC,
    SVR,
    KernelKMeans,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelPCA,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    NuSVC,
    OneClassSVM,
    kernels,
)
from mercer.datasets import make_dna
from mercer.errors import InputError, KernelError, MemoryBudgetError
from mercer.gram.executors import Threads
from mercer.inputs.blocks import ArrayBlocks, Block, Blocks

RNG = np.random.default_rng(0)
N = 3000
X = RNG.normal(size=(N, 3))
NOISE = RNG.normal(size=N)
NUMBERS = np.sin(X[:, 0]) + 0.1 * NOISE
SIGNS = np.where(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * NOISE > 0, 1, -1)
CLASSES = (X[:, 0] > 0) + (X[:, 1] > 0.5).astype(int)
WEIGHTS = RNG.uniform(0.5, 2.0, size=N)
SEEN = kernels.Nystrom(kernels.RBF(gamma=0.5), m=30)
WAVES = kernels.RandomFourierFeatures(gamma=0.5, size=60)

LEARNERS = {
    "squared": (KernelRidge(alpha=0.1), NUMBERS),
    "squared with intercept": (KernelRidge(alpha=0.1, fit_intercept=True), NUMBERS + 7.0),
    "several targets": (KernelRidge(alpha=[0.1, 2.0]), np.column_stack([NUMBERS, NOISE])),
    "classes by numbers": (KernelRidgeClassifier(), CLASSES),
    "path": (KernelRidgeCV(alphas=[0.01, 1.0, 100.0], fit_intercept=True), NUMBERS),
    "hinge": (SVC(tol=1e-5), SIGNS),
    "hinge, three classes": (SVC(tol=1e-5), CLASSES),
    "squared hinge": (KernelMachineClassifier("squared_hinge"), SIGNS),
    "against the rest": (KernelMachineClassifier("squared_hinge"), CLASSES),
    "logistic": (KernelLogisticRegression(), SIGNS),
    "multinomial": (KernelLogisticRegression(), CLASSES),
    "epsilon": (SVR(tol=1e-5), NUMBERS),
    "quantile": (KernelQuantileRegressor(tol=1e-5), NUMBERS),
    "one class": (OneClassSVM(nu=0.2, tol=1e-5), None),
    "nu": (NuSVC(nu=0.6, tol=1e-5), SIGNS),
}


def scores(model, objects=X[:200]):
    return model.decision_function(objects) if hasattr(model, "decision_function") else model.predict(objects)


def prepared(name, kernel):
    learner, y = LEARNERS[name]
    return mercer_clone(learner).set_params(kernel=kernel), y


def mercer_clone(learner):
    from sklearn.base import clone

    return clone(learner)


@pytest.mark.parametrize("kernel", [SEEN, WAVES], ids=["landmarks", "random features"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_finds_the_same_from_blocks(name, kernel, tmp_path):
    learner, y = prepared(name, kernel)
    weighted = name != "path"
    weights = WEIGHTS if weighted else None
    given = {} if weights is None else {"sample_weight": weights}
    in_memory = mercer_clone(learner).set_params(dual=False)
    expected = (in_memory.fit(X, **given) if y is None else in_memory.fit(X, y, **given)) if True else None
    model = learner.fit(ArrayBlocks(X, y, weights, rows=700))
    np.testing.assert_allclose(scores(model), scores(expected), atol=3e-4)
    assert len(model.expansion_.support) <= 120
    assert model.n_features_in_ == 3
    proof, exact = model.certificate_, expected.certificate_
    slack = 1e-6 * abs(exact.primal)  # rows are float32
    assert proof.dual <= exact.primal + slack
    assert proof.primal >= exact.dual - slack
    assert proof.relative_gap < 2e-2
    # Prediction from blocks, and from a model file.
    blocks = ArrayBlocks(X[:200], rows=64)
    np.testing.assert_allclose(scores(model, blocks), scores(model), atol=1e-11)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_allclose(scores(again), scores(model), atol=1e-6)
    if hasattr(model, "verify"):
        with pytest.raises((KernelError, InputError, ValueError)):
            model.verify(X, y) if y is not None else model.verify(X)


@pytest.mark.parametrize("name", ["squared", "hinge, three classes", "multinomial", "quantile"])
def test_bits_depend_on_neither_threads_nor_memory(name, monkeypatch):
    learner, y = prepared(name, SEEN)
    found = []
    for threads, memory in ((1, "auto"), (2, "auto"), (2, 0.2), (3, 0.01)):
        monkeypatch.setenv("MERCER_NUM_THREADS", str(threads))
        found.append(scores(mercer_clone(learner).set_params(memory=memory).fit(ArrayBlocks(X, y, rows=170))))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_everything_that_is_reduced_can_be_pickled():
    class Elsewhere:
        """An executor of other processes: what it is given goes through pickles."""

        passes = 0

        def reduce(self, task, items, combine):
            Elsewhere.passes += 1
            task, items, combine = pickle.loads(pickle.dumps((task, list(items), combine)))
            return Threads(1).reduce(task, items, lambda one, other: pickle.loads(pickle.dumps(combine(one, other))))

    for name in ("squared", "path", "hinge", "logistic", "multinomial", "nu"):
        learner, y = prepared(name, SEEN)
        here = ArrayBlocks(X, y, rows=400)
        there = ArrayBlocks(X, y, rows=400)
        there.executor = Elsewhere()
        new = ArrayBlocks(X[:100], rows=30)
        np.testing.assert_array_equal(
            scores(mercer_clone(learner).fit(there), new), scores(mercer_clone(learner).fit(here), new)
        )
        assert Elsewhere.passes > 0


def test_components_and_clusters():
    pca = KernelPCA(3, kernel=SEEN)
    scores_of = np.abs(pca.fit(X).transform(X[:50]))
    np.testing.assert_allclose(np.abs(pca.fit(ArrayBlocks(X, rows=700)).transform(X[:50])), scores_of, atol=1e-3)
    means = KernelKMeans(4, kernel=SEEN, random_state=0, n_init=3).fit(ArrayBlocks(X, rows=700))
    inertia = KernelKMeans(4, kernel=SEEN, random_state=0, n_init=3).fit(X).inertia_
    assert means.inertia_ <= 1.02 * inertia
    assert (means.predict(X) == means.labels_).mean() > 0.99


def test_strings_graphs_and_tables():
    words, labels = make_dna(120, random_state=0)
    seen = kernels.Nystrom(kernels.normalise(kernels.Spectrum(3)), m=40)
    expected = SVC(kernel=seen, C=10, dual=False).fit(words, labels).decision_function(words[:20])
    found = SVC(kernel=seen, C=10).fit(ArrayBlocks(words, labels, rows=33)).decision_function(words[:20])
    np.testing.assert_allclose(found, expected, atol=2e-2)
    table = {"a": X[:300, 0], "b": [f"x{int(v)}" for v in X[:300, 1]]}
    mixed = kernels.Nystrom(kernels.on("a", kernels.RBF(gamma=1.0)) + kernels.on("b", kernels.Spectrum(2)), m=20)
    expected = KernelRidge(kernel=mixed, dual=False).fit(table, NUMBERS[:300]).predict(table)
    found = KernelRidge(kernel=mixed).fit(ArrayBlocks(table, NUMBERS[:300], rows=64)).predict(table)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_dot_products_from_blocks_are_in_double():
    rows = X + 1e3
    expected = KernelRidge(kernel="linear", alpha=1.0, fit_intercept=True, dual=False).fit(rows, NUMBERS)
    found = KernelRidge(kernel="linear", alpha=1.0, fit_intercept=True).fit(ArrayBlocks(rows, NUMBERS, rows=700))
    np.testing.assert_allclose(found.predict(rows[:50]), expected.predict(rows[:50]), atol=1e-5)


def test_other_kernels_are_trained_in_memory_where_they_fit():
    y = SIGNS[:400]
    expected = SVC(gamma=0.5).fit(X[:400], y).decision_function(X[400:450])
    blocks = ArrayBlocks(X[:400], y, rows=90)
    np.testing.assert_array_equal(SVC(gamma=0.5).fit(blocks).decision_function(X[400:450]), expected)
    with pytest.raises(MemoryBudgetError, match="Nystrom"):
        SVC(gamma=0.5, memory=0.001).fit(blocks)
    expected = KernelRidge(kernel="rbf", gamma=0.5).fit(X[:400], y).predict(X[400:450])
    np.testing.assert_allclose(
        KernelRidge(kernel="rbf", gamma=0.5).fit(blocks).predict(X[400:450]), expected, atol=1e-12
    )


def test_targets_may_be_given_apart():
    found = KernelRidge(kernel=SEEN).fit(ArrayBlocks(X, rows=700), NUMBERS, sample_weight=WEIGHTS).predict(X[:9])
    expected = KernelRidge(kernel=SEEN).fit(ArrayBlocks(X, NUMBERS, WEIGHTS, rows=700)).predict(X[:9])
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(InputError, match="no targets"):
        KernelRidge(kernel=SEEN).fit(ArrayBlocks(X))
    with pytest.raises(InputError, match="no targets"):
        SVC(kernel=SEEN).fit(ArrayBlocks(X))
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        SVC(kernel=SEEN).fit(ArrayBlocks(X), SIGNS[:-1])


def test_names_of_columns_are_known():
    class Named(Blocks):
        sizes, digest, names = (N,), "", ("a", "b", "c")

        def read(self, number):
            return Block(X, NUMBERS)

    model = KernelRidge(kernel=SEEN).fit(Named())
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_deviations_and_excess_say_that_they_need_objects():
    model = KernelRidge(kernel=SEEN).fit(ArrayBlocks(X, NUMBERS))
    with pytest.raises(KernelError, match="trained from blocks"):
        model.predict(X[:2], return_std=True)
    with pytest.raises(KernelError, match="trained from blocks"):
        model.excess(X, NUMBERS)
    with pytest.raises(KernelError, match="trained from blocks"):
        SVC(kernel=SEEN).fit(ArrayBlocks(X, SIGNS)).excess(X, SIGNS)


def test_a_bad_block_leaves_the_estimator_as_it_was():
    model = KernelRidge(kernel=SEEN).fit(X, NUMBERS)
    before = model.predict(X[:3])
    bad = X.copy()
    bad[2500, 1] = np.inf
    with pytest.raises(InputError, match="In block 3, which begins with object 2100"):
        model.fit(ArrayBlocks(bad, NUMBERS, rows=700))
    np.testing.assert_array_equal(model.predict(X[:3]), before)
