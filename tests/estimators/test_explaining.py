"""Explanations add up to decision values."""

import numpy as np
import pytest

from mercer import SVC, KernelLogisticRegression, KernelRidge, kernels
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


def test_kernels_without_parts_say_so():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(KernelError, match="vectors have no parts"):
        SVC().fit(X, SIDES).explain(X)
    with pytest.raises(KernelError, match="cannot be taken apart by position"):
        SVC(kernel=kernels.GapWeighted(2)).fit(WORDS, SIDES).explain(WORDS)
