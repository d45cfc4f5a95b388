"""
A chess board, cell by cell
===========================

A rugged function has no few directions that would carry it, and landmarks fail. :py:class:`~mercer.Cells` divides the
objects among centres and trains an exact machine in each cell: many small problems instead of a large one.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, Cells, kernels

random = np.random.default_rng(0)
X = random.uniform(size=(20_000, 2))
y = np.floor(12 * X).astype(int).sum(axis=1) % 2
train, test = slice(0, 15_000), slice(15_000, None)
machines = {
    "200 landmarks": SVC(kernel=kernels.Nystrom(kernels.RBF(gamma=100.0), m=200), C=100),
    "cells of 1,000": Cells(SVC(C=100, gamma=100.0), size=1000, random_state=0),
}
xx, yy = np.meshgrid(np.linspace(0, 1, 220), np.linspace(0, 1, 220))
figure, axes = plt.subplots(1, 2, figsize=(10.5, 5), sharex=True, sharey=True)
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    began = time.perf_counter()
    machine.fit(X[train], y[train])
    seconds = time.perf_counter() - began
    seen = machine.predict(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
    ax.imshow(seen, origin="lower", extent=(0, 1, 0, 1))
    ax.set(xlabel="x₁", ylabel="x₂", title=f"{name}: {machine.score(X[test], y[test]):.1%} right, {seconds:.1f} s")
