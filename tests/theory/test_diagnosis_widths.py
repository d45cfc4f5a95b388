"""What `diagnose` says of widths that are too small or too large, wherever they sit in a kernel."""

import numpy as np
import pytest

from mercer import diagnose, kernels
from mercer.inputs.vectors import Vectors
from mercer.theory.diagnosing.width import _by_measure
from tests.theory.diagnosed import BLOBS, Y


def test_widths():
    narrow = diagnose(kernels.RBF(1e4), BLOBS, Y)
    assert narrow.verdict == "diagonal"
    assert narrow.widths[0].too == "narrow"
    assert "smaller gamma" in narrow.next_step
    wide = diagnose(kernels.RBF(1e-9), BLOBS, Y)
    assert wide.verdict == "constant"
    assert wide.widths[0].too == "wide"
    assert "larger gamma" in wide.next_step
    for found in (narrow, wide):
        again = diagnose(kernels.RBF(found.widths[0].suggested), BLOBS, Y)
        assert again.verdict == "good"
        assert again.widths[0].too == ""
    without = diagnose(kernels.RBF(1e4), BLOBS).widths[0]
    squared = ((BLOBS[:, None] - BLOBS) ** 2).sum(axis=2)[np.triu_indices(120, 1)]
    assert without.suggested == pytest.approx(1 / np.median(squared), rel=1e-2)
    assert [one.kernel for one in diagnose(kernels.Linear() + kernels.Laplacian(2.0), BLOBS).widths] == [
        "laplacian(gamma=2.0)"
    ]


SERIES = [list(np.sin(np.linspace(0, 3 + 2 * (i % 2), 12)) + 0.05 * i) for i in range(40)]
MIXTURE = kernels.on(["a", "b"], kernels.RBF(1e4)) + kernels.on("word", kernels.Spectrum(1))
WIDTHS = {
    "gamma": ([kernels.RBF, kernels.Laplacian, kernels.Exponential], 1e4, 1e-7),
    "length_scale": ([kernels.Matern, kernels.RationalQuadratic, kernels.Periodic], 1e-4, 1e5),
}


@pytest.mark.parametrize(
    ("kind", "name", "sharp", "blunt"),
    [(kind, name, sharp, blunt) for name, (kinds, sharp, blunt) in WIDTHS.items() for kind in kinds],
)
@pytest.mark.parametrize("labels", [None, Y], ids=["without labels", "with labels"])
def test_widths_of_every_kind(kind, name, sharp, blunt, labels):
    """Too narrow and too wide are told, and the width suggested is neither, whatever the parameter is called."""
    X = BLOBS if kind is not kernels.Periodic else BLOBS / 20
    for size, too in ((sharp, "narrow"), (blunt, "wide")):
        if kind is kernels.RationalQuadratic and too == "narrow":
            size = 1e-9  # it falls off like a power, so it takes more
        found = diagnose(kind(**{name: size}), X, labels)
        (width,) = found.widths
        assert (width.parameter, width.value, width.too) == (name, pytest.approx(size), too)
        assert (width.suggested > size) == (width.direction == "larger")
        assert f"Try a {width.direction} {name}: {width.suggested:.3g}" in str(found)
        again = diagnose(kind(**{name: width.suggested}), X, labels).widths[0]
        assert again.too == ""
        if labels is None:
            assert again.exponent == pytest.approx(1.0, abs=0.05)


def test_widths_inside_other_kernels():
    both = diagnose(
        kernels.RBF(1e4) * kernels.Linear() + kernels.normalise(kernels.Matern(length_scale=1e-5)), BLOBS, Y
    )
    assert [(width.parameter, width.too) for width in both.widths] == [("gamma", "narrow"), ("length_scale", "narrow")]
    assert "rbf(gamma=10000.0): gamma = 1e+04" in str(both)
    over = diagnose(kernels.RBF(1e5, over=kernels.Polynomial(degree=2)), BLOBS, Y)
    assert [width.too for width in over.widths] == ["narrow"]
    words = ["ab" * (1 + i % 3) + "c" * (i // 60) for i in range(120)]
    strings = diagnose(kernels.RBF(1e5, over=kernels.Spectrum(1)), words, Y)
    assert [width.too for width in strings.widths] == ["narrow"]
    columns = {"a": BLOBS[:, 0].tolist(), "b": BLOBS[:, 1].tolist(), "word": words}
    table = diagnose(MIXTURE, columns, Y)
    assert [width.kernel for width in table.widths] == ["rbf(gamma=10000.0)"]
    assert table.widths[0].too == "narrow"
    assert diagnose(kernels.Polynomial(gamma=5.0) + kernels.RBF((1.0, 2.0)), BLOBS, Y).widths == ()


def test_widths_of_alignments():
    labels = np.arange(40) % 2
    for sigma, too in ((1e-3, "narrow"), (1e5, "wide"), ("median", "")):
        found = diagnose(kernels.normalise(kernels.GlobalAlignment(sigma=sigma)), SERIES, labels)
        (width,) = found.widths
        assert (width.parameter, width.too) == ("sigma", too)
        assert 0.05 < width.suggested < 50
    assert diagnose(kernels.GlobalAlignment(sigma=1e-3), SERIES).widths[0].by == "the rule of the kernel"


def test_values_of_a_width_are_those_of_the_kernel():
    X = np.random.default_rng(0).normal(size=(30, 2))
    trial = _by_measure(kernels.RBF(gamma=0.7), "gamma", Vectors.coerce(X))
    assert trial.ids.tolist() == list(range(30))
    for gamma in (0.7, 3.0):
        expected = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
        np.testing.assert_allclose(trial.values(gamma), expected, atol=1e-12)
    X[3] = 0.0  # a dot product is a distance from nowhere, also where one of its objects is
    assert _by_measure(kernels.Sigmoid(gamma=0.7), "gamma", Vectors.coerce(X)) is None
