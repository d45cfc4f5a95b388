"""Graphs in two classes that only the length of their cycle tells apart."""

import networkx as nx
import numpy as np
import pytest

from mercer import datasets
from mercer.errors import ParameterError


def networkx_graph(graph):
    return nx.Graph([(int(u), int(v)) for u, v in graph["edges"]])


def test_graphs_are_reproducible_and_balanced():
    graphs, labels = datasets.make_graphs(40, random_state=3)
    again, same = datasets.make_graphs(40, random_state=3)
    assert graphs == again
    assert labels.tolist() == same.tolist()
    assert np.unique(labels, return_counts=True)[1].tolist() == [20, 20]


def test_only_the_cycle_differs():
    for graph, label in zip(*datasets.make_graphs(60, noise=0.0), strict=True):
        found = networkx_graph(graph)
        (cycle,) = nx.cycle_basis(found)
        assert (len(cycle) == 6 and all(graph["labels"][node] == "C" for node in cycle)) or label == "chain"
        assert 11 <= len(found) == len(graph["labels"]) <= 18
        assert nx.is_connected(found)
        # The first of the six is tied to the tree, and of a chain also the last, which closes a ring otherwise.
        assert [found.degree[node] for node in range(len(found) - 6, len(found))] == [2 + (label == "ring")] + [2] * 5
        assert len(cycle) != 6 or label == "ring" or set(cycle) != set(range(len(found) - 6, len(found)))


def test_noise_changes_labels():
    plain, _ = datasets.make_graphs(30, noise=0.0)
    noisy, _ = datasets.make_graphs(30, noise=1.0)
    assert all(label == "C" for graph in plain for label in graph["labels"][-6:])
    assert any(label != "C" for graph in noisy for label in graph["labels"][-6:])


def test_two_are_enough():
    assert sorted(datasets.make_graphs(2)[1].tolist()) == ["chain", "ring"]


@pytest.mark.parametrize("bad", [{"n": 1}, {"noise": 1.5}, {"random_state": -1}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        datasets.make_graphs(**bad)
