"""
Is this like anything seen before?
==================================

A one-class machine draws a border around what is normal. ``nu`` says which share of the training objects may lie
outside. New objects get a score: the further below zero, the stranger.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import OneClassSVM
from mercer.plots.style import DIVERGING

random = np.random.default_rng(0)
normal = np.vstack([0.5 * random.normal(size=(100, 2)) + [-1.5, 0], 0.4 * random.normal(size=(100, 2)) + [1.5, 1]])
strange = random.uniform(-4, 4, size=(25, 2))
xx, yy = np.meshgrid(np.linspace(-4.2, 4.2, 120), np.linspace(-4.2, 4.2, 120))
places = np.column_stack([xx.ravel(), yy.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(11.5, 5), sharex=True, sharey=True)
for ax, nu in zip(axes, (0.02, 0.2), strict=True):
    model = OneClassSVM(nu=nu, gamma=0.7).fit(normal)
    values = model.decision_function(places).reshape(xx.shape)
    limit = np.abs(values).max()
    ax.contourf(xx, yy, values, levels=np.linspace(-limit, limit, 15), cmap=DIVERGING, alpha=0.7)
    ax.contour(xx, yy, values, levels=[0], colors="black", linewidths=2)
    ax.plot(*normal.T, "o", color="#0072B2", markeredgecolor="black", markersize=4, label="training objects")
    ax.plot(*strange.T, "X", color="#E69F00", markeredgecolor="black", markersize=7, label="new objects, anywhere")
    outside = np.mean(model.predict(normal) == -1)
    ax.set(title=f"nu = {nu}: {outside:.0%} of the training objects outside", xlabel="x₁", ylabel="x₂")
axes[1].legend(loc="lower right")
