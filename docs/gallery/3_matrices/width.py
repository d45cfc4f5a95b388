"""
Too wide, too narrow, and just right
====================================

The width of a Gaussian decides how far an object's influence reaches. Too wide, and the machine cannot bend; too
narrow, and it learns every object by heart, islands included. The score on new objects tells, the score on the
training objects does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVC
from mercer.plots import MarginDisplay

X, y = make_moons(120, noise=0.25, random_state=1)
new, truth = make_moons(3000, noise=0.25, random_state=2)

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), sharex=True, sharey=True)
for ax, gamma in zip(axes, (0.02, 2.0, 200.0), strict=True):
    MarginDisplay.from_estimator(SVC(gamma=gamma, C=10).fit(X, y), X, y, ax=ax)
    ax.set(title=f"gamma = {gamma:g}", xlabel="x₁", ylabel="x₂")
    ax.get_legend().remove()

# %%
# The same over many widths: training accuracy climbs to the end, accuracy on new objects has a summit.

widths = np.logspace(-2, 3, 26)
machines = [SVC(gamma=gamma, C=10).fit(X, y) for gamma in widths]
figure, ax = plt.subplots(figsize=(7, 4.2))
ax.semilogx(widths, [machine.score(X, y) for machine in machines], "--", label="training objects")
ax.semilogx(widths, [machine.score(new, truth) for machine in machines], "-", label="3,000 new objects")
ax.set(xlabel="gamma", ylabel="accuracy", title="Learning by heart is not learning")
ax.legend()
