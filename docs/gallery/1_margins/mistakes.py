"""
How many mistakes can a perceptron make?
========================================

At most (R / γ)², says Novikoff, where R is the length of the longest object and γ the margin of some line through the
origin. There is no n in that: ten times the data may not cost a single mistake more. Here the data stay at least γ
away from a plane, and γ varies.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import PrimalPerceptron
from mercer.theory.bounds import novikoff_bound

random = np.random.default_rng(0)
direction = np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)
gaps = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])


def mistakes(gap, n):
    X = random.normal(size=(20 * n, 3))
    X = X[np.abs(X @ direction) > gap][:n]
    machine = PrimalPerceptron(fit_intercept=False, epochs=10_000).fit(X, np.sign(X @ direction))
    return machine.trace_.values.sum(), novikoff_bound(np.linalg.norm(X, axis=1).max(), gap)


figure, ax = plt.subplots(figsize=(7, 4.4))
for n, marker in ((100, "o"), (1000, "s")):
    counted, bounds = np.transpose([mistakes(gap, n) for gap in gaps])
    (drawn,) = ax.loglog(gaps, counted, marker=marker, label=f"made, {n:,} objects")
    ax.loglog(gaps, bounds, "--", color=drawn.get_color(), label=f"possible, {n:,} objects")
ax.set_xticks(gaps, [f"{gap:g}" for gap in gaps])
ax.minorticks_off()
ax.set(xlabel="margin γ", ylabel="mistakes until every object is right", title="Fewer mistakes than Novikoff allows")
ax.legend()
