"""Pairs as a page types them."""

import json
import math

import pytest

from mercer.studio.lab.pair import READERS, pair
from mercer.studio.refusal import Refusal

PAIRS = {
    "strings": ("GATTACA", "GATT", "spectrum(p=2)"),
    "documents": ("the old sea", "the sea", "vector_space"),
    "sets": ("a b c", "b, c, d", "multiset_dot"),
    "trees": ("(S (NP (D the) (N dog)) (VP barks))", "(S (NP (D a) (N dog)) (VP barks))", "subset_tree"),
    "graphs": ("0-1 1-2 2-0; C C N", "0-1 1-2; C C N", "wl"),
    "molecules": ("CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1O", "normalise(wl(h=2))"),
    "series": ("1 2 3", "1 2 2 3", "global_alignment(sigma=1.0)"),
    "vectors": ("1, 2", "3 4", "linear"),
    "rows": ("a=1, b=cat", '{"a": 2, "b": "cat"}', "on('a', linear) + on('b', categorical)"),
}


@pytest.mark.parametrize("kind", READERS)
def test_every_kind(kind):
    if kind == "molecules":
        pytest.importorskip("rdkit")
    x, z, kernel = PAIRS[kind]
    told = json.loads(json.dumps(pair({"kind": kind, "x": x, "z": z, "kernel": kernel}), allow_nan=False))
    assert sum(one["contribution"] for one in told["features"]) + told["rest"] == pytest.approx(told["value"], abs=1e-9)
    for side, one in ((0, "left"), (1, "right")):
        if told["objects"][side]:
            assert len(told["objects"][side]["labels"]) == len(told[one])
    names: dict = {}
    exec(told["python"].replace("print(", "found = ("), names)
    assert names["found"].value == told["value"]


def test_trees_are_drawn_in_postorder():
    told = pair({"kind": "trees", "x": "(S (NP a) b)", "z": "(S b)", "kernel": "all_subtree"})
    assert told["objects"][0] == {"kind": "tree", "labels": ["a", "NP", "b", "S"], "parents": [1, 3, 3, -1]}


@pytest.mark.parametrize(
    ("kind", "x", "field"),
    [("vectors", "a b", "x"), ("graphs", "a-b", "x"), ("graphs", "0-1-2", "x"), ("graphs", "0-99", "x"),
     ("molecules", "C1CC", "x"), ("molecules", "", "x"),
     ("rows", "{", "x"), ("nothing", "", "kind"), ("vectors", "1 2 3", "kernel"), ("trees", "(S (", "x")],
)  # fmt: skip
def test_what_cannot_be_read(kind, x, field):
    z, kernel = (PAIRS[kind][1], PAIRS[kind][2]) if kind in PAIRS else ("", "linear")
    with pytest.raises(Refusal) as caught:
        pair({"kind": kind, "x": x, "z": z, "kernel": kernel})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("kind", "x", "z", "kernel", "value"),
    [
        ("vectors", "0 0", "1 0", "rbf(gamma=1)", math.exp(-1)),
        ("rows", "a=0, b=1", "a=1, b=1", "on(['a', 'b'], rbf(gamma=1))", math.exp(-1)),
    ],
)
def test_a_value_that_cannot_be_split_is_told_all_the_same(kind, x, z, kernel, value):
    told = pair({"kind": kind, "x": x, "z": z, "kernel": kernel})
    assert told["value"] == pytest.approx(value)
    if told["how"] == "whole":
        assert "cannot be split" in told["why"]
        assert told["features"] == []
    names: dict = {}
    exec(told["python"].replace("print(", "found = ("), names)
    assert getattr(names["found"], "value", names["found"]) == pytest.approx(value)
