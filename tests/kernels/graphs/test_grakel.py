"""The same values as GraKeL on MUTAG, where the definitions agree."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.inputs.graphs import Graphs
from tests.kernels.graphs.realdata import as_graphs

pytestmark = [pytest.mark.realdata, pytest.mark.bench]


@pytest.fixture(scope="module")
def mutag(load):
    grakel = pytest.importorskip("grakel")
    items, _ = as_graphs(load("graphs/MUTAG")["all"])
    peers = []
    for item in items:
        edges = {v: {} for v in range(item["nodes"])}
        for u, v in item["edges"].tolist():
            edges[u][v] = 1.0
        peers.append(grakel.Graph(edges, node_labels=dict(enumerate(item["labels"].tolist()))))
    return Graphs.coerce(items), peers


def gram(kernel, items):
    return gram_of(kernel.fit(items), items).dense()


@pytest.mark.parametrize("h", [1, 5])
def test_weisfeiler_lehman(mutag, h):
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    expected = WeisfeilerLehman(n_iter=h, base_graph_kernel=VertexHistogram).fit_transform(mutag[1])
    assert np.array_equal(gram(kernels.WeisfeilerLehman(h), mutag[0]), expected)


def test_optimal_assignment(mutag):
    from grakel.kernels import WeisfeilerLehmanOptimalAssignment

    few = mutag[0].take(slice(0, 40))
    expected = WeisfeilerLehmanOptimalAssignment(n_iter=3).fit_transform(mutag[1][:40])
    assert np.array_equal(gram(kernels.WeisfeilerLehmanOptimalAssignment(3), few), expected)


def test_shortest_path(mutag):
    """GraKeL counts both orders of a pair, under the labels in order: twice as much for different labels, and four
    times as much for equal ones. Directed graphs with every edge both ways count so here too."""
    from grakel.kernels import ShortestPath

    expected = ShortestPath().fit_transform(mutag[1])
    both_ways = Graphs(mutag[0].offsets, mutag[0].bounds, mutag[0].neighbours, directed=True, labels=mutag[0].labels)
    assert np.array_equal(gram(kernels.ShortestPath(), both_ways), expected)


def test_random_walk(mutag):
    from grakel.kernels import RandomWalk, RandomWalkLabeled

    few = mutag[0].take(slice(0, 20))
    plain = RandomWalk(lamda=0.05, kernel_type="geometric", method_type="baseline").fit_transform(mutag[1][:20])
    assert np.allclose(gram(kernels.RandomWalk(0.05, node_labels=False), few), plain)
    # GraKeL also counts pairs of nodes with different labels, as walks of no steps.
    labelled = RandomWalkLabeled(lamda=0.05, method_type="baseline").fit_transform(mutag[1][:20])
    unlike = np.multiply.outer(few.sizes, few.sizes) - gram(kernels.VertexHistogram(), few)
    assert np.allclose(gram(kernels.RandomWalk(0.05), few) + unlike, labelled)
