"""
How far is a point from a line?
===============================

The functional margin y (w·x + b) grows when w and b are scaled; the geometric margin divides it by the length of w, and
is the distance in the plane. That leaves the scale of w free, so it is chosen: in canonical form the nearest points
have w·x + b = ±1, and lie one over the length of w from the line.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.theory.margins import canonical, distances, functional_margins, geometric_margins

# %%
# The lecture's two examples. On the left, w = (1, 1) and b = -1; on the right, w = (1, 2) and b = 0.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4))
for ax, w, b in ((axes[0], np.array([1.0, 1.0]), -1.0), (axes[1], np.array([1.0, 2.0]), 0.0)):
    point = np.array([1.0, 1.0])
    foot = point - (w @ point + b) / (w @ w) * w
    line = np.array([-1.5, 2.0])
    ax.plot(line, -(w[0] * line + b) / w[1], color="black", linewidth=2, label="w·x + b = 0")
    ax.annotate("", foot + w / np.linalg.norm(w), foot, arrowprops={"arrowstyle": "->", "color": "#D55E00"})
    ax.text(*(foot + w / np.linalg.norm(w) + [0.0, -0.22]), "w / |w|", color="#D55E00")
    ax.plot(*np.transpose([point, foot]), "--", color="#0072B2", label="distance")
    ax.plot(*point, "o", color="#0072B2", markersize=9)
    ax.text(0.6, 1.05, "(1, 1)")
    ax.set(
        xlabel="x₁", ylabel="x₂", xlim=(-1, 2), ylim=(-0.8, 1.9), aspect="equal",
        title=f"w = ({w[0]:g}, {w[1]:g}), b = {b:g}: distance {distances(w, b, [point])[0]:.2f}",
    )  # fmt: skip
    ax.legend(loc="lower left")
plt.show()
print("functional margin", functional_margins([1, 1], -1, [[1, 1]], [1])[0])
print("geometric margin ", geometric_margins([1, 1], -1, [[1, 1]], [1])[0].round(4), "= 1/√2")

# %%
# Three times the same line: scaling w and b together moves the dashed lines f = ±c, not the line f = 0. In canonical
# form they pass through the nearest points.

random = np.random.default_rng(2)
X = np.vstack([random.normal(scale=0.6, size=(15, 2)) - 1.5, random.normal(scale=0.6, size=(15, 2)) + 1.5])
y = np.repeat([-1, 1], 15)
w, b = canonical([1.0, 1.0], 0.0, X)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True)
for ax, scale in zip(axes, (0.5, 1.0, 3.0), strict=True):
    for label, marker in ((-1, "o"), (1, "s")):
        ax.scatter(*X[y == label].T, marker=marker, edgecolor="black", label=f"class {label}")
    ends = np.array([-3.5, 3.5])
    for level, dash in ((-1, "--"), (0, "-"), (1, "--")):
        ax.plot(ends, (level - scale * b - scale * w[0] * ends) / (scale * w[1]), dash, color="black")
    name = "canonical" if scale == 1 else f"{scale:g} times that"
    ax.set(
        xlabel="x₁", xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), title=f"{name}: f = ±1 at {1 / np.linalg.norm(scale * w):.2f}"
    )
axes[0].set_ylabel("x₂")
axes[0].legend(loc="upper left")
