"""Objects of every kind, in whatever users hold them: nothing is misread; what cannot be read is refused in words."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.errors import InputError, InputTypeError
from mercer.inputs.bags import Bags
from mercer.inputs.base import listed
from mercer.inputs.categories import Categories
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.graphs import Graphs
from mercer.inputs.items import Items
from mercer.inputs.nodes import Nodes
from mercer.inputs.series import Series
from mercer.inputs.sets import Sets
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

BINARY = np.array([[0, 1, 1], [0, 0, 1]])
NUMBERS = np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 1.0]])
PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
BAGS = [np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])]


def object_array(items):
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        array[place] = item
    return array


def same(kernel, objects, expected):
    np.testing.assert_allclose(kernel.fit(objects)(objects), kernel.fit(expected)(expected), rtol=1e-12)


HOLDERS = [tuple, object_array, pd.Series, pd.Index]


@pytest.mark.parametrize("hold", [*HOLDERS, np.array, pl.Series, lambda x: pd.DataFrame({"a": x})])
def test_strings(hold):
    words = ["banana", "ananas", "naïve"]
    same(kernels.Spectrum(2), hold(words), words)


@pytest.mark.parametrize("hold", [pd.Series, pl.Series, object_array, lambda x: [np.array(row) for row in x]])
def test_tokens(hold):
    same(kernels.Spectrum(2), hold([[1, 2, 3, 1], [2, 3]]), [[1, 2, 3, 1], [2, 3]])


@pytest.mark.parametrize("hold", [*HOLDERS, pl.Series])
def test_sets(hold):
    same(kernels.MultisetDot(), hold([[1, 2, 2], [2, 3]]), [[1, 2, 2], [2, 3]])


@pytest.mark.parametrize(
    "hold", [pd.DataFrame, pl.DataFrame, sp.csc_matrix, lambda x: x.astype(">i4"), lambda x: x.astype(np.float16)]
)
def test_matrices_of_sets(hold):
    same(kernels.MultisetDot(), hold(BINARY), [{1, 2}, {2}])


def test_matrix_of_sets_is_left_as_it_was():
    given = sp.csr_array((np.array([1.0, 0.0, 1.0, 1.0]), np.array([1, 0, 2, 2]), np.array([0, 2, 4])), shape=(2, 3))
    before = [array.copy() for array in (given.data, given.indices, given.indptr)]
    for array in (given.data, given.indices, given.indptr):
        array.flags.writeable = False
    assert Sets.coerce(given).multiplicities.tolist() == [1, 2]
    for array, copy in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("hold", [tuple, pd.Series, np.array, lambda x: [pd.DataFrame(bag) for bag in x]])
def test_bags(hold):
    same(kernels.MeanEmbedding(kernels.RBF(gamma=0.5)), hold(BAGS), BAGS)


@pytest.mark.parametrize(
    "hold", [pd.DataFrame, pl.DataFrame, lambda x: x.astype(">f8"), lambda x: [pl.Series(row) for row in x]]
)
def test_series(hold):
    """A frame holds a series in each row."""
    same(kernels.GlobalAlignment(sigma=1.0), hold(NUMBERS), NUMBERS)


@pytest.mark.parametrize(
    "hold", [lambda x: x.astype(">f4"), lambda x: x.astype(np.float16), sp.dok_array, np.asfortranarray, nx.Graph]
)
def test_graphs(hold):
    same(kernels.ShortestPath(), [hold(PATH)], [PATH])


@pytest.mark.parametrize("hold", [np.array, object_array, pd.Series, pl.Series, lambda x: np.array(x, dtype=np.uint8)])
def test_nodes(hold):
    same(kernels.Heat(PATH), hold([0, 2, 1]), [0, 2, 1])


def test_columns():
    columns = {"a": [1.0, 2.0], "s": ["xy", "yx"]}
    kernel = kernels.on("a", kernels.RBF(gamma=1.0)) + kernels.on("s", kernels.Spectrum(1))
    for column in (pd.Series, pl.Series, np.array):
        same(kernel, {name: column(values) for name, values in columns.items()}, columns)


def test_rows_of_a_sparse_gram_matrix():
    gram = np.array([[2.0, 1.0], [1.0, 3.0]])
    fitted = kernels.Precomputed().fit(gram)
    np.testing.assert_array_equal(fitted(GramRows.rows(sp.csr_array(gram[:1])), gram), gram[:1])
    with pytest.raises(InputError, match="one finite value per row"):
        GramRows.rows(gram, self_similarity=[np.nan, 1.0])


MASKED = np.ma.array(NUMBERS, mask=[[0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (Vectors, MASKED),
        (Series, MASKED),
        (Sets, np.ma.array(BINARY, mask=[[0, 0, 1], [0, 0, 0]])),
        (Categories, MASKED),
        (GramRows, np.ma.array(PATH, mask=np.eye(3))),
        (Graphs, [np.ma.array(PATH, mask=np.eye(3))]),
        (Strings, np.ma.array(["a", "b"], mask=[0, 1])),
        (Nodes, np.ma.array([0, 1], mask=[0, 1])),
        (Bags, [np.ma.array(BAGS[0], mask=[[0], [1]])]),
        (Table, {"a": np.ma.array([1.0, 2.0], mask=[0, 1])}),
    ],
)
def test_masks_are_never_ignored(kind, raw):
    with pytest.raises(InputError, match="masked array whose entry at row"):
        kind.coerce(raw)


@pytest.mark.parametrize("kind", [Strings, Sets, Bags, Series, Trees, Graphs, Items])
def test_iterators_can_be_read_only_once(kind):
    with pytest.raises(InputTypeError, match=r"generator, which can be read only once\. Pass list"):
        kind.coerce(item for item in [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("kind", "raw", "message"),
    [
        (Sets, [iter([1, 2])], "item 0 is .* can be read only once"),
        (Sets, [{"a": 2**60}], r"from 0 to 2\^53"),
        (Bags, [iter([1.0])], "item 0 is .* A bag is a list"),
        (Bags, [sp.csr_array(NUMBERS)], "A bag is a list, a set or an array"),
        (Bags, [np.array(1.0)], "item 0 is array"),
        (Items, pd.DataFrame({"a": [1], "b": [2]}), "got 2 columns. Pass one of them"),
        (Items, {"a": 1}, "got one dict"),
        (Strings, [np.array(3)], "item 0 is array"),
        (Strings, np.array("word"), r"array of shape \(\)"),
        (Trees, [(2**70, "a")], "Tree 0 has the label 1180591620717411303424; .* 64 bits"),
        (Trees, pd.DataFrame({"t": ["(a b)"], "u": ["(a c)"]}), "got 2 columns"),
        (Categories, object_array([np.array([1, 2])]).reshape(1, 1), "of type ndarray; categories are text"),
        (Nodes, np.array([2**64 - 1], dtype=np.uint64), "Item 0 is node 18446744073709551615"),
        (Nodes, [np.inf], "Nodes are given by their numbers"),
        (Nodes, [True], "got True first"),
    ],
)
def test_refused_in_words(kind, raw, message):
    with pytest.raises(InputError, match=message):
        kind.coerce(raw)


def test_nothing_is_an_error():
    for empty in ([], (), np.empty(0, dtype=object), pd.Series([], dtype=object)):
        with pytest.raises(InputError, match="Found 0 things"):
            listed(empty, "things")
