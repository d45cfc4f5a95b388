"""Kernels by scikit-learn's names give what scikit-learn's estimators give."""

import numpy as np
import pytest
from sklearn import decomposition, kernel_ridge

from mercer import KernelPCA, KernelRidge

X = np.random.default_rng(0).random((30, 3))
Y = X @ [1.0, -2.0, 0.5] + X[:, 0] ** 2


@pytest.mark.parametrize("name", ["linear", "poly", "polynomial", "rbf", "laplacian", "chi2", "cosine", "sigmoid"])
def test_ridge(name):
    gamma = 1.0 if name == "chi2" else None  # what None stands for here; scikit-learn fails on it
    theirs = kernel_ridge.KernelRidge(kernel=name, gamma=gamma).fit(X, Y).predict(X)
    ours = KernelRidge(kernel=name, psd="ignore").fit(X, Y).predict(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "cosine"])
def test_components(name):
    theirs = decomposition.KernelPCA(2, kernel=name).fit_transform(X)
    np.testing.assert_allclose(np.abs(KernelPCA(2, kernel=name).fit_transform(X)), np.abs(theirs), atol=1e-6)
