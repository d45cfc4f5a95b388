"""The contributions of nodes add up to the decision."""

import networkx as nx
import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.kernels.features.space import FeatureSpace
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


def contributions(fitted, support, coefficients, graphs):
    known, new = fitted.kernel.coerce(support), fitted.coerce(graphs)
    space, weights = FeatureSpace.folded(fitted, known, np.reshape(coefficients, (-1, 1)))
    found = [space.features.shares(new.take(slice(i, i + 1)), space.weigh(weights)) for i in range(len(new))]
    return [one.contributions[:, 0] for one in found]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_contributions_add_up(kernel):
    fitted = kernel.fit(GRAPHS[:5])
    coefficients = np.array([1.0, -0.5, 2.0, 0.25, -1.0])
    found = contributions(fitted, GRAPHS[:5], coefficients, GRAPHS)
    assert [len(own) for own in found] == [len(graph) for graph in GRAPHS]
    assert np.allclose([own.sum() for own in found], fitted(GRAPHS, GRAPHS[:5]) @ coefficients)


def test_the_node_that_matters():
    """The centre of a star alone has its colour."""
    fitted = kernels.WeisfeilerLehman(1).fit([nx.star_graph(4)])
    own = contributions(fitted, [nx.star_graph(4)], [1.0], [nx.star_graph(4)])[0]
    assert own.tolist() == [5 + 1, *[5 + 4] * 4]


def test_a_model():
    items = [labelled(PAW, "aabb"), labelled(nx.path_graph(4), "aabb"), labelled(nx.star_graph(3), "abab")]
    model = SVC(kernel=kernels.WeisfeilerLehman(2)).fit(items, [1, 0, 0])
    expansion = model.expansion_
    found = contributions(expansion.kernel, expansion.support, np.ravel(expansion.coefficients), items)
    totals = np.array([own.sum() for own in found]) + np.ravel(expansion.intercept)[0]
    assert np.allclose(totals, np.ravel(expansion(expansion.kernel.coerce(items))))
    assert np.allclose(np.abs(totals), np.abs(model.decision_function(items)))  # which speaks for the other class


def test_what_cannot_be_explained():
    assert kernels.RandomWalk(0.01).fit(GRAPHS).feature_map() is None


WATER = {"edges": [(0, 1), (0, 2)], "labels": "OHH"}


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (kernels.VertexHistogram(), ["O", "H"]),
        (kernels.EdgeHistogram(ends=True), ["H -(edge)- O"]),
        (kernels.WeisfeilerLehman(1), ["O", "H", "O(H, H)", "H(O)"]),
        (kernels.ShortestPath(), ["H -(1)- O", "H -(2)- H"]),
        (kernels.Graphlet(3), ["path"]),
    ],
    ids=str,
)
def test_names(kernel, names):
    assert set(kernel.feature_matrix([WATER]).names) == set(names)


def test_directed_neighbours_edge_labels_and_graphlets_of_five_are_shown():
    arrow = {"edges": [(0, 1)], "labels": "ab", "edge_labels": ["s"], "directed": True}
    found = kernels.WeisfeilerLehman(1, edge_labels=True).feature_matrix([arrow]).names
    assert set(found) == {"a", "b", "a(s:b)", "b(<-s:a)"}
    assert "0-1 0-2" in kernels.Graphlet(5).feature_matrix([nx.petersen_graph()]).names
