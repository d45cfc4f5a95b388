"""
Is it a kernel?
===============

Not every similarity is a kernel: some Gram matrix of it may have a negative eigenvalue, which no dot product has. One
such matrix refutes the function; no number of others proves it. :py:func:`~mercer.certify_kernel` looks for a
counterexample and shrinks it.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import certify_kernel, kernels
from mercer.plots import EigenvalueDisplay

sigmoid = kernels.Sigmoid(gamma=1.0, coef0=-1.0)
X = np.random.default_rng(0).normal(size=(60, 2))
found = certify_kernel(sigmoid, X)
print(found)

# %%
# On sixty objects, several eigenvalues of tanh(x·z - 1) are negative. (Those of the Gaussian are all positive.)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4))
for ax, kernel in zip(axes, (kernels.RBF(gamma=1.0), sigmoid), strict=True):
    EigenvalueDisplay.from_kernel(kernel, X, ax=ax)
    ax.set_title(str(kernel))

# %%
# The matrix of ``-|x - z|`` also fails, although it looks like a fine similarity. Here are the objects that refute
# it, drawn as points on a line, and their Gram matrix.

distance = kernels.FromFunction(lambda x, z: -abs(x[0] - z[0]))
refuted = certify_kernel(distance, np.linspace(0, 3, 13)[:, None])
points = np.ravel(refuted.objects)
matrix = 0.0 - np.abs(np.subtract.outer(points, points))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
left.scatter(points, np.zeros_like(points), s=80)
left.axhline(0, color="gray", linewidth=0.8, zorder=0)
left.set(yticks=[], xlabel="x", xlim=(-0.5, 3.5), title=f"{len(points)} objects refute k(x, z) = -|x - z|")
right.imshow(matrix)
for (i, j), value in np.ndenumerate(matrix):
    right.text(j, i, f"{value:.2g}", ha="center", va="center", color="black" if value > matrix.mean() else "white")
right.set(xticks=[], yticks=[], xlabel="objects", title=f"smallest eigenvalue {np.linalg.eigvalsh(matrix).min():.2f}")
