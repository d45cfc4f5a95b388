"""Explanations add up to decision values."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, KernelLogisticRegression, KernelRidge, LinearSVC, LinearSVR, OneClassSVM, kernels
from mercer.errors import KernelError

WORDS = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
SIDES = [1, 1, 0, 0, 1, 0]
NEW = ["gatta", "cgc", "tttttt"]
KERNELS = [
    kernels.Spectrum(2),
    kernels.normalise(kernels.Spectrum(2)),
    2.0 * kernels.Spectrum(1) + kernels.Spectrum(3),
    kernels.GappedKmer(4, 2),
]


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("model", [SVC(C=10.0), KernelLogisticRegression()], ids=str)
def test_positions_and_intercept_sum_to_the_decision_value(model, kernel):
    model = model.set_params(kernel=kernel).fit(WORDS, SIDES)
    found = model.explain(NEW)
    assert [len(one.parts) for one in found] == [len(word) for word in NEW]
    for one, value in zip(found, model.decision_function(NEW), strict=True):
        assert one.contributions.sum() + one.intercept[0] == pytest.approx(value, abs=1e-9)
        assert one.value[0] == pytest.approx(value, abs=1e-9)


def test_several_classes_have_one_column_per_pair():
    model = SVC(kernel=kernels.Spectrum(2), decision_function_shape="ovo").fit(WORDS, list("aabbac"))
    found = model.explain(["gattacgc"])[0]
    assert found.contributions.shape == (8, 3)
    assert np.allclose(found.value, model.decision_function(["gattacgc"])[0])


def test_nodes_and_intercept_sum_to_the_decision_value():
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(n) for n in (3, 4, 5)] + [networkx.cycle_graph(n) for n in (3, 4, 5)]
    for kernel in (kernels.WeisfeilerLehman(2), kernels.ShortestPath(), kernels.normalise(kernels.WeisfeilerLehman(1))):
        model = SVC(kernel=kernel, C=10.0).fit(graphs, [0, 0, 0, 1, 1, 1])
        new = [networkx.star_graph(4), networkx.cycle_graph(7)]
        for graph, one, value in zip(new, model.explain(new), model.decision_function(new), strict=True):
            assert len(one.parts) == len(graph)
            assert one.value[0] == pytest.approx(value, abs=1e-9)
    ridge = KernelRidge(kernel=kernels.WeisfeilerLehman(2)).fit(graphs, np.arange(6.0))
    assert ridge.explain(graphs)[2].value[0] == pytest.approx(ridge.predict(graphs)[2])


def sums_to(found, values):
    values = np.reshape(values, (len(found), -1))
    for one, value in zip(found, values, strict=True):
        assert one.contributions.shape == (len(one.parts), len(value))
        np.testing.assert_allclose(one.contributions.sum(axis=0) + one.intercept, value, atol=1e-8)
        np.testing.assert_allclose(one.value, value, atol=1e-8)


def rows_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.7)
    return X, X[:, 0] - X[:, 1] * X[:, 2]


def test_columns_share_the_decision():
    X, y = rows_of_numbers()
    linear, kernel = LinearSVC(C=0.5, tol=1e-9, max_iter=-1).fit(X, y > 0), SVC(kernel="linear", C=0.5).fit(X, y > 0)
    for model in (linear, kernel):
        found = model.explain(X)
        sums_to(found, model.decision_function(X))
        assert found[5].parts == (0, 1, 2)
        np.testing.assert_allclose(found[5].contributions[:, 0], np.ravel(model.coef_) * X[5])
    np.testing.assert_allclose(
        linear.explain(sp.csr_array(X))[7].contributions[:, 0], np.ravel(linear.coef_)[X[7] != 0] * X[7][X[7] != 0]
    )
    several = LinearSVC().fit(X, np.digitize(y, [-0.5, 0.5]))
    sums_to(several.explain(X), several.decision_function(X))


def test_columns_are_called_as_in_the_table():
    pandas = pytest.importorskip("pandas")
    X, y = rows_of_numbers()
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    for model in (LinearSVR(), KernelRidge(), SVC(kernel="linear"), OneClassSVM(kernel="linear")):
        model = model.fit(frame, y > 0 if isinstance(model, SVC) else y)
        assert model.explain(frame)[0].parts == ("a", "b", "c")
        if isinstance(model, LinearSVR | KernelRidge):
            model.verify(frame, y)  # which leaves the names where they are
            assert model.explain(frame)[0].parts == ("a", "b", "c")
    poly = LinearSVR(kernel=kernels.Polynomial(degree=2)).fit(frame, y)
    assert poly.explain(frame)[0].parts == ("1", "a", "b", "c", "a^2", "a b", "a c", "b^2", "b c", "c^2")
    sums_to(poly.explain(frame), poly.predict(frame))


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
def test_every_kernel_with_features_explains_itself():
    X, y = rows_of_numbers()
    sets = [set(word) for word in WORDS]
    table = {"text": WORDS, "a": [1.0, 2.0, 0.5, 0.0, 1.0, 3.0], "b": [0.0, 1.0, 1.0, 2.0, 0.5, 0.0]}
    mixed = kernels.on(["a", "b"], kernels.Linear()) + 0.5 * kernels.on("text", kernels.Spectrum(2)) + 1.0
    waves = kernels.RandomFourierFeatures(size=8, gamma=0.5)
    cases = [
        (kernels.normalise(kernels.Linear()) + 2.0 * kernels.Polynomial(degree=2, gamma="scale"), X, y > 0),
        (waves, X, y > 0),
        (kernels.SetIntersection(), sets, SIDES),
        (mixed, table, SIDES),
    ]
    for kernel, objects, labels in cases:
        for model in (LinearSVC(kernel=kernel, tol=1e-6), SVC(kernel=kernel)):
            model = model.fit(objects, labels)
            sums_to(model.explain(objects), model.decision_function(objects))
    parts = LinearSVC(kernel=mixed).fit(table, SIDES).explain(table)[1].parts
    assert {"a", "b", "1"} <= set(parts)


def test_nodes_share_the_decisions_of_linear_machines():
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(n) for n in (3, 4, 5)] + [networkx.cycle_graph(n) for n in (3, 4, 5)]
    new = [networkx.star_graph(4), networkx.cycle_graph(7)]
    mixed = kernels.normalise(kernels.ShortestPath()) + 0.5 * kernels.WeisfeilerLehman(1)
    for kernel in (kernels.WeisfeilerLehman(2), kernels.normalise(kernels.Graphlet(3)), mixed):
        model = LinearSVC(kernel=kernel, tol=1e-6).fit(graphs, [0, 0, 1, 1, 2, 2])
        sums_to(model.explain(new), model.decision_function(new))
        assert [len(one.parts) for one in model.explain(new)] == [5, 7]


def test_kernels_without_parts_say_so():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(KernelError, match="cannot be taken apart"):
        SVC().fit(X, SIDES).explain(X, by="features")
    with pytest.raises(KernelError, match="cannot be taken apart"):
        SVC(kernel=kernels.GapWeighted(2)).fit(WORDS, SIDES).explain(WORDS, by="features")
