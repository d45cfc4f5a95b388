"""Which objects are trained on block by block, and the machines that stand for their weights."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram import condensing
from mercer.gram.condensing import machine_over, streams
from mercer.inputs.blocks import ArrayBlocks
from mercer.inputs.streamed import Streamed
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors

X = np.random.default_rng(0).normal(size=(40, 3))
WORDS = ["gattaca", "gattica", "ccgcg", "cgcgc"]


def streamed(X, domain=Vectors):
    return Streamed(ArrayBlocks(X, rows=16), domain)


@pytest.mark.parametrize(
    ("kernel", "most", "expected"),
    [
        (kernels.Linear(), 3, True),
        (kernels.Linear(), 2, False),  # more columns than are written
        (kernels.Nystrom(kernels.RBF(1.0), m=5), 2, True),  # made for blocks, however many there are
        (kernels.RandomFourierFeatures(size=8), 2, True),
        (kernels.RBF(1.0), 3, False),  # no features
    ],
    ids=str,
)
def test_few_columns_or_features_for_blocks(kernel, most, expected, monkeypatch):
    monkeypatch.setattr(condensing, "MOST_COLUMNS", most)
    assert streams(kernel.fit(X), streamed(X)) is expected
    assert not streams(kernel.fit(X), Vectors.coerce(X))


def test_what_is_counted_is_not_streamed():
    assert not streams(kernels.Spectrum(2).fit(WORDS), streamed(WORDS, Strings))


def test_weights_are_those_of_the_coefficients():
    fitted = kernels.Nystrom(kernels.RBF(0.5), m=6).fit(X)
    support, coefficients = np.array([3, 20, 39]), np.array([[1.0], [-2.0], [0.5]])
    machine, _ = machine_over(fitted, streamed(X), support, coefficients, np.zeros(1))
    np.testing.assert_allclose(machine(Vectors.coerce(X))[:, 0], fitted(X)[:, support] @ coefficients[:, 0], atol=1e-6)
