"""Alignment kernels on real series: at least what is asked of them."""

import numpy as np
import pytest

from mercer import SVC, kernels

pytestmark = pytest.mark.realdata


def accuracy(load, name, kernel, C):
    data = load(f"timeseries/{name}")
    (train, labels), (test, truth) = data["train"], data["test"]
    model = SVC(kernel=kernel, C=C).fit([one.T for one in train], labels)
    return np.mean(model.predict([one.T for one in test]) == truth)


ALIGNED = kernels.normalise(kernels.GlobalAlignment())


@pytest.mark.parametrize(("name", "C", "floor"), [("GunPoint", 100.0, 0.96), ("ItalyPowerDemand", 10.0, 0.94)])
def test_one_channel(load, name, C, floor):
    assert accuracy(load, name, ALIGNED, C) >= floor


@pytest.mark.parametrize("name", ["BasicMotions", "JapaneseVowels"])
def test_channels_and_lengths(load, name):
    assert accuracy(load, name, ALIGNED, 100.0) >= 0.9
