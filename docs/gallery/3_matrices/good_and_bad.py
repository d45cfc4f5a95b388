"""
Good and bad Gram matrices
==========================

A Gram matrix shows at a glance what a kernel sees. In a good one, objects of one class resemble each other: there are
blocks. In a bad one every object resembles itself alone: there is a diagonal and nothing to learn from. The lecture's
two matrices of five objects come first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from mercer import diagnose, kernels
from mercer.plots import KernelMatrixDisplay

good = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]], dtype=float)
labels = [1, 1, 2, 2, 2]
figure, axes = plt.subplots(1, 2, figsize=(10, 4))
for ax, (name, matrix) in zip(axes, {"good": good, "bad": np.eye(5)}.items(), strict=True):
    KernelMatrixDisplay.from_matrix(matrix, labels, ax=ax)
    ax.set_title(f"{name}: diagnosed as {diagnose(matrix, y=labels).verdict}", pad=14)

# %%
# The same on real flowers. A Gaussian that is far too narrow turns the iris data into the bad matrix, one that is far
# too wide makes all flowers look the same.

X, y = load_iris(return_X_y=True)
figure, axes = plt.subplots(1, 3, figsize=(13, 4))
for ax, gamma in zip(axes, (1e-4, 0.5, 100.0), strict=True):
    KernelMatrixDisplay.from_kernel(kernels.RBF(gamma), X, y, ax=ax)
    ax.set_title(f"gamma = {gamma:g}: {diagnose(kernels.RBF(gamma), X, y).verdict}", pad=14)

# %%
# :py:func:`~mercer.diagnose` puts it in words, and says what to try next.

print(diagnose(kernels.RBF(gamma=100.0), X, y))
