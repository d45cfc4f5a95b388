"""
Downhill, in four ways
======================

Gradient descent is easy to write and easy to get wrong. Here are four runs on one soft-margin problem: what the slide
prints, what it means, what a smaller constant step does, and steps that shrink. Heights are relative to the optimum,
which :py:class:`~mercer.SVC` finds with a certificate. A constant step stops getting closer once the kink of the
hinge is all that is left.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, SubgradientSVM

random = np.random.default_rng(0)
X = random.normal(size=(80, 2))
y = np.where(X @ [1.0, 2.0] + 0.5 + 0.7 * random.normal(size=80) > 0, 1, -1)
optimum = 2 * SVC(kernel="linear", C=0.5, tol=1e-8).fit(X, y).certificate_.primal

runs = {
    "as printed: the indicator in front of the sum": {"variant": "printed", "learning_rate": 0.02},
    "an indicator for each object, constant η = 0.02": {"variant": "constant", "learning_rate": 0.02},
    "the same with η = 0.002": {"variant": "constant", "learning_rate": 0.002},
    "steps that shrink like 1/√t": {},
}
figure, ax = plt.subplots(figsize=(8, 4.8))
for (name, settings), dash in zip(runs.items(), ("-", "--", "-.", ":"), strict=True):
    trace = SubgradientSVM(method="batch", C=1.0, steps=400, **settings).fit(X, y).trace_
    above = np.minimum.accumulate(trace.values) if not settings else trace.values  # the last keeps the best point met
    ax.loglog(trace.steps[1:], above[1:] / optimum - 1, dash, linewidth=1.8, label=name)
ax.set(xlabel="step", ylabel="how far above the optimum, as a share of it", ylim=(1e-5, 1e3))
ax.set_title(f"Subgradient descent towards |w|² + C Σ hinge = {optimum:.2f}")
ax.legend()
