"""Kernels on graphs against brute force, on random small graphs."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.inputs.graphs import Graphs
from mercer.kernels.graphs.census import classes_of_codes
from tests.kernels.graphs.samples import as_dict, plain, shuffled
from tests.oracles import graphs as oracle

few = settings(max_examples=40)


def value(kernel, a, b):
    return float(kernel.fit([a, b])([a], [b])[0, 0])


@few
@given(plain(loops=True), plain(loops=True), st.integers(0, 3))
def test_weisfeiler_lehman(a, b, h):
    assert value(kernels.WeisfeilerLehman(h), as_dict(a), as_dict(b)) == oracle.weisfeiler_lehman(a, b, h)


@few
@given(plain(high=5), plain(high=5), st.integers(0, 2))
def test_optimal_assignment(a, b, h):
    kernel = kernels.WeisfeilerLehmanOptimalAssignment(h)
    assert value(kernel, as_dict(a), as_dict(b)) == oracle.optimal_assignment(a, b, h)


@few
@given(plain(), plain(), st.booleans())
def test_shortest_path(a, b, weighted):
    dicts = []
    for matrix, labels in (a, b):
        if weighted:
            matrix *= np.add.outer(np.arange(len(matrix)), np.arange(len(matrix))) % 3 + 1
        edges = np.argwhere(np.triu(matrix))
        weights = [float(matrix[u, v]) for u, v in edges]
        dicts.append({"nodes": len(matrix), "edges": edges.tolist(), "labels": labels, "weights": weights})
    expected = oracle.product(oracle.shortest_paths(a), oracle.shortest_paths(b))
    assert value(kernels.ShortestPath(), *dicts) == expected


@few
@given(plain(low=3), plain(low=3), st.randoms())
def test_shortest_path_directed(a, b, random):
    dicts = []
    for matrix, labels in (a, b):
        for u, v in np.argwhere(np.triu(matrix)):
            matrix[(u, v) if random.random() < 0.5 else (v, u)] = 0
        dicts.append({"nodes": len(matrix), "edges": np.argwhere(matrix).tolist(), "labels": labels, "directed": True})
    expected = oracle.product(oracle.shortest_paths(a, True), oracle.shortest_paths(b, True))
    assert value(kernels.ShortestPath(), *dicts) == expected


@pytest.mark.parametrize("size", [3, 4, 5])
@settings(max_examples=15)
@given(a=plain(low=2, high=8, loops=True))
def test_graphlet(size, a):
    found = kernels.Graphlet(size=size).histograms(Graphs.coerce([a[0]]))[0]
    expected = oracle.graphlets(a[0], size)
    table = classes_of_codes(size)
    pairs = [(i, j) for j in range(size) for i in range(j)]
    counts = np.zeros(len(found))
    for entries, times in expected.items():
        matrix = np.array(entries).reshape(size, size)
        counts[table[sum(int(matrix[pair]) << bit for bit, pair in enumerate(pairs))]] += times
    assert found.tolist() == counts.tolist()


def test_graphlet_classes_are_in_the_order_documented():
    assert [int(classes_of_codes(size).max()) + 1 for size in (3, 4, 5)] == [4, 11, 34]
    atlas = [g for g in nx.graph_atlas_g() if len(g) == 4]
    found = kernels.Graphlet(size=4).histograms(Graphs.coerce(atlas))
    keys = [(g.number_of_edges(), [-d for d in sorted((d for _, d in g.degree), reverse=True)]) for g in atlas]
    order = sorted(range(len(atlas)), key=lambda number: keys[number])
    assert found[order].argmax(axis=1).tolist() == list(range(11))


def test_graphlet_sampler():
    graph = nx.gnp_random_graph(61, 0.3, seed=3)  # one node more than is enumerated
    large = kernels.Graphlet(size=5, scaling="frequency")
    sampled = large.histograms(Graphs.coerce([graph]))[0]
    from mercer.kernels.graphs import census

    table = classes_of_codes(5)
    exact = np.zeros(34)
    census._enumerate_5(nx.to_numpy_array(graph).astype(np.int64), table, exact)
    assert np.isclose(sampled.sum(), exact.sum())
    assert np.abs(sampled - exact).sum() / exact.sum() < 0.023
    again = large.histograms(Graphs.coerce([nx.path_graph(3), graph]))[1]
    assert np.array_equal(sampled, again)


@few
@given(plain(high=5), plain(high=5), st.integers(0, 4), st.booleans())
def test_random_walk(a, b, steps, exponential):
    walks = oracle.matching_walks(a, b, 60)
    factorial = np.cumprod([1.0, *range(1, 61)]) if exponential else np.ones(61)
    terms = np.array(walks) * 0.05 ** np.arange(61) / factorial
    series = "exponential" if exponential else "geometric"
    for labels in (True, False):
        if not labels:
            plain_a, plain_b = (a[0], "a" * len(a[0])), (b[0], "a" * len(b[0]))
            terms = np.array(oracle.matching_walks(plain_a, plain_b, 60)) * 0.05 ** np.arange(61) / factorial
        kernel = kernels.RandomWalk(decay=0.05, series=series, node_labels=labels)
        assert value(kernel, as_dict(a), as_dict(b)) == pytest.approx(terms.sum(), rel=1e-9)
        cut = kernels.RandomWalk(decay=0.05, series=series, steps=steps, node_labels=labels)
        assert value(cut, as_dict(a), as_dict(b)) == pytest.approx(terms[: steps + 1].sum(), rel=1e-9)


@few
@given(plain(low=2, high=5), plain(low=2, high=5))
def test_random_walk_with_edge_labels(a, b):
    ties = tuple(np.add.outer(np.arange(len(g[0])), np.arange(len(g[0]))) % 2 for g in (a, b))
    dicts = []
    for graph, own in zip((a, b), ties, strict=True):
        item = as_dict(graph)
        dicts.append({**item, "edge_labels": [int(own[u, v]) for u, v in item["edges"]]})
    terms = np.array(oracle.matching_walks(a, b, 60, ties)) * 0.05 ** np.arange(61)
    assert value(kernels.RandomWalk(decay=0.05), *dicts) == pytest.approx(terms.sum(), rel=1e-9)


@few
@given(plain(), plain())
def test_histograms(a, b):
    assert value(kernels.VertexHistogram(), as_dict(a), as_dict(b)) == oracle.product(Counter(a[1]), Counter(b[1]))

    def ends(graph):
        matrix, labels = graph
        return Counter(tuple(sorted((labels[u], labels[v]))) for u, v in np.argwhere(np.triu(matrix)))

    assert value(kernels.EdgeHistogram(ends=True), as_dict(a), as_dict(b)) == oracle.product(ends(a), ends(b))
    edges = [int(np.triu(g[0]).sum()) for g in (a, b)]
    assert value(kernels.EdgeHistogram(), as_dict(a), as_dict(b)) == edges[0] * edges[1]


KERNELS = [
    kernels.WeisfeilerLehman(3),
    kernels.WeisfeilerLehmanOptimalAssignment(2),
    kernels.WeisfeilerLehmanOver(kernels.ShortestPath(), h=1),
    kernels.ShortestPath(),
    kernels.Graphlet(3),
    kernels.Graphlet(4),
    kernels.Graphlet(5),
    kernels.RandomWalk(decay=0.01),
    kernels.RandomWalk(decay=0.1, series="exponential", node_labels=False),
    kernels.EdgeHistogram(ends=True),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_numbering_batch_and_order_play_no_role(kernel):
    random = np.random.default_rng(0)
    items = []
    for size in (1, 2, 4, 5, 6, 7, 8, 8):
        upper = np.triu(random.random((size, size)) < 0.4, 1)
        items.append(((upper | upper.T).astype(int), random.choice(list("abc"), size).tolist()))
    items.append(shuffled(items[-1], random))
    fitted = kernel.fit([as_dict(item) for item in items])
    gram = fitted([as_dict(item) for item in items])
    assert np.allclose(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() >= -1e-9 * np.abs(gram).max()
    assert np.allclose(gram[-1], gram[-2])  # isomorphic graphs have the same row
    for number, item in enumerate(items):  # alone in a batch
        assert np.allclose(fitted([as_dict(item)], [as_dict(other) for other in items]), gram[number])


def test_node_kernels_by_matrix_functions():
    from scipy.linalg import expm

    random = np.random.default_rng(1)
    upper = np.triu(random.random((7, 7)) * (random.random((7, 7)) < 0.5), 1)
    weights = upper + upper.T
    weights[6] = weights[:, 6] = 0.0  # an isolated node
    laplace = np.diag(weights.sum(axis=1)) - weights
    roots = np.where(weights.sum(axis=1) > 0, 1 / np.sqrt(np.maximum(weights.sum(axis=1), 1e-300)), 0.0)
    nodes = list(range(7))
    pairs = [
        (kernels.ExponentialDiffusion(weights, decay=-0.7), expm(-0.7 * weights)),
        (kernels.VonNeumannDiffusion(weights, decay=0.2), np.linalg.inv(np.eye(7) - 0.2 * weights)),
        (kernels.Heat(weights, time=0.4), expm(-0.4 * laplace)),
        (kernels.Heat(weights, time=0.4, normalised=True), expm(-0.4 * roots[:, None] * laplace * roots)),
        (kernels.RegularisedLaplacian(weights, strength=2.0), np.linalg.inv(np.eye(7) + 2.0 * laplace)),
        (kernels.CommuteTime(weights), np.linalg.pinv(laplace)),
    ]
    for kernel, expected in pairs:
        assert np.allclose(kernel.fit(nodes)(nodes), expected, atol=1e-10)


def test_commute_time_is_a_mean_number_of_steps():
    """From the hitting times, which solve a linear system each."""
    graph = nx.cycle_graph(5)
    graph.add_edge(0, 2)
    matrix = nx.to_numpy_array(graph)
    step = matrix / matrix.sum(axis=1, keepdims=True)
    hitting = np.zeros((5, 5))
    for goal in range(5):
        rest = [v for v in range(5) if v != goal]
        hitting[rest, goal] = np.linalg.solve(np.eye(4) - step[np.ix_(rest, rest)], np.ones(4))
    gram = kernels.CommuteTime(graph).fit(range(5))(range(5))
    own = np.diag(gram)
    assert np.allclose(matrix.sum() * (own[:, None] + own - 2 * gram), hitting + hitting.T)
