"""
Digits on a map
===============

Kernel principal components lay 1,797 handwritten digits out in a plane. Nobody told the machine what the digits are;
the numerals were added afterwards.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from mercer import SVC, KernelPCA, kernels
from mercer.datasets import load
from mercer.plots.style import COLOURS

X, y = load("digits")
places = np.asarray(KernelPCA(2, kernel=kernels.RBF(gamma=0.0012)).fit_transform(X))

figure, ax = plt.subplots(figsize=(9, 7))
for digit in range(10):
    own = places[y == digit]
    ax.scatter(*own.T, s=16, alpha=0.6, color=COLOURS[digit % 8], marker=f"${digit}$", linewidth=0)
    look = {"fontsize": 22, "weight": "bold", "color": COLOURS[digit % 8], "ha": "center", "va": "center"}
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.75, "edgecolor": "none"}
    ax.text(*np.median(own, axis=0), str(digit), bbox=box, **look)
drawn = [places[0]]
for place, image in zip(places, X, strict=True):
    if min(np.abs(place - other).max() for other in drawn) > 0.09:
        drawn.append(place)
        ax.add_artist(AnnotationBbox(OffsetImage(-image.reshape(8, 8), cmap="gray", zoom=1.6), place, frameon=False))
ax.set(xlabel="first component", ylabel="second component", title="1,797 handwritten digits, without their labels")

# %%
# Two directions are few. How well does a classifier do on the first k?

sizes = [2, 4, 8, 16, 32]
scores = []
for size in sizes:
    pca = KernelPCA(size, kernel=kernels.RBF(gamma=0.0012)).fit(X[:1200])
    scores.append(
        SVC(gamma="scale", C=10).fit(pca.transform(X[:1200]), y[:1200]).score(pca.transform(X[1200:]), y[1200:])
    )
figure, ax = plt.subplots(figsize=(6, 3.4))
ax.semilogx(sizes, scores, marker="o", base=2)
ax.set(xlabel="components", ylabel="accuracy on 597 digits", xticks=sizes, xticklabels=sizes)
