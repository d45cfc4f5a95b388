"""The contributions of nodes add up to the decision."""

import networkx as nx
import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.errors import InputError, KernelError
from mercer.kernels.graphs.explanation import can_explain, node_contributions
from tests.kernels.graphs.samples import PAW, labelled

GRAPHS = [nx.gnp_random_graph(n, 0.4, seed=n) for n in (1, 3, 5, 6, 7, 8, 9)]
for number, graph in enumerate(GRAPHS):
    nx.set_node_attributes(graph, {v: "abc"[(v * v + number) % 3] for v in graph}, "label")

KERNELS = [
    kernels.WeisfeilerLehman(2),
    kernels.VertexHistogram(),
    kernels.ShortestPath(),
    kernels.Graphlet(3),
    kernels.Graphlet(4, scaling="frequency"),
    kernels.Graphlet(5, scaling="count"),
    kernels.normalise(kernels.WeisfeilerLehman(2)),
    kernels.normalise(kernels.ShortestPath()) + 0.5 * kernels.WeisfeilerLehman(1),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_contributions_add_up(kernel):
    assert can_explain(kernel)
    fitted = kernel.fit(GRAPHS[:5])
    coefficients = np.array([1.0, -0.5, 2.0, 0.25, -1.0])
    found = node_contributions(fitted, GRAPHS[:5], coefficients, GRAPHS)
    assert [len(own) for own in found] == [len(graph) for graph in GRAPHS]
    assert np.allclose([own.sum() for own in found], fitted(GRAPHS, GRAPHS[:5]) @ coefficients)


def test_the_node_that_matters():
    """The centre of a star alone has its colour."""
    fitted = kernels.WeisfeilerLehman(1).fit([nx.star_graph(4)])
    own = node_contributions(fitted, [nx.star_graph(4)], [1.0], [nx.star_graph(4)])[0]
    assert own.tolist() == [5 + 1, *[5 + 4] * 4]


def test_a_model():
    items = [labelled(PAW, "aabb"), labelled(nx.path_graph(4), "aabb"), labelled(nx.star_graph(3), "abab")]
    model = SVC(kernel=kernels.WeisfeilerLehman(2)).fit(items, [1, 0, 0])
    expansion = model.expansion_
    found = node_contributions(expansion.kernel, expansion.support, np.ravel(expansion.coefficients), items)
    totals = np.array([own.sum() for own in found]) + np.ravel(expansion.intercept)[0]
    assert np.allclose(totals, np.ravel(expansion(expansion.kernel.coerce(items))))
    assert np.allclose(np.abs(totals), np.abs(model.decision_function(items)))  # which speaks for the other class


def test_what_cannot_be_explained():
    fitted = kernels.RandomWalk(0.01).fit(GRAPHS)
    assert not can_explain(fitted.kernel)
    with pytest.raises(KernelError, match="does not say what single nodes contribute"):
        node_contributions(fitted, GRAPHS[:1], [1.0], GRAPHS)
    with pytest.raises(InputError, match="one coefficient per support graph"):
        node_contributions(kernels.WeisfeilerLehman().fit(GRAPHS), GRAPHS, [1.0], GRAPHS)
