"""Graphs of other libraries, known by what they can do; what is not looked at is said."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from mercer import kernels
from mercer.errors import DataWarning, InputError
from mercer.inputs.graphs import Graphs

PLAIN = {"edges": [(0, 1), (1, 2)], "labels": [6, 6, 8]}


def same(one, other):
    for name in (
        "offsets",
        "bounds",
        "neighbours",
        "labels",
        "edge_labels",
        "weights",
        "attributes",
        "edge_attributes",
    ):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        assert a is None or np.array_equal(a, b), name
    assert one.directed == other.directed


class Tensor:
    """What a tensor can do."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


def geometric(**more):
    arcs = Tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return SimpleNamespace(edge_index=arcs, num_nodes=3, **more)


class TestGeometric:
    def test_labels_attributes_and_weights(self):
        one_hot = Graphs.coerce([geometric(x=Tensor([[1, 0], [1, 0], [0, 1]]))])
        same(one_hot, Graphs.coerce([{"edges": [(0, 1), (1, 2)], "labels": [0, 0, 1]}]))
        with pytest.warns(DataWarning, match="real numbers in 'x'.*no kernel") as told:
            numbers = Graphs.coerce([geometric(x=Tensor([[0.5, 2.0], [1.0, 0.0], [0.0, 3.0]]))] * 2).take([0])
        assert len(told) == 1
        assert numbers.labels is None
        assert numbers.attributes.tolist() == [[0.5, 2.0], [1.0, 0.0], [0.0, 3.0]]
        tied = Graphs.coerce([geometric(edge_attr=Tensor([[0, 1], [0, 1], [1, 0], [1, 0]]))])
        assert sorted(set(tied.edge_labels.tolist())) == [0, 1]
        heavy = Graphs.coerce([geometric(edge_weight=Tensor([0.5, 0.5, 2.0, 2.0]))])
        assert heavy.adjacency(0).tolist() == [[0, 0.5, 0], [0.5, 0, 2.0], [0, 2.0, 0]]

    def test_direction_and_bad_shapes(self):
        assert not Graphs.coerce([geometric()]).directed
        one_way = SimpleNamespace(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=4)
        found = Graphs.coerce([one_way])
        assert found.directed
        assert found.sizes.tolist() == [4]
        with pytest.raises(InputError, match="two rows"):
            Graphs.coerce([SimpleNamespace(edge_index=np.zeros((4, 3)), num_nodes=3)])
        with pytest.raises(InputError, match="x has 2 rows, where 3 are needed"):
            Graphs.coerce([geometric(x=np.zeros((2, 2)))])


class GrakelGraph:
    """What a grakel.Graph answers."""

    def get_vertices(self, purpose="any"):
        return {0, 1, 2}

    def get_edges(self, purpose="any", with_weights=False):
        return [(0, 1), (1, 0), (1, 2), (2, 1)]

    def get_labels(self, purpose="any", label_type="vertex", return_none=False):
        return {0: 6, 1: 6, 2: 8} if label_type == "vertex" else None


@pytest.mark.parametrize(
    "item",
    [
        GrakelGraph(),
        ({(0, 1), (1, 0), (1, 2), (2, 1)}, {0: 6, 1: 6, 2: 8}),
        ({0: [1], 1: [0, 2], 2: [1]}, {0: 6, 1: 6, 2: 8}, None),
        ({(0, 1): 1.0, (1, 2): 1.0}, {0: 6, 1: 6, 2: 8}),
        (np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), {0: 6, 1: 6, 2: 8}),
        ([(0, 1), (1, 2)], {0: 6, 1: 6, 2: 8}, {}),
        [{(0, 1), (1, 0), (1, 2), (2, 1)}, {0: 6, 1: 6, 2: 8}, {}],
    ],
    ids=["Graph", "set", "neighbours", "dict", "matrix", "list", "as its data sets hold it"],
)
def test_grakel(item):
    same(Graphs.coerce([item]), Graphs.coerce([PLAIN]))


def test_labels_of_edges_of_grakel():
    item = ({(0, 1), (1, 0)}, {0: "a", 1: "b"}, {(0, 1): "x", (1, 0): "x"})
    same(Graphs.coerce([item]), Graphs.coerce([{"edges": [(0, 1)], "labels": ["a", "b"], "edge_labels": ["x"]}]))
    with pytest.raises(InputError, match="node 2 has no label"):
        Graphs.coerce([({(0, 2)}, {0: "a"})])


def test_a_pair_of_edges_is_still_an_edge():
    assert Graphs.coerce([[("a", "b"), ("b", "c")]]).sizes.tolist() == [3]


def test_molecules_as_they_are():
    chem = pytest.importorskip("rdkit.Chem")
    from mercer.inputs.molecules import molecular_graphs

    smiles = ["CCO", "c1ccccc1", "C"]
    same(Graphs.coerce([chem.MolFromSmiles(one) for one in smiles]), molecular_graphs(smiles))


class TestNetworkx:
    def graphs(self):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, {0: "C", 1: "C", 2: "O"}, "element")
        nx.set_edge_attributes(graph, 1, "order")
        return [graph]

    def test_what_is_not_looked_at_is_said(self):
        with pytest.warns(DataWarning, match=r"nodes have 'element'; used are none; edges have 'order'.*from_networkx"):
            Graphs.coerce(self.graphs())
        labelled = self.graphs()
        nx.set_node_attributes(labelled[0], "x", "label")
        with pytest.warns(DataWarning, match=r"nodes have 'element'; used is 'label'"):
            kernels.WeisfeilerLehman(1).fit(labelled)

    def test_names_that_are_given_are_used_without_a_word(self):
        found = Graphs.from_networkx(self.graphs(), label="element", edge_label="order")
        assert found.labels[0] == found.labels[1] != found.labels[2]
        assert found.edge_labels is not None

    def test_names_that_no_graph_has(self):
        with pytest.raises(InputError, match=r"No node has 'elemnt' \(label\). Found: element"):
            Graphs.from_networkx(self.graphs(), label="elemnt")
