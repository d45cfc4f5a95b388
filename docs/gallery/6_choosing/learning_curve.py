"""
How much do more data help?
===========================

A learning curve shows the score against the number of training objects. A rigid kernel is soon at its best; a
flexible one starts no higher and keeps learning. Where the curve is still rising, collect more data; where it
is flat, change the kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.datasets import load

X, y = load("digits")
random = np.random.default_rng(0)
sizes = [30, 60, 120, 250, 500, 1000]
chosen = {
    "linear": kernels.Linear(),
    "polynomial, degree 3": kernels.Polynomial(degree=3, gamma=0.001),
    "Gaussian": kernels.RBF(gamma=0.001),
    "Gaussian, too narrow": kernels.RBF(gamma=0.01),
}
figure, ax = plt.subplots(figsize=(7.5, 4.6))
for (name, kernel), marker in zip(chosen.items(), "os^D", strict=True):
    means, spreads = [], []
    for size in sizes:
        scores = []
        for _ in range(8):
            order = random.permutation(len(y))
            train, test = order[:size], order[-600:]
            scores.append(SVC(kernel=kernel, C=10).fit(X[train], y[train]).score(X[test], y[test]))
        means.append(np.mean(scores))
        spreads.append(np.std(scores))
    ax.errorbar(sizes, means, spreads, marker=marker, capsize=3, label=name)
ax.set(
    xscale="log",
    xlabel="training objects",
    ylabel="accuracy on 600 others",
    title="Handwritten digits",
    xticks=sizes,
    xticklabels=sizes,
)
ax.minorticks_off()
ax.legend(loc="lower right")
