"""
A layer of neurons, or a kernel
===============================

A neural network computes its features, one neuron each, and learns them together with the weights. A kernel machine
chooses its features with the kernel, never computes them, and learns the weights alone. Between the two lies a layer of
random neurons: with many of them, their dot products approach the arc-cosine kernel.

What the network learns depends on its start, so here it is the best of ten. The other three have one optimum each.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from mercer import SVC, kernels

X, y = make_moons(150, noise=0.18, random_state=0)
new, truth = make_moons(2000, noise=0.18, random_state=1)


def with_constant(X):
    """One more input that is always 1, so that neurons have thresholds."""
    return np.column_stack([X, np.ones(len(X))])


def neurons(size):
    return kernels.pull_back(kernels.ArcCosineFeatures(size=size), with_constant)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    networks = [
        MLPClassifier((8,), solver="lbfgs", alpha=0.1, max_iter=1000, random_state=seed).fit(X, y) for seed in range(10)
    ]
machines = {
    "network, 8 learnt neurons": min(networks, key=lambda network: network.loss_),
    "8 random neurons": SVC(kernel=neurons(8), C=100),
    "2,000 random neurons": SVC(kernel=neurons(2000), C=100),
    "Gaussian kernel": SVC(kernel=kernels.RBF(gamma=1.0), C=10),
}
grid = np.stack(np.meshgrid(np.linspace(-1.8, 2.8, 120), np.linspace(-1.4, 1.9, 120)), axis=-1)
figure, axes = plt.subplots(1, 4, figsize=(14, 3.6), sharey=True)
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    if isinstance(machine, SVC):
        machine.fit(X, y)
    values = machine.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(*grid.transpose(2, 0, 1), values, levels=[-0.5, 0.5, 1.5], colors=["#CFE3F1", "#FBEBD0"])
    for label, marker in ((0, "o"), (1, "s")):
        ax.scatter(*X[y == label].T, marker=marker, edgecolor="black", s=14)
    ax.set(xlabel="x₁", title=f"{name}: {machine.score(new, truth):.0%} right")
axes[0].set_ylabel("x₂")
