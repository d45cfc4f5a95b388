"""
Slack, and the hinge that measures it
=====================================

When no line separates the classes, each object may buy its way past its margin with a slack ζ. At the optimum it buys
no more than it needs: ζ = max(0, 1 - y f(x)), the hinge loss. On the left, dotted lines show the slack in the plane;
on the right, the same objects sit on the hinge.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.losses.hinge import Hinge
from mercer.plots import MarginDisplay

random = np.random.default_rng(5)
X = np.vstack([random.normal(size=(18, 2)) - 0.9, random.normal(size=(18, 2)) + 0.9])
y = np.repeat([-1, 1], 18)
model = SVC(kernel="linear", C=1.0).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
shown = MarginDisplay.from_estimator(model, X, y, ax=left)
left.set(xlabel="x₁", ylabel="x₂")

f = model.decision_function(X)
grid = np.linspace(-2.5, 4, 200)
right.plot(grid, Hinge().value(np.ones_like(grid), grid), color="black", linewidth=2, label="max(0, 1 - y f(x))")
for label, marker in ((-1, "o"), (1, "s")):
    own = y == label
    right.scatter(y[own] * f[own], shown.slack[own], marker=marker, edgecolor="black", zorder=3, label=f"class {label}")
right.axvline(0, color="gray", linestyle=":", linewidth=1)
right.text(-0.06, 3.2, "wrong side", ha="right", color="#555555")
right.set(xlabel="y f(x): how far on the right side", ylabel="slack ζ", title="Every object sits on the hinge")
right.legend()

# %%
# The objective is the length of w plus C times the sum of slacks, and the certificate repeats it.

w = model.coef_[0]
print(f"|w|²/2 + C Σ ζ = {w @ w / 2 + shown.slack.sum():.4f}; the certificate says {model.certificate_.primal:.4f}")
