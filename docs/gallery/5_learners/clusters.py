"""
Clusters that are not round
===========================

k-means cuts rings and moons in half, because it looks for round clusters. Kernel k-means looks for them in the
feature space of a kernel, and spectral clustering cuts the graph of similarities where it is thinnest. Which of them
finds what you see?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

from mercer import KernelKMeans, SpectralClustering, kernels
from mercer.plots.style import scatter

random = np.random.default_rng(0)
blobs = np.vstack([0.4 * random.normal(size=(100, 2)) + place for place in ([0, 0], [2.5, 0.5], [1, 2.5])])
data = {
    "rings": (make_circles(300, factor=0.4, noise=0.06, random_state=0)[0], 2, 12.0),
    "moons": (make_moons(300, noise=0.06, random_state=0)[0], 2, 12.0),
    "blobs": (blobs, 3, 1.0),
}
figure, axes = plt.subplots(3, 3, figsize=(10, 9.2))
for row, (name, (X, count, gamma)) in zip(axes, data.items(), strict=True):
    kernel = kernels.RBF(gamma)
    found = {
        "k-means": KMeans(count, n_init=10, random_state=0).fit(X).labels_,
        "kernel k-means": KernelKMeans(count, kernel=kernel, random_state=0).fit(X).labels_,
        "spectral clustering": SpectralClustering(count, kernel=kernel, random_state=0).fit(X).labels_,
    }
    for ax, (method, labels) in zip(row, found.items(), strict=True):
        scatter(ax, X, labels, s=20)
        ax.set(title=method, xticks=[], yticks=[], xlabel="x₁", ylabel=f"{name}: x₂")

# %%
# Spectral clustering follows long and thin clusters from neighbour to neighbour. Kernel k-means does not: with a
# narrow Gaussian, the ends of a moon have nothing in common with its mean.
