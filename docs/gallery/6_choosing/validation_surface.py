"""
The landscape of C and gamma
============================

Two numbers decide how a Gaussian machine behaves, and they trade against each other: good settings lie along a ridge.
The search computes distances once and reuses them for every width, every penalty and every fold.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from mercer.datasets import load
from mercer.plots import ValidationSurfaceDisplay

X, y = load("breast_cancer")
X = StandardScaler().fit_transform(X)
ValidationSurfaceDisplay.from_data(X, y, C=10.0 ** np.arange(-2, 5), gamma=10.0 ** np.arange(-5, 1.0))
plt.show()
