"""Graphs: every form they come in, the rules for odd ones, storage, and answers to bad input."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC, kernels
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.graphs import Graphs
from tests.kernels.graphs.samples import as_dict, plain

TRIANGLE = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])


def same(a: Graphs, b: Graphs) -> bool:
    left, right = a.to_arrays(), b.to_arrays()
    return set(left) == set(right) and all(np.array_equal(left[name], right[name]) for name in left)


def test_every_form_gives_the_same_graph():
    forms = [
        nx.cycle_graph(3),
        TRIANGLE,
        TRIANGLE.astype(bool),
        sp.csr_array(TRIANGLE),
        sp.coo_matrix(TRIANGLE),
        [(0, 1), (1, 2), (2, 0)],
        [["a", "b"], ["b", "c"], ["c", "a"]],
        ((0, 1), (1, 2), (0, 2), (2, 0)),
        {"edges": [(0, 1), (1, 2), (2, 0)]},
        {"edges": np.array([[0, 1], [1, 2], [2, 0]])},
        {"edges": np.array([[0, 1], [1, 0], [1, 2], [2, 0]]), "nodes": 3, "weights": np.ones(4)},
        {"edges": [("x", "y"), ("y", "z"), ("z", "x")], "nodes": ["x", "y", "z"]},
        [(0, 1, 1.0), (1, 2, 1), (2, 0)],
    ]
    first = Graphs.coerce(forms[:1])
    assert first.neighbours.tolist() == [1, 2, 0, 2, 0, 1]
    for form in forms:
        assert same(Graphs.coerce([form]), first), form
    assert len(Graphs.coerce(forms)) == len(forms)
    assert len(Graphs.coerce(np.stack([TRIANGLE, TRIANGLE]))) == 2


def test_labels_weights_and_attributes():
    graph = nx.Graph()
    graph.add_node("u", label="C", attributes=[1.0, 2.0])
    graph.add_node("v", label="O", attributes=[0.0, 3.0])
    graph.add_edge("u", "v", label="=", weight=2.0, attributes=[0.5])
    item = {
        "edges": [("u", "v")],
        "labels": {"u": "C", "v": "O"},
        "edge_labels": {("v", "u"): "="},
        "weights": [2.0],
        "attributes": [[1.0, 2.0], [0.0, 3.0]],
        "edge_attributes": [[0.5]],
    }
    assert same(Graphs.coerce([graph]), Graphs.coerce([item]))
    named = nx.relabel_nodes(graph, {"u": 0, "v": 1})
    nx.set_node_attributes(named, {0: "C", 1: "O"}, "element")
    for _, data in named.nodes(data=True):
        del data["label"]
    assert same(Graphs.from_networkx([named], label="element"), Graphs.coerce([graph]))
    assert Graphs.coerce([{"edges": [(0, 1)], "labels": [7, 9]}]).labels.tolist() == [7, 9]
    assert same(
        Graphs.coerce([{"edges": [(0, 1)], "labels": np.array([7, 9])}]),
        Graphs.coerce([{"edges": [(0, 1)], "labels": [7, np.int32(9)]}]),
    )


def test_odd_graphs():
    graphs = Graphs.coerce([[], {"edges": [], "nodes": 3}, [(0, 0), (0, 1), (1, 0)], nx.empty_graph(0), [("a", "b")]])
    assert graphs.sizes.tolist() == [0, 3, 2, 0, 2]
    assert graphs.neighbours.tolist() == [0, 1, 0, 1, 0]  # the loop once, the edge once each way
    for kernel in (
        kernels.WeisfeilerLehman(2),
        kernels.WeisfeilerLehmanOptimalAssignment(2),
        kernels.ShortestPath(),
        kernels.Graphlet(3),
        kernels.Graphlet(4),
        kernels.Graphlet(5),
        kernels.RandomWalk(0.1),
        kernels.VertexHistogram(),
        kernels.EdgeHistogram(),
        kernels.normalise(kernels.ShortestPath()),
        kernels.RBF(gamma=0.1, over=kernels.WeisfeilerLehman(1)),
    ):
        gram = kernel.fit(graphs)(graphs)
        assert np.isfinite(gram).all(), kernel


def test_directed():
    arc, back = nx.DiGraph([(0, 1)]), nx.DiGraph([(1, 0)])
    graphs = Graphs.coerce([arc, back, np.array([[0, 1], [0, 0]]), np.array([[0, 1], [1, 0]])])
    assert graphs.directed
    assert graphs.neighbours.tolist() == [1, 1, 1, 1, 0]
    in_tree, out_tree = nx.DiGraph([(0, 1), (0, 2)]), nx.DiGraph([(1, 0), (2, 0)])
    gram = kernels.WeisfeilerLehman(1).fit([in_tree])([in_tree, out_tree])
    assert gram.tolist() == [[14.0, 9.0], [9.0, 14.0]]
    assert kernels.RandomWalk(0.1).fit([in_tree])([in_tree], [out_tree])[0, 0] == pytest.approx(9 + 0.1 * 4)


@settings(max_examples=25)
@given(st.lists(plain(low=1, loops=True), min_size=1, max_size=5), st.randoms())
def test_slices_and_storage(items, random):
    graphs = Graphs.coerce([as_dict(item, attributes=np.ones((len(item[0]), 2))) for item in items])
    assert same(Graphs.from_arrays(graphs.to_arrays()), graphs)
    index = np.array([random.randrange(len(items)) for _ in range(4)])
    part = graphs.take(index)
    assert same(part, Graphs.coerce([as_dict(items[k], attributes=np.ones((len(items[k][0]), 2))) for k in index]))
    for number, k in enumerate(index):
        assert np.array_equal(part.adjacency(number), items[k][0])
    assert same(graphs.take(slice(1, None)), graphs.take(np.arange(1, len(items))))
    assert graphs.take(slice(1, None)).neighbours.base is not None  # a view


@pytest.mark.parametrize(
    "change",
    [
        {"neighbours": np.array([1, 0, 5, 1], dtype=np.int32)},
        {"neighbours": np.array([1, 2, 0, 1], dtype=np.int32)},
        {"neighbours": np.array([1, 0, 0, 1], dtype=np.int32)},
        {"neighbours": np.array([1.0, 0, 2, 1])},
        {"neighbours": np.array([-1, 0, 2, 1], dtype=np.int32)},
        {"offsets": np.array([0, 2])},
        {"offsets": np.array([1, 3])},
        {"bounds": np.array([0, 1, 3])},
        {"bounds": np.array([0, 3, 1, 4])},
        {"directed": np.array([2])},
        {"labels": np.array([1, 2])},
        {"labels": np.array([1.0, 2.0, 3.0])},
        {"weights": np.array([1.0, 2.0, 1.0, 1.0])},
        {"weights": np.array([np.nan, np.nan, 1.0, 1.0])},
        {"attributes": np.ones(3)},
        {"bounds": None},
    ],
)
def test_damaged_files_are_refused(change):
    arrays = dict(Graphs.coerce([nx.path_graph(3)]).to_arrays()) | change
    with pytest.raises(ModelFileError, match="stored graphs"):
        Graphs.from_arrays({name: array for name, array in arrays.items() if array is not None})


LABELLED = {"edges": [(0, 1)], "labels": ["a", "b"]}


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        ([], InputError, "Found 0 graphs"),
        (nx.path_graph(3), InputTypeError, "got one Graph. Pass a list"),
        (TRIANGLE, InputTypeError, "Pass a list, even of one"),
        ("graph", InputTypeError, "Expected a list of graphs, got one str"),
        (["CCO"], InputTypeError, r"item 0 is 'CCO' of type str.*as_=\"smiles\""),
        ([[(0, 1)], 5], InputTypeError, "item 1 is 5 of type int. A graph is a networkx graph"),
        ([(0, 1), (1, 2)], InputTypeError, r"item 0 is \(0, 1\).*looks like an edge"),
        ([np.zeros((2, 3))], InputError, r"Graph 0: an adjacency matrix is square, got shape \(2, 3\)"),
        ([np.array([["a"]])], InputTypeError, "Graph 0: an adjacency matrix holds numbers"),
        ([LABELLED, {"edges": [(0, 1)]}], InputError, "Graph 1 has no labels .node 0 .*while graph 0 has"),
        ([{"edges": [(0, 1)], "labels": ["a", None]}], InputError, "Graph 0: node 1 has no label"),
        ([{"edges": [(0, 1)], "labels": {0: "a"}, "nodes": 2}], InputError, "Graph 0: node 1 has no label"),
        ([{"edges": [(0, 1)], "labels": [0.5, 1.5]}], InputError, "node 0 has the label 0.5.*real numbers"),
        ([{"edges": [(0, 1)], "labels": ["a"]}], InputError, r"ends outside|Graph 0: edge 0 ends at 1"),
        ([{"edges": [(0, 1)], "labels": ["a"] * 3, "nodes": 2}], InputError, "Graph 0 has 3 labels for 2 nodes"),
        ([{"edges": [(0, 1, 2, 3)]}], InputError, "Graph 0: edge 0 is .* not a pair"),
        ([{"edges": np.array([[0, 5]]), "nodes": 2}], InputError, r"the edge \(0, 5\) ends outside its 2 nodes"),
        ([{"edges": [(0, 1)], "colour": 1}], InputError, "unknown key 'colour'"),
        ([{"labels": ["a"]}], InputError, "has no 'edges'"),
        ([nx.path_graph(2), nx.DiGraph([(0, 1)])], InputError, "graph 1 is directed, graph 0 is not"),
        ([nx.MultiGraph([(0, 1), (0, 1)])], InputError, "Graph 0 has parallel edges"),
        (
            [[(0, 1, 1.0), (1, 0, 2.0)]],
            InputError,
            r"Graph 0 lists the edge \(.*\) more than once, with different weights",
        ),
        ([[(0, 1, np.nan)]], InputError, r"Graph 0: the weight of edge \(0, 1\) is nan"),
        ([[(0, 1, "heavy")]], InputError, "Graph 0: the weights of edges must be numbers"),
        ([np.array([[0, np.inf], [np.inf, 0]])], InputError, "weight of edge .* is inf"),
        ([{**LABELLED, "attributes": [[1.0], [np.nan]]}], InputError, "attributes at position 1 are not finite"),
    ],
)
def test_bad_graphs(raw, error, message):
    with pytest.raises(error, match=message):
        Graphs.coerce(raw)


def test_missing_label_of_a_networkx_node_is_named():
    graph = nx.path_graph(["x", "y", "z"])
    graph.nodes["x"]["label"] = graph.nodes["z"]["label"] = "C"
    with pytest.raises(InputError, match="Graph 1: node 'y' has no label"):
        Graphs.coerce([nx.empty_graph(0), graph])


@pytest.mark.parametrize(
    ("kernel", "weight", "message"),
    [
        (kernels.ShortestPath(), -1.0, r"positive, but the edge \(0, 1\) of graph 1 has weight -1"),
        (kernels.ShortestPath(), 0.0, "weight 0"),
        (kernels.RandomWalk(0.1), -2.0, "zero or more, but the edge"),
    ],
)
def test_negative_weights(kernel, weight, message):
    fitted = kernel.fit([[(0, 1)]])
    with pytest.raises(InputError, match=message):
        fitted([[(0, 1)], [(0, 1, weight), (1, 2, 1.0)]], [[(0, 1)]])


def test_new_graphs_of_another_kind():
    fitted = kernels.WeisfeilerLehman(1).fit([LABELLED])
    with pytest.raises(InputError, match=r"These graphs have no labels on their nodes, but .* have labels"):
        fitted([[(0, 1)]], [LABELLED])
    with pytest.raises(InputError, match=r"These graphs are directed, but .* are undirected"):
        fitted([{**LABELLED, "directed": True}], [LABELLED])
    with pytest.raises(InputError, match="Graphlet needs undirected graphs"):
        kernels.Graphlet(3).fit([nx.DiGraph([(0, 1)])])([nx.DiGraph([(0, 1)])])


def test_a_model_of_graphs_is_stored_and_read_back(tmp_path):
    import mercer

    cycles, paths = [nx.cycle_graph(n) for n in range(4, 12)], [nx.path_graph(n) for n in range(4, 12)]
    model = SVC(kernel=kernels.normalise(kernels.WeisfeilerLehman(2)), C=100.0).fit(cycles + paths, [1] * 8 + [0] * 8)
    assert model.score(cycles + paths, [1] * 8 + [0] * 8) == 1.0
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    new = [nx.cycle_graph(5), nx.star_graph(4)]
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


def test_nodes_of_the_karate_club():
    graph = nx.karate_club_graph()
    sides = np.array([graph.nodes[v]["club"] for v in graph])
    known = [0, 1, 2, 3, 33, 32, 31, 30]
    model = SVC(kernel=kernels.Heat(graph, time=0.2), C=10.0).fit(known, sides[known])
    rest = [v for v in graph if v not in known]
    assert (model.predict(rest) == sides[rest]).mean() > 0.85
    with pytest.raises(InputError, match="Item 1 is node 34, but the graph of Heat has the nodes 0 to 33"):
        model.predict([0, 34])
    with pytest.raises(InputTypeError, match="Nodes are given by their numbers"):
        model.predict(["Mr Hi"])
    with pytest.raises(InputError, match="Item 0 is node -1"):
        model.predict([-1])
    with pytest.raises(ValueError, match="symmetric"):
        kernels.Heat([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="without negative weights"):
        kernels.CommuteTime([[0, -1], [-1, 0]])
