"""
One outlier against a hard margin
=================================

A hard margin obeys every object. One mislabelled point near the border turns the line and leaves almost no margin. A
soft margin pays for that point once, and keeps the line that the other objects agree on.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.plots import MarginDisplay

random = np.random.default_rng(7)
X = np.vstack([0.7 * random.normal(size=(20, 2)) - 1.6, 0.7 * random.normal(size=(20, 2)) + 1.6])
y = np.repeat([0, 1], 20)
X, y = np.vstack([X, [[-0.3, -0.2]]]), np.append(y, 1)  # the outlier

figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.6), sharex=True, sharey=True)
for ax, (name, C) in zip(axes, {"hard margin": float("inf"), "soft margin, C = 0.5": 0.5}.items(), strict=True):
    model = SVC(kernel="linear", C=C).fit(X, y)
    MarginDisplay.from_estimator(model, X, y, ax=ax)
    ax.set(title=f"{name}: margins {2 / np.linalg.norm(model.coef_):.2f} apart", xlabel="x₁", ylabel="x₂")
    ax.annotate("outlier", X[-1], xytext=(0.9, -1.9), arrowprops={"arrowstyle": "->"})
axes[0].get_legend().remove()
legend = axes[1].get_legend()
legend.set_loc("upper left")
legend.set_bbox_to_anchor((1.02, 1))
