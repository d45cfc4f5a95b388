"""
Bands instead of a line
=======================

A mean hides how much is uncertain, and here that changes: the noise grows with x. Quantile regression draws the lines
below which a tenth, a half and nine tenths of the values lie. They are learnt together and never cross.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelQuantileRegressor, kernels

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 6, 300))
y = np.sin(x) + (0.1 + 0.15 * x) * random.normal(size=300)
levels = [0.1, 0.5, 0.9]
model = KernelQuantileRegressor(levels, kernel=kernels.RBF(gamma=0.3), C=1.0).fit(x[:, None], y)
grid = np.linspace(0, 6, 200)
low, middle, high = model.predict(grid[:, None]).T

figure, ax = plt.subplots(figsize=(8, 4.4))
ax.plot(x, y, ".", color="#555555", markersize=4, label="data")
ax.fill_between(grid, low, high, color="#E69F00", alpha=0.3, label="eight of ten values")
for line, level, dash in zip((low, middle, high), levels, ("--", "-", "-."), strict=True):
    ax.plot(grid, line, dash, color="#0072B2", linewidth=2, label=f"{level:.0%} quantile")
ax.set(xlabel="x", ylabel="y", title="Quantiles of noise that grows")
ax.legend(loc="lower left")

# %%
# Does the band keep its word? On 5,000 new objects:

new = random.uniform(0, 6, 5000)
fresh = np.sin(new) + (0.1 + 0.15 * new) * random.normal(size=5000)
for level, column in zip(levels, model.predict(new[:, None]).T, strict=True):
    print(f"{level:.0%} asked for, {np.mean(fresh < column):.1%} below")
