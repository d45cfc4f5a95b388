"""Widths read off distances; the distances themselves are tried with the kernels made of them."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from mercer import kernels


@pytest.mark.parametrize("n", [2, 3, 40, 1500])
def test_the_scale_of_city_blocks_is_half_the_mean_over_all_pairs(n):
    X = np.random.default_rng(n).normal(size=(n, 3)) * [1.0, 10.0, 0.1] + 5.0
    sample = X[:: -(-n // 1000)]
    assert kernels.Laplacian().fit(X).state.values["gamma"] == pytest.approx(2 / pdist(sample, "cityblock").mean())
