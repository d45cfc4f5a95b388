"""
A prediction that knows when it does not know
=============================================

Kernel ridge regression is the mean of a Gaussian process. Asked for ``return_std=True`` it also gives the standard
deviation: small where there are data, growing where there are none.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, kernels

random = np.random.default_rng(2)
x = np.sort(np.concatenate([random.uniform(-4, -1, 18), random.uniform(1.5, 3.5, 14)]))
y = np.sin(1.5 * x) + 0.3 * x + 0.15 * random.normal(size=len(x))
grid = np.linspace(-5.5, 5.5, 300)

model = KernelRidge(kernel=kernels.RBF(gamma=0.6), alpha=0.03).fit(x[:, None], y)
mean, deviation = model.predict(grid[:, None], return_std=True)

figure, ax = plt.subplots(figsize=(8, 4.2))
ax.fill_between(
    grid, mean - 2 * deviation, mean + 2 * deviation, color="#56B4E9", alpha=0.35, label="mean ± 2 deviations"
)
ax.plot(grid, mean, color="#0072B2", linewidth=2, label="mean")
ax.plot(grid, np.sin(1.5 * grid) + 0.3 * grid, "--", color="black", linewidth=1, label="truth")
ax.plot(x, y, "o", color="#E69F00", markeredgecolor="black", label="data")
ax.set(xlabel="x", ylabel="y", title="Uncertain where nothing was seen")
ax.legend(loc="upper left")
