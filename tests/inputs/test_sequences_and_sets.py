"""Strings, sequences of tokens, sets and bags as they come in: what is answered, and what is stored."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.bags import Bags
from mercer.inputs.hashing import content_hash
from mercer.inputs.sets import Sets
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors


def test_names_are_the_same_in_every_process():
    things = "('a', 7, (1.5, frozenset({'x', 'y'})), b'z', None)"
    code = f"from mercer.inputs.hashing import content_hash; print([content_hash(x) for x in {things}])"
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert runs == {f"{[content_hash(thing) for thing in ('a', 7, (1.5, frozenset({'x', 'y'})), b'z', None)]}\n"}


def test_names_follow_equality():
    assert content_hash(1) == content_hash(1.0) == content_hash(True) == content_hash(np.int8(1))
    assert len({content_hash(thing) for thing in ("1", 1, b"1", None, ("1",), frozenset({"1"}), "", (), -1, 0.5)}) == 10
    with pytest.raises(InputTypeError, match="NaN"):
        content_hash(float("nan"))
    with pytest.raises(InputTypeError, match="no content"):
        content_hash(object())


def test_a_list_of_characters_is_the_string_it_spells():
    np.testing.assert_array_equal(Strings.coerce([list("CAT")]).symbols, Strings.coerce(["CAT"]).symbols)


@pytest.mark.parametrize(
    ("raw", "error", "words"),
    [
        ("CAT", InputTypeError, "one str"),
        (b"CAT", InputTypeError, "one bytes"),
        (["CAT", b"GAT"], InputTypeError, "item 1 .* Decode"),
        (["CAT", 3], InputTypeError, "item 1 is 3 of type int"),
        (["CAT", ["G"]], InputTypeError, "item 1 .* never mixed"),
        ([["C"], "CAT"], InputTypeError, "item 1 .* never mixed"),
        ([], InputError, "0 strings"),
        ([["a", "b"], ["a", 3]], InputTypeError, "item 1 holds 3 of type int at position 1"),
        ([["a", ["b"]]], InputTypeError, "position 1"),
        ([[[1]]], InputTypeError, "hashable"),
        (np.zeros((2, 3)), InputTypeError, "shape"),
        (3, InputTypeError, "got int"),
    ],
)
def test_what_strings_refuse(raw, error, words):
    with pytest.raises(error, match=words):
        Strings.coerce(raw)


def test_odd_characters_are_symbols():
    strings = ["", "a\0b", "\U0001f600", "e\u0301", "\ud800"]
    assert Strings.coerce(strings).tolist() == strings


@pytest.mark.parametrize("raw", [["CAT", "", "GATTACA"], [["to", "be"], [], ["or"]]])
def test_strings_survive_storage_and_slicing(raw):
    strings = Strings.coerce(raw)
    back = Strings.from_arrays(strings.to_arrays())
    assert back.tolist() == strings.tolist()
    assert back.of_characters == strings.of_characters
    assert strings.take(np.asarray([2, 0])).tolist() == [strings.tolist()[2], strings.tolist()[0]]
    broken = {**strings.to_arrays(), "offsets": np.asarray([0, 1, 99])}
    with pytest.raises(ModelFileError):
        Strings.from_arrays(broken)
    with pytest.raises(ModelFileError):
        Strings.from_arrays({"symbols": strings.symbols})


def test_all_spellings_of_a_batch_of_sets_are_one():
    plain = Sets.coerce([{0, 2}, set(), {1}])
    matrix = np.asarray([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    for raw in (
        matrix,
        matrix.astype(bool),
        sp.csr_array(matrix),
        [[0, 2], (), frozenset({1})],
        [Counter([0, 2]), {}, {1: 1, 7: 0}],
    ):
        found = Sets.coerce(raw)
        np.testing.assert_array_equal(found.names, plain.names)
        np.testing.assert_array_equal(found.multiplicities, plain.multiplicities)
        np.testing.assert_array_equal(found.offsets, plain.offsets)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({1, 2}, "one set"),
        ("ab", "one str"),
        (["ab"], r"item 0 .* set\(text\)"),
        ([{1}, 3], "item 1 is 3"),
        ([], "0 sets"),
        ([Counter(a=-1)], "-1 times"),
        ([{"a": 1.5}], "1.5 times"),
        ([[["a"]]], "hashable"),
        ([{object()}], "Set 0"),
        (np.asarray([[0.0, 0.5]]), "row 0, column 1 holds 0.5"),
        (np.asarray([[0, -1]]), "holds -1"),
        (np.asarray([0, 1]), "one row per set"),
    ],
)
def test_what_sets_refuse(raw, words):
    with pytest.raises(InputError, match=words):
        Sets.coerce(raw)


def test_sets_survive_storage_and_slicing():
    sets = Sets.coerce([list("aab"), [], list("cb")])
    back = Sets.from_arrays(sets.to_arrays())
    np.testing.assert_array_equal(back.names, sets.names)
    part = sets.take(np.asarray([2, 0]))
    np.testing.assert_array_equal(part.multiplicities[2:], sets.multiplicities[:2])
    with pytest.raises(ModelFileError):
        Sets.from_arrays({**sets.to_arrays(), "names": sets.names[::-1].copy()})
    with pytest.raises(ModelFileError):
        Sets.from_arrays({**sets.to_arrays(), "multiplicities": -sets.multiplicities})


def test_bags_of_numbers_of_rows_and_of_strings():
    assert Bags.coerce([{0, 1}, [2.5]]).elements(Vectors).n_features == 1
    assert Bags.coerce([np.zeros((2, 3)), np.ones((1, 3))]).elements(Vectors).n_features == 3
    bags = Bags.coerce([["CAT", "GAT"], ["TAG"]])
    assert bags.elements(Strings).tolist() == ["CAT", "GAT", "TAG"]
    assert bags.take(np.asarray([1])).elements(Strings).tolist() == ["TAG"]
    assert Bags.from_arrays(bags.to_arrays()).elements(Strings).tolist() == ["CAT", "GAT", "TAG"]
    with pytest.raises(InputError, match="hold strings"):
        Bags.from_arrays(bags.to_arrays()).elements(Vectors)
    with pytest.raises(InputTypeError, match="item 1"):
        Bags.coerce([[1], 2])
    with pytest.raises(InputError, match="empty"):
        Bags.coerce([[], []]).elements(Vectors)
    with pytest.raises(InputError, match="elements of all bags"):
        Bags.coerce([["a"]]).elements(Vectors)
