"""
How many directions count?
==========================

The eigenvalues of a centred Gram matrix say how many directions of feature space the objects really use. A wide
Gaussian needs a handful, a narrow one as many as there are objects. Few directions mean little to overfit, and good
prospects for landmarks.
"""

import matplotlib.pyplot as plt

from mercer import kernels
from mercer.datasets import load
from mercer.plots import EigenvalueDisplay

X, y = load("digits")
X = X[:300] / 16
figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), sharey=True)
for ax, gamma in zip(axes, (0.005, 0.05, 0.5), strict=True):
    EigenvalueDisplay.from_kernel(kernels.RBF(gamma), X, centre=True, ax=ax)
    ax.set_title(f"gamma = {gamma:g}")
