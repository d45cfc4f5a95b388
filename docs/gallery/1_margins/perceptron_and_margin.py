"""
Some line, and the best line
============================

A perceptron stops at the first line that makes no mistake, so the line it finds depends on the order in which it
meets the objects. The maximum-margin line depends on nothing of the kind: it is as far from the nearest objects as a
line can be.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, PrimalPerceptron
from mercer.theory.margins import margin

random = np.random.default_rng(4)
X = np.vstack([random.normal(size=(25, 2)) - 1.8, random.normal(size=(25, 2)) + 1.8])
y = np.repeat([-1, 1], 25)

best = SVC(kernel="linear", C=float("inf")).fit(X, y)
orders = [random.permutation(len(y)) for _ in range(8)]
perceptrons = [PrimalPerceptron(epochs=200).fit(X[order], y[order]) for order in orders]
assert all(machine.converged_ for machine in perceptrons)

# %%
# Eight perceptrons saw the same fifty objects in eight orders. Each separates the classes, some of them by a hair.

figure, ax = plt.subplots(figsize=(6.4, 5))
ends = np.array([-5.0, 5.0])


def line(machine):
    (w1, w2), b = machine.coef_[0], machine.intercept_[0]
    return -(w1 * ends + b) / w2


for number, machine in enumerate(perceptrons):
    ax.plot(ends, line(machine), color="tab:gray", linewidth=1, linestyle="--", label="" if number else "perceptrons")
ax.plot(ends, line(best), color="black", linewidth=2.5, label="maximum margin")
for label, marker, colour in ((-1, "o", "#0072B2"), (1, "s", "#E69F00")):
    ax.scatter(*X[y == label].T, marker=marker, color=colour, edgecolor="black", zorder=3, label=f"class {label}")
ax.scatter(
    *best.support_vectors_.T,
    s=140,
    facecolor="none",
    edgecolor="black",
    linewidth=1.5,
    label="support vectors",
    zorder=4,
)
ax.set(
    xlim=(-5, 5),
    ylim=(-5, 5),
    xlabel="x₁",
    ylabel="x₂",
    title="Every line here is right about every object",
    aspect="equal",
)
ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1))

# %%
# The geometric margin of a line is its distance from the nearest object.

for name, machine in [
    ("maximum margin", best),
    *((f"perceptron {number}", m) for number, m in enumerate(perceptrons, 1)),
]:
    print(f"{name:15} {margin(machine.coef_[0], machine.intercept_[0], X, y):.3f}")
