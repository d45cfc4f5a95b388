"""What an estimator must do to be stored, shown by the smallest one; storage knows no estimator by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import mercer
from mercer._registry import MODELS, Entry
from mercer._stored import Stored, checked_array, checked_value
from mercer.errors import ModelFileError, UnfittedError
from mercer.gram.expansion import Expansion
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.rbf import RBF
from mercer.losses.hinge import Hinge
from tests.storage.samples import WORDS, X


class Memory:
    """Remembers what it saw, and compares new objects with it."""

    def __init__(self, **params: Any) -> None:
        self.params = params
        self.stored: Stored | None = None

    def keep(self, **parts: Any) -> Self:
        self.stored = Stored(self.params, **parts)
        return self

    def _to_stored(self) -> Stored:
        if self.stored is None:
            raise NotFittedError("nothing seen yet")
        return self.stored

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model.stored = stored
        return model


@pytest.fixture
def trip(tmp_path, monkeypatch):
    """Save, load, and give back what came out."""
    monkeypatch.setitem(MODELS, "Memory", Entry(__name__, "Memory", "memory", "for this test"))
    monkeypatch.setattr(Entry, "load", _load)

    def there_and_back(model: Memory, **options: Any) -> Stored:
        mercer.save(model, tmp_path / "model")
        loaded = mercer.load(tmp_path / "model", **options)
        assert isinstance(loaded, Memory)
        assert loaded.stored is not None
        return loaded.stored

    return there_and_back


_ordinary = Entry.load


def _load(entry: Entry) -> Any:
    return Memory if entry.name == "Memory" else _ordinary(entry)


def test_values_of_every_kind(trip):
    params = {
        "number": 0.1 + 0.2,
        "whole": -(2**62),
        "numpy": np.float32(0.1),
        "infinite": -np.inf,
        "nothing": None,
        "true": np.bool_(True),
        "text": "a\0\u20ac\ud800",
        "nested": [1, (2.5, ["x", ()]), {"a": (1,), 2: None, True: [np.inf], 0.5: {}}],
        "array": np.arange(6.0).reshape(2, 3),
        "loss": Hinge(),
        "kernels": (RBF(0.5), RBF("scale")),
        "objects": Strings.coerce(["a", "bc"]),
    }
    stored = trip(Memory(**params).keep(values={"list": [1, 2.0, "x", None, True]}))
    back = dict(stored.params)
    assert back.pop("objects").tolist() == ["a", "bc"]
    np.testing.assert_array_equal(back.pop("array"), params["array"])
    expected = {name: value for name, value in params.items() if name not in ("objects", "array")}
    assert back == expected | {"numpy": float(np.float32(0.1)), "true": True}
    assert repr(back["nested"]) == repr(expected["nested"])
    assert stored.values == {"list": [1, 2.0, "x", None, True]}
    assert stored.expansion is None


ARRAYS = {
    "scalar": np.array(1.5),
    "empty": np.zeros((0, 3)),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": np.arange(20)[::3],
    "big_endian": np.arange(3, dtype=">i4"),
    "read_only": np.frombuffer(b"abc", dtype=np.uint8),
    "hashes": np.array([0, 2**64 - 1], dtype=np.uint64),
    "bools": np.array([True, False]),
    "text": np.array([["a", "\U0001f600"], ["", "long one"]]),
    "objects": np.array(["x", "yy"], dtype=object),
    "odd": np.array([np.nan, np.inf, -0.0, 5e-324]),
    "single": np.float32([0.1]),
    "large": np.arange(1_500_000, dtype=np.float64),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_every_kind(trip, name):
    array = ARRAYS[name]
    back = trip(Memory().keep(arrays={name: array})).arrays[name]
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == array.shape
    assert back.flags.c_contiguous
    assert back.flags.aligned


@pytest.mark.parametrize(
    "array",
    [np.zeros(2, dtype=np.float16), np.zeros(2, dtype=complex), np.array([b"x"]), np.array([1, "x"], dtype=object),
     np.array(["2020-01-01"], dtype="M8[D]"), np.array(["a\0"], dtype=object), np.zeros(1, dtype="i4,f8")],
    ids=lambda array: str(array.dtype),
)  # fmt: skip
def test_arrays_that_are_refused_when_saving(trip, array):
    with pytest.raises(ModelFileError, match="array"):
        trip(Memory().keep(arrays={"x": array}))


def test_names_are_checked_when_saving(trip):
    with pytest.raises(ModelFileError, match="cannot be the name"):
        trip(Memory().keep(arrays={"../x": np.zeros(1)}))


def test_extra_objects(trip):
    kept = {"train": Vectors.coerce(X), "words": Strings.coerce(WORDS)}
    back = trip(Memory().keep(objects=kept)).objects
    np.testing.assert_array_equal(back["train"].values, X)
    assert back["words"].tolist() == WORDS


def test_unfitted(trip):
    with pytest.raises(UnfittedError, match="Memory: it is not fitted yet"):
        trip(Memory())


def test_helpers_of_estimators():
    arrays = {"a": np.zeros(3)}
    assert checked_array(arrays, "a", "f", (3,)) is arrays["a"]
    for name, kind, shape in (("b", "f", (3,)), ("a", "i", (3,)), ("a", "f", (3, 1))):
        with pytest.raises(ModelFileError, match=f"array '{name}' must be"):
            checked_array(arrays, name, kind, shape)
    assert checked_value({"n": 3}, "n", int) == 3
    for values in ({}, {"n": True}, {"n": 3.0}, {"n": None}):
        with pytest.raises(ModelFileError, match="value 'n' must be of type int"):
            checked_value(values, "n", int)


# ------------------------------------------------------------------------------------------------ kernels of the user


@final
@dataclass(frozen=True)
class Centred(Kernel):
    """A kernel that Mercer does not know, with training objects in its state."""

    offset: float = 0.0
    domain = Vectors

    def resolve(self, objects: Vectors) -> State:
        return State({"mean": objects.values.mean(axis=0)}, (State(),), objects)

    def features(self, objects, state, dtype):
        return Vectors(np.asarray(objects.values - state.values["mean"], dtype=dtype))

    def tile(self, left, right, state, out):
        out[...] = left.values @ right.values.T + self.offset

    def diagonal(self, features, state):
        return (features.values**2).sum(axis=1) + self.offset

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


def machine(kernel: Kernel) -> Expansion:
    fitted = kernel.fit(X)
    return Expansion(fitted, Vectors.coerce(X[:5]), np.linspace(-1.0, 1.0, 10).reshape(5, 2), np.array([0.5, -0.5]))


def test_classes_of_the_user_are_asked_for(trip):
    expansion = machine(2.0 * Centred(1.0))
    model = Memory(kernel=2.0 * Centred(1.0)).keep(expansion=expansion)
    stored = trip(model, kernel=2.0 * Centred(1.0))
    assert stored.params["kernel"] == 2.0 * Centred(1.0)
    assert stored.expansion is not None
    np.testing.assert_array_equal(stored.expansion(X), expansion(X))
    inner = stored.expansion.kernel.state.parts[0]
    np.testing.assert_array_equal(inner.objects.values, X)
    with pytest.raises(ModelFileError, match="'Centred', and model files never hold code"):
        trip(model)
    with pytest.raises(ModelFileError, match="'Centred'"):
        trip(model, kernel=2.0 * RBF())
    with pytest.raises(ModelFileError, match="is not the one"):
        trip(model, kernel=3.0 * Centred(1.0))


def test_deep_kernels(trip):
    deep: Kernel = RBF(0.5)
    for level in range(20):
        deep = (deep + RBF(0.1 + level)) if level % 2 else (deep * RBF(0.1 + level))
    expansion = machine(deep)
    stored = trip(Memory(kernel=deep).keep(expansion=expansion))
    assert stored.params["kernel"] == deep
    np.testing.assert_array_equal(stored.expansion(X), expansion(X))
    for level in range(80):
        deep = (deep + RBF(0.1 + level)) if level % 2 else (deep * RBF(0.1 + level))
    with pytest.raises(ModelFileError, match="nested"):
        trip(Memory(kernel=deep).keep())
