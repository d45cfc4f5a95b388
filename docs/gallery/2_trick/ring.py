"""
A ring becomes a bowl
=====================

Inside or outside a circle? Give each point its squared distance from the origin as a third coordinate: the plane
turns into a bowl, and a flat cut separates the bottom from the rim.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.plots import FeatureSpaceDisplay, MarginDisplay

random = np.random.default_rng(0)
X = random.uniform(-2, 2, size=(150, 2))
radius = np.linalg.norm(X, axis=1)
keep = (np.abs(radius - 1.2) > 0.12) & (radius < 2)
X, y = X[keep], np.where(radius[keep] > 1.2, "outside", "inside")

FeatureSpaceDisplay.from_lift("paraboloid", X, y)
plt.show()

# %%
# You need not write the coordinate down. Any kernel whose features contain it will do, such as (1 + x·z)².

shown = MarginDisplay.from_estimator(SVC(kernel=kernels.Polynomial(degree=2), C=100).fit(X, y), X, y)
shown.ax_.set(xlabel="x₁", ylabel="x₂", aspect="equal")
legend = shown.ax_.get_legend()
legend.set_loc("upper left")
legend.set_bbox_to_anchor((1.02, 1))
