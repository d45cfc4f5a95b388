"""Shapes as a page draws them."""

import numpy as np
import pytest

from mercer import kernels, shared
from mercer.inputs.graphs import Graphs
from mercer.inputs.molecules import molecular_graphs
from mercer.inputs.trees import Trees
from mercer.studio import drawn


def test_nodes_of_a_graph_are_as_far_apart_as_their_steps():
    told = drawn.graph([(0, 1), (1, 2), (2, 3)], ["a", "b", "c", "d"])
    places = np.array(told["places"])
    np.testing.assert_allclose(np.linalg.norm(places[0] - places[3]), 3.0, atol=0.05)
    assert told["bonds"] == [[0, 1, 1], [1, 2, 1], [2, 3, 1]]
    assert told["labels"] == ["a", "b", "c", "d"]


def test_a_graph_of_a_batch():
    graphs = Graphs.coerce([{"edges": [(0, 1)], "labels": [6, 8]}, {"edges": [(0, 1), (1, 2)], "labels": [6, 6, 7]}])
    told = drawn.graph_of(graphs, 1)
    assert told["labels"] == ["C", "C", "N"]
    assert told["bonds"] == [[0, 1, 1], [1, 2, 1]]
    words = drawn.graph_of(Graphs.coerce([{"edges": [(0, 1)], "labels": ["red", "blue"]}]), 0)
    assert words["labels"] == ["", ""]  # only the hash of a word is known
    assert drawn.graph_of(Graphs.coerce([[(0, 1)]]), 0)["labels"] == ["", ""]


def test_too_many_nodes_are_not_drawn():
    path = [(node, node + 1) for node in range(drawn.MOST_NODES)]
    assert drawn.graph(path, [""] * (len(path) + 1)) is None
    assert drawn.graph_of(Graphs.coerce([path]), 0) is None
    assert drawn.tree(f"(S {'a ' * drawn.MOST_NODES})") is None


def test_a_molecule_is_drawn_as_chemists_do():
    pytest.importorskip("rdkit")
    told = drawn.molecule("OC(=O)c1ccccc1[NH3+]")
    assert told["labels"] == ["O", "C", "O", "C", "C", "C", "C", "C", "C", "N+"]
    lengths = [np.linalg.norm(np.subtract(told["places"][a], told["places"][b])) for a, b, _ in told["bonds"]]
    np.testing.assert_allclose(lengths, 1.0, atol=0.05)
    assert {order for _, _, order in told["bonds"]} == {1, 2, 12}
    assert drawn.molecule("C1CC") is None
    assert drawn.molecule("[O-]C.[Fe+2]")["labels"] == ["O−", "C", "Fe±"]
    assert drawn.molecule("C" * drawn.MOST_NODES) is not None
    assert drawn.molecule("C" * (drawn.MOST_NODES + 1)) is None


def test_a_molecule_as_a_graph_has_the_kernel_values_of_its_smiles():
    pytest.importorskip("rdkit")
    both = ["CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1O", "C"]
    graphs = [drawn.molecule_as_graph(smiles) for smiles in both]
    for text in ("wl(h=3)", "shortest_path", "vertex_histogram"):
        kernel = kernels.parse(text)
        expected = kernel.fit(molecular_graphs(both))(molecular_graphs(both))
        np.testing.assert_allclose(kernel.fit(graphs)(graphs), expected)
        assert shared(kernel, *graphs[:2]).value == pytest.approx(expected[0, 1])


def test_atoms_become_unknown_one_by_one():
    pytest.importorskip("rdkit")
    changed = drawn.without_atoms("OCc1ccccc1")
    assert len(changed) == 8
    assert changed[0].startswith("*")
    for smiles in changed:
        assert smiles.count("*") == 1
        assert drawn.molecule(smiles) is not None
    assert drawn.without_atoms("C1CC") == []


TREES = ["(S (NP (D the) (N dog)) (VP barks))", "(S (NP a) b)", "((a) (b c))", "(S)"]


@pytest.mark.parametrize("text", TREES)
def test_trees_are_in_the_order_of_the_library(text):
    told = drawn.tree(text)
    batch = Trees.coerce([text])
    assert len(told["labels"]) == len(batch.labels)
    arities = np.bincount([parent for parent in told["parents"] if parent >= 0], minlength=len(told["labels"]))
    assert arities.tolist() == batch.arities.tolist()


def test_labels_become_unknown_one_by_one():
    text = "(S (NP a) b)"
    assert drawn.tree(text)["labels"] == ["a", "NP", "b", "S"]
    assert drawn.without_labels(text, "?") == [
        "( S ( NP ? ) b )",
        "( S ( ? a ) b )",
        "( S ( NP a ) ? )",
        "( ? ( NP a ) b )",
    ]


@pytest.mark.parametrize("text", ["", ")", "(", "((", ")(", "(S (", "x)"])
def test_text_that_is_no_tree_is_no_error(text):
    drawn.tree(text)
    drawn.without_labels(text, "?")
