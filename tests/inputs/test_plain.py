"""Plain data as arrays: what goes in comes out, and what nobody would have written is refused."""

import contextlib
import dataclasses
import json
import random
from typing import NamedTuple

import numpy as np
import pytest

from mercer.errors import InputTypeError, ModelFileError
from mercer.inputs.plain import known_classes, pack, unpack


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    tags: tuple = ()
    derived: float = dataclasses.field(init=False, default=0.0)

    def __post_init__(self):
        object.__setattr__(self, "derived", 2 * self.x)


class Pair(NamedTuple):
    first: int
    second: Point


VALUES = [
    None, True, False, 0, -7, 2**53, -(2**200), 0.1, -0.0, float("inf"), float("-inf"), "", "a\0\u20ac\ud800", b"",
    b"\xff\0", [], [1, [2, (3, None)]], (), (1,), {"a": 1, 2: (3,), None: [], (1, 2): "x"}, {1, 2, 3},
    frozenset({"a", "b"}), set(),
    np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("word"), np.uint64(2**64 - 1),
    Point(1.5, ("a", 2)), Pair(1, Point(2.0)), [Point(0.5)] * 2,
]  # fmt: skip
ARRAYS = [
    np.arange(6.0).reshape(2, 3), np.float32([[1.5]]), np.zeros((0, 3), dtype=np.int64), np.array(3.5),
    np.array([True, False]), np.array(["a", "\U0001f600bc"]), np.array([], dtype="<U1"), np.arange(3, dtype=">i4"),
    np.asfortranarray(np.arange(6).reshape(2, 3)), np.array(["a", None, 1.5, float("nan")], dtype=object),
    np.array([[1, "x"], [None, (1, 2)]], dtype=object),
]  # fmt: skip


def there_and_back(values):
    arrays = pack(values)
    assert all(array.dtype.kind != "O" and array.ndim == 1 for array in arrays.values())
    with known_classes([Point, Pair]):
        return unpack(arrays)


def test_values_of_every_kind():
    found = there_and_back(VALUES)
    assert repr(found) == repr(VALUES)
    assert [type(one) for one in found] == [type(one) for one in VALUES]
    assert repr(there_and_back([float("nan")])) == "[nan]"


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_of_every_kind(array):
    (found,) = there_and_back([array])
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.shape == array.shape
    assert repr(found.tolist()) == repr(array.tolist())


def test_arrays_deep_within():
    values = [{"a": [np.arange(3), {"b": np.arange(4.0)}]}, (np.arange(3) + 1,)]
    found = there_and_back(values)
    np.testing.assert_array_equal(found[0]["a"][0], [0, 1, 2])
    np.testing.assert_array_equal(found[0]["a"][1]["b"], np.arange(4.0))
    np.testing.assert_array_equal(found[1][0], [1, 2, 3])


def test_equal_values_give_equal_arrays():
    """Whatever the order in which a set was filled."""
    one, two = {"a", "b", "c", 1, 2}, {2, 1, "c", "b", "a"}
    assert (pack([one])["text"] == pack([two])["text"]).all()


class Anything:
    pass


def test_other_things_are_refused():
    endless: list = []
    endless.append(endless)
    for value in (Anything(), Anything, len, 1j, range(3), np.datetime64("2020-01-01"), np.ma.array([1.0]), endless):
        with pytest.raises(ModelFileError, match="item 1"):
            pack([1, value])


def test_classes_are_given_never_looked_up():
    arrays = pack([Point(1.0)])
    with pytest.raises(ModelFileError, match="class 'Point'"):
        unpack(arrays)
    with known_classes([Pair]), pytest.raises(ModelFileError, match="class 'Point'"):
        unpack(arrays)
    for wrong in (int, "Point", Anything):
        with pytest.raises(InputTypeError, match="dataclasses"), known_classes([wrong]):
            pass
    text = np.frombuffer(json.dumps([["c", ["Point", [["y", 1.0]]]]]).encode(), dtype=np.uint8)
    with known_classes([Point]), pytest.raises(ModelFileError, match="fields of Point"):
        unpack({"text": text})


HOSTILE = [
    "", "1", "null", "[", "[NaN]", "[1e999]", '[["q", 1]]', '[["l", 3]]', '[["l"]]', '[{"a": 1}]', '[["d", [[1]]]]',
    '[["d", [[["l", []], 1]]]]', '[["s", [["l", []]]]]', '[["s", [1, 1]]]', '[["f", "1e5"]]', '[["b", "0"]]',
    '[["b", "zz"]]', '[["i", "0x10"]]', '[["i", "' + "f" * 5000 + '"]]', '[["a", ["<f8", [2], 0]]]',
    '[["a", ["<f8", [-1], 0]]]', '[["a", ["|O", [1], 0]]]', '[["a", ["<f8", [1], 99]]]', '[["a", ["<i8", [1], 0]]]',
    '[["n", ["<f8", [1], 0]]]', '[["o", [[2], [1]]]]', '[["o", [[1099511627776, 1099511627776], []]]]',
    '[["c", ["os.system", [["command", "x"]]]]]', '[["c", ["Point", 3]]]', "[" + '["l", [' * 60 + "]]" * 60 + "]",
    "[" * 100_000, "[9007199254740993]", '[["d", [["__class__", 1], 2]]]',
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_nobody_wrote_is_refused(text):
    arrays = {"text": np.frombuffer(text.encode(), dtype=np.uint8), "of_f8": np.zeros(1)}
    with known_classes([Point]), pytest.raises(ModelFileError):
        unpack(arrays)


def test_arrays_that_do_not_belong():
    arrays = dict(pack([np.arange(3.0)]))
    for wrong in (
        {"text": arrays["text"]},
        {**arrays, "of_f8": np.arange(3)},
        {**arrays, "of_f8": np.zeros((3, 1))},
        {**arrays, "of_f8": np.zeros(2)},
        {**arrays, "text": arrays["text"].astype(np.int64)},
        {"of_f8": np.zeros(3)},
    ):
        with pytest.raises(ModelFileError):
            unpack(wrong)


def test_damaged_texts_are_read_or_refused():
    arrays = dict(pack([*VALUES, *ARRAYS]))
    draw = random.Random(0)
    for _ in range(2000):
        text = arrays["text"].copy()
        for _ in range(draw.choice((1, 2, 8))):
            text[draw.randrange(len(text))] = draw.choice(b'[]{},"0123456789.eE-ltsdfbianoczx')
        with known_classes([Point, Pair]), contextlib.suppress(ModelFileError):
            unpack({**arrays, "text": text})
