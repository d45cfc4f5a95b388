"""Random features against the kernels that they are samples of."""

import numpy as np
import pytest

from mercer import kernels
from mercer.errors import ParameterError
from mercer.kernels.vectors.randomised import normal_directions

X = np.random.default_rng(0).normal(size=(10, 4))


def arc_cosine(order):
    lengths = np.linalg.norm(X, axis=1)
    angle = np.arccos(np.clip(X @ X.T / np.outer(lengths, lengths), -1, 1))
    if order == 0:
        return 1 - angle / np.pi
    return np.outer(lengths, lengths) * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize(
    ("features", "wanted"),
    [
        (kernels.RandomFourierFeatures(gamma=0.3, size=40_000), kernels.RBF(gamma=0.3).fit(X)(X)),
        (kernels.MaternFeatures(nu=0.5, size=40_000), kernels.Matern(nu=0.5).fit(X)(X)),
        (kernels.MaternFeatures(nu=2.5, length_scale=2.0, size=40_000), kernels.Matern(2.5, 2.0).fit(X)(X)),
        (kernels.ArcCosineFeatures(order=0, size=40_000), arc_cosine(0)),
        (kernels.ArcCosineFeatures(order=1, size=40_000), arc_cosine(1)),
    ],
)
def test_the_mean_is_the_kernel(features, wanted, orthogonal):
    got = features.with_params(orthogonal=orthogonal).fit(X)(X)
    np.testing.assert_allclose(got, wanted, atol=0.03 * abs(wanted).max())


def test_the_second_order_of_the_arc_cosine():
    """(3 sin cos + (pi - theta) (1 + 2 cos^2)) |x|^2 |z|^2 / pi, of which squares are an even rougher sample."""
    lengths = np.linalg.norm(X, axis=1)
    cosine = np.clip(X @ X.T / np.outer(lengths, lengths), -1, 1)
    angle = np.arccos(cosine)
    shape = 3 * np.sin(angle) * cosine + (np.pi - angle) * (1 + 2 * cosine**2)
    wanted = np.outer(lengths, lengths) ** 2 * shape / np.pi
    got = kernels.ArcCosineFeatures(order=2, size=100_000).fit(X)(X)
    np.testing.assert_allclose(got, wanted, atol=0.05 * wanted.max())


def test_the_laplacian_by_waves():
    got = kernels.LaplacianFeatures(gamma=0.2, size=40_000).fit(X)(X)
    np.testing.assert_allclose(got, kernels.Laplacian(gamma=0.2).fit(X)(X), atol=0.03)


def test_orthogonal_directions_are_so_block_by_block_and_as_long_as_normal_ones():
    found = normal_directions(np.random.default_rng(0), 5, 5000, orthogonal=True)
    block = found[:, 5:10]
    products = block.T @ block
    np.testing.assert_allclose(products - np.diag(products.diagonal()), 0.0, atol=1e-10)
    assert found.var() == pytest.approx(1.0, abs=0.03)
    assert abs(found.mean()) < 0.03


def test_orthogonal_directions_have_a_smaller_error():
    exact = kernels.RBF(gamma=0.1).fit(X)(X)

    def error(orthogonal):
        return np.mean(
            [
                np.square(
                    kernels.RandomFourierFeatures(0.1, size=40, random_state=seed, orthogonal=orthogonal).fit(X)(X)
                    - exact
                ).mean()
                for seed in range(60)
            ]
        )

    assert error(True) < 0.9 * error(False)


def test_refusals_name_the_class_and_the_parameter():
    with pytest.raises(ParameterError, match="The 'length_scale' parameter of MaternFeatures"):
        kernels.MaternFeatures(length_scale=-1.0)
    with pytest.raises(ParameterError, match="The 'nu' parameter of MaternFeatures"):
        kernels.MaternFeatures(nu=-1.0)


def test_refusals():
    for refused in (
        lambda: kernels.MaternFeatures(nu=0.0),
        lambda: kernels.MaternFeatures(nu=float("inf")),
        lambda: kernels.MaternFeatures(length_scale=-1.0),
        lambda: kernels.MaternFeatures(length_scale=0.0),
        lambda: kernels.MaternFeatures(length_scale=float("inf")),
        lambda: kernels.ArcCosineFeatures(order=-1),
        lambda: kernels.ArcCosineFeatures(orthogonal="yes"),
        lambda: kernels.LaplacianFeatures(gamma=0.0),
        lambda: kernels.RandomFourierFeatures(orthogonal=1.5),
    ):
        with pytest.raises(ParameterError):
            refused()
