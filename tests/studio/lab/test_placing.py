"""Features that stand in words, elements, coordinates and columns."""

import pytest

from mercer.studio.lab.pair import pair


@pytest.mark.parametrize(
    ("kind", "x", "z", "kernel", "left"),
    [
        ("documents", "The sea, the SEA", "the sea", "vector_space", {"The": 1, "the": 1, "sea": 1, "SEA": 1}),
        ("sets", "a b c", "b c d", "multiset_dot", {"a": 0, "b": 1, "c": 1}),
        ("vectors", "1, 2", "3, 4", "linear", {"1": 3, "2": 8}),
        ("vectors", "1, 2", "3, 4", "poly(degree=2, gamma=1, coef0=0)", {"1": 9 + 24, "2": 64 + 24}),
        ("rows", "a=2, b=cat", "a=3, b=cat", "on('a', linear) + on('b', categorical)", {"a=2": 6, "b=cat": 1}),
    ],
)
def test_features_are_placed_in_objects(kind, x, z, kernel, left):
    told = pair({"kind": kind, "x": x, "z": z, "kernel": kernel})
    shares = {one["part"]: one["share"] for one in told["left"] if one["part"].strip(", ")}
    assert shares == pytest.approx(left)
    for number, one in enumerate(told["features"]):
        holding = [part for part in told["left"] if number in part["features"]]
        assert holding, one


def test_what_stands_nowhere_is_left_out():
    told = pair({"kind": "vectors", "x": "1, 2", "z": "3, 4", "kernel": "poly(degree=1, gamma=1, coef0=1)"})
    constant = [number for number, one in enumerate(told["features"]) if one["name"] == "1"]
    assert len(constant) == 1
    assert all(constant[0] not in part["features"] for part in told["left"])
    told = pair({"kind": "documents", "x": "wave", "z": "waves", "kernel": "spectrum(p=4)"})
    assert told["features"][0]["name"] == "wave"


@pytest.mark.parametrize("kernel", ["random_fourier(gamma=1, size=8)", "latent_semantic(linear, k=2)"])
def test_features_that_mix_all_coordinates_stand_in_none(kernel):
    told = pair({"kind": "vectors", "x": "1, 2", "z": "3, 4", "kernel": kernel})
    assert told["features"]
    assert told["left"] == told["right"] == []
    beside = pair({"kind": "vectors", "x": "1, 2", "z": "3, 4", "kernel": f"linear + {kernel}"})
    assert [part["share"] for part in beside["left"]] == pytest.approx([3, 8])
