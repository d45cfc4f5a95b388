"""Records: frozen, compared by value, addressed by paths."""

import dataclasses
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from mercer._record import Record
from mercer.errors import ParameterError


@dataclass(frozen=True)
class Leaf(Record):
    size: float = 1.0
    table: np.ndarray | None = None


@dataclass(frozen=True)
class Pair(Record):
    inner: Leaf
    terms: tuple = ()


ARRAY = np.arange(4.0)
TREE = Pair(Leaf(2.0), (Leaf(3.0), Pair(Leaf(4.0))))


def test_arrays_are_copied_frozen_and_compared_by_content():
    mine = ARRAY.copy()
    leaf = Leaf(table=mine)
    mine[0] = 9.0
    assert leaf == Leaf(table=ARRAY)
    assert hash(leaf) == hash(Leaf(table=ARRAY))
    assert leaf != Leaf(table=ARRAY + 1)
    assert leaf != Leaf(table=ARRAY.astype(np.float32))
    assert leaf != Leaf(table=ARRAY.reshape(2, 2))
    assert leaf != Leaf(table=np.array([0.0, 1.0, 2.0, 4.0]))
    assert Leaf(table=np.zeros(2)) != Leaf(table=np.zeros(2, dtype=np.int64))  # the same bytes
    with pytest.raises(ValueError, match="read-only"):
        leaf.table[0] = 1.0


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TREE.inner = Leaf()


def test_classes_differ():
    @dataclass(frozen=True)
    class Other(Record):
        size: float = 1.0
        table: np.ndarray | None = None

    assert Other() != Leaf()
    assert Leaf() != (1.0, None)


def test_paths():
    assert TREE.get_params() == {
        "inner": Leaf(2.0),
        "inner__size": 2.0,
        "inner__table": None,
        "0": Leaf(3.0),
        "0__size": 3.0,
        "0__table": None,
        "1": Pair(Leaf(4.0)),
        "1__inner": Leaf(4.0),
        "1__inner__size": 4.0,
        "1__inner__table": None,
        "1__terms": (),
    }
    assert set(TREE.get_params(deep=False)) == {"inner", "0", "1"}


def test_replacing_by_path():
    changed = TREE.with_params(inner__size=7.0, **{"1__inner__size": 8.0})
    assert changed == Pair(Leaf(7.0), (Leaf(3.0), Pair(Leaf(8.0))))
    assert TREE.inner.size == 2.0
    both = TREE.with_params(inner=Leaf(5.0), inner__table=ARRAY)
    assert both.inner == Leaf(5.0, ARRAY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iner": 1}, "Pair has no parameter 'iner'. Did you mean 'inner'.*Known: inner, inner__size"),
        ({"2": Leaf()}, "no parameter '2'"),
        ({"inner__sise": 1}, "Leaf has no parameter 'sise'. Did you mean 'size'"),
        ({"inner__size__x": 1}, "'size' parameter of Leaf has no parameters of its own"),
    ],
)
def test_unknown_paths(changes, message):
    with pytest.raises(ParameterError, match=message):
        TREE.with_params(**changes)


def test_repr_clone_and_pickle():
    assert repr(TREE.inner) == "Leaf(size=2.0, table=None)"
    assert clone(TREE) is TREE
    assert pickle.loads(pickle.dumps(TREE)) == TREE
    again = pickle.loads(pickle.dumps(Leaf(table=ARRAY)))
    assert again == Leaf(table=ARRAY)
