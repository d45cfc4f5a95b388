"""
What C does
===========

C is the price of slack. When it is low, the machine prefers a wide margin and lets objects lie inside it; when it is
high, it bends towards every single object. Support vectors (circled) are the objects on or inside the margin: the
cheaper the slack, the more there are.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.plots import MarginDisplay

random = np.random.default_rng(1)
X = np.vstack([random.normal(size=(30, 2)) - 1.1, random.normal(size=(30, 2)) + 1.1])
y = np.repeat([0, 1], 30)

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
for ax, C in zip(axes, (0.01, 0.3, 100.0), strict=True):
    model = SVC(kernel="linear", C=C).fit(X, y)
    MarginDisplay.from_estimator(model, X, y, ax=ax)
    width = 2 / np.linalg.norm(model.coef_)
    ax.set_title(f"C = {C:g}: {len(model.support_)} support vectors, margins {width:.2f} apart")
    ax.get_legend().remove()
    ax.set(xlabel="x₁", ylabel="x₂" if ax is axes[0] else "")

# %%
# With a Gaussian kernel the same price buys curves. Dotted lines join each object to the margin that it violates:
# they are the slack that C pays for.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
for ax, C in zip(axes, (0.1, 1.0, 100.0), strict=True):
    model = SVC(kernel="rbf", gamma=0.5, C=C).fit(X, y)
    MarginDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(
        f"C = {C:g}: {len(model.support_)} support vectors, {np.mean(model.predict(X) == y):.0%} right in training"
    )
    ax.get_legend().remove()
    ax.set(xlabel="x₁", ylabel="x₂" if ax is axes[0] else "")
