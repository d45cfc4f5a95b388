"""Fields of model files: written, read back, and refused where they do not fit together."""

import numpy as np
import pytest

from mercer._stored import Stored
from mercer.errors import ModelFileError
from mercer.training.storing import (
    ArrayField,
    LabelsField,
    ValueField,
    not_negative,
    one_against_rest,
    positive,
    read_fields,
    write_fields,
)

FIELDS = {
    "classes_": LabelsField(one_against_rest, "one row for each"),
    "coef_": ArrayField("f", "outputs", "features"),
    "_counts": ArrayField("i", "classes", stored_as="counts_"),
    "scales_": ArrayField("f", "outputs", stored_as="scales", missing=1.0),
    "width_": ValueField(float, positive),
    "temperature_": ValueField(float, not_negative, when="probability"),
}


class Model:
    """The least that the codec asks of an estimator."""

    def __init__(self, probability=False):
        self.probability = probability

    def get_params(self, deep):
        return {"probability": self.probability}


def fitted(probability=False):
    model = Model(probability)
    model.classes_, model.coef_, model._counts = np.array(["a", "b", "c"]), np.eye(3, 2), np.array([1, 2, 3])
    model.scales_, model.width_, model.n_features_in_ = np.arange(3.0), np.float32(0.5), 2
    if probability:
        model.temperature_ = 2.0
    return model


def read(stored):
    model = Model(**stored.params)
    read_fields(model, FIELDS, stored)
    return model


def changed(values=(), arrays=(), without=()):
    stored = write_fields(fitted(), FIELDS)
    kept = {name: array for name, array in stored.arrays.items() if name not in without}
    return Stored(stored.params, {**stored.values, **dict(values)}, {**kept, **dict(arrays)})


@pytest.mark.parametrize("probability", [False, True])
def test_there_and_back(probability):
    stored = write_fields(fitted(probability), FIELDS)
    assert set(stored.arrays) == {"classes_", "coef_", "counts_", "scales"}
    assert set(stored.values) == {"width_", "n_features_in_"} | ({"temperature_"} if probability else set())
    again = read(stored)
    assert sorted(vars(again)) == sorted(vars(fitted(probability)))
    np.testing.assert_array_equal(again._counts, [1, 2, 3])
    assert again.width_ == 0.5


def test_arrays_that_earlier_versions_did_not_write():
    np.testing.assert_array_equal(read(changed(without=["scales"])).scales_, np.ones(3))


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (changed(without=["coef_"]), "'coef_'.*missing"),
        (changed(arrays={"coef_": np.eye(2)}), "'coef_'"),
        (changed(arrays={"coef_": np.eye(3)}), "'coef_'"),
        (changed(arrays={"coef_": np.eye(3, 2, dtype=int)}), "kind 'f'"),
        (changed(arrays={"counts_": np.ones(2, dtype=int)}), "counts_"),
        (changed(arrays={"scales": np.ones((3, 1))}), "scales"),
        (changed(arrays={"classes_": np.array(["a"])}), "two or more labels"),
        (changed(values={"width_": 0.0}), "'width_' cannot be"),
        (changed(values={"width_": 1}), "'width_'"),
        (changed(values={"n_features_in_": 3}), "coef_"),
    ],
)
def test_what_does_not_fit_is_refused(stored, message):
    with pytest.raises(ModelFileError, match=message):
        read(stored)
