"""Trees: every form they come in, storage, and answers to bad input."""

import numpy as np
import pytest

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.trees import Trees


class Tree(list):
    """Like nltk's."""

    def __init__(self, label, children):
        super().__init__(children)
        self._label = label

    def label(self):
        return self._label


def test_every_form_gives_the_same_tree():
    forms = [
        "(NP (D the) (N dog))",
        "(NP(D(the))(N(dog)))",
        "  ( NP\n (D the)\t(N dog) ) ",
        ("NP", ("D", "the"), ("N", "dog")),
        ("NP", [("D", ["the"]), ("N", [("dog", [])])]),
        Tree("NP", [Tree("D", ["the"]), Tree("N", ["dog"])]),
    ]
    trees = Trees.coerce(forms)
    assert trees.sizes.tolist() == [5] * len(forms)
    for number in range(len(forms)):
        one = trees.take(np.array([number]))
        assert np.array_equal(one.labels, trees.labels[:5])
        assert one.arities.tolist() == [0, 1, 0, 1, 2]
    assert np.array_equal(trees.take(slice(2, 4)).labels, trees.labels[10:20])


def test_odd_trees():
    trees = Trees.coerce(["(a)", "()", "( (S (a b)))", ((), ((), ())), (3, 4), ("a", [])])
    assert trees.sizes.tolist() == [1, 1, 4, 5, 2, 1]
    assert trees.labels[trees.offsets[4] :].tolist()[:2] == [4, 3]
    assert trees.labels[0] == trees.labels[-1]


def test_storage():
    trees = Trees.coerce(["(NP (D the) (N dog))", "(a)"])
    again = Trees.from_arrays(trees.to_arrays())
    assert all(np.array_equal(again.to_arrays()[name], array) for name, array in trees.to_arrays().items())


@pytest.mark.parametrize(
    "change",
    [
        {"arities": np.array([0, 1, 0, 1, 1, 0])},
        {"arities": np.array([0, 1, 0, 1, 3, 0])},
        {"arities": np.array([1, 1, 0, 1, 1, 0])},
        {"arities": np.array([0, 2, 0, 1, 1, 0])},
        {"arities": np.array([0, -1, 0, 1, 2, 0])},
        {"offsets": np.array([0, 4, 6])},
        {"offsets": np.array([0, 5, 5, 6])},
        {"labels": np.zeros(6)},
        {"labels": None},
    ],
)
def test_damaged_files_are_refused(change):
    arrays = dict(Trees.coerce(["(NP (D the) (N dog))", "(a)"]).to_arrays()) | change
    with pytest.raises(ModelFileError, match="stored trees"):
        Trees.from_arrays({name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        ([], InputError, "Found 0 trees"),
        ("(a b)", InputTypeError, "got one str. Pass a list"),
        (("a", "b"), InputTypeError, "got one tuple. Pass a list"),
        (7, InputTypeError, "Expected a list of trees, got int"),
        (["(a b)", "(a (b c)"], InputError, r"Tree 1, character 0: this '\(' is never closed"),
        (["(a (b c)))"], InputError, r"Tree 0, character 9: '\)' follows after the tree has ended"),
        (["(a) (b)"], InputError, r"Tree 0, character 4: '\(' follows"),
        ([")"], InputError, r"Tree 0, character 0: '\)' closes no bracket"),
        (["word"], InputError, r"character 0: a tree starts with '\(', not 'word'"),
        (["  "], InputError, "Tree 0 is empty text"),
        ([3.5], InputTypeError, "item 0 is 3.5 of type float. A tree is bracketed text"),
        ([("a", ("b", 2.5))], InputError, "Tree 0: 2.5 of type float is not a node"),
        ([Tree(None, ["a"])], InputError, "Tree 0 has the label None"),
    ],
)
def test_bad_trees(raw, error, message):
    with pytest.raises(error, match=message):
        Trees.coerce(raw)
