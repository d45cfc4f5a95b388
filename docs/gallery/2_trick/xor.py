"""
Exclusive or, lifted
====================

No line separates the corners of a square when opposite corners share a class. Measure instead how close each corner
is to (1, 1) and to (0, 0), and one line is enough. A kernel machine does this with every training object as a centre.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.plots import FeatureSpaceDisplay, MarginDisplay

FeatureSpaceDisplay.from_lift("xor")
plt.show()

# %%
# Seen from the plane, the line becomes a curve. The polynomial kernel of degree 2 knows the product x₁x₂, which is
# all it takes; a Gaussian draws islands around the corners.

corners, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), [0, 1, 1, 0]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), sharex=True, sharey=True)
for ax, kernel in zip(axes, (kernels.Polynomial(degree=2), kernels.RBF(gamma=2.0)), strict=True):
    MarginDisplay.from_estimator(SVC(kernel=kernel, C=1e4).fit(corners, labels), corners, labels, ax=ax)
    ax.set(title=str(kernel), xlabel="x₁", ylabel="x₂")
axes[0].get_legend().remove()
legend = axes[1].get_legend()
legend.set_loc("upper left")
legend.set_bbox_to_anchor((1.02, 1))
