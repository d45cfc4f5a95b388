"""
Descent on the coefficients of a kernel machine
===============================================

With w = Σ zᵢ φ(xᵢ), gradient descent can run on z. The slide's update, z ← z - ∇E, has no step size: as soon as the
Gram matrix has an eigenvalue above 2 it climbs instead of descending. A fixed small η descends slowly, a line search
quickly, and Newton's method needs a handful of steps.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from mercer import GradientKernelMachine, KernelMachineClassifier, kernels
from mercer.plots import TraceDisplay

random = np.random.default_rng(0)
X = random.normal(size=(60, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=60) > 0, 1, -1)
kernel = kernels.RBF(gamma=0.5)

settings = {"objective": "svm", "C": 5.0, "kernel": kernel}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns that it diverged, which is the point
    printed = GradientKernelMachine(variant="printed", steps=20, **settings).fit(X, y)
constant = GradientKernelMachine(variant="constant", learning_rate=0.002, steps=300, **settings).fit(X, y)
searched = GradientKernelMachine(steps=300, **settings).fit(X, y)
exact = KernelMachineClassifier("smooth_hinge", C=5.0, kernel=kernel, tol=1e-8).fit(X, y)

shown = TraceDisplay.from_estimator(
    printed, constant, searched, names=["as printed: no step size", "η = 0.002", "line search"]
)
shown.ax_.axhline(
    exact.certificate_.primal, color="black", linewidth=1, label=f"exact: {exact.certificate_.primal:.4g}"
)
shown.ax_.set(xlim=(0, 100), ylim=(150, 3000), title="The smooth kernel SVM, by gradient descent")
shown.ax_.legend()
plt.show()
