"""
Losses that forgive
===================

Squared errors make one bad measurement count for a hundred good ones. Huber's loss and the tube of support vector
regression grow linearly: an outlier pulls no harder than any other object.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVR, KernelMachineRegressor, KernelRidge, kernels

random = np.random.default_rng(3)
x = np.sort(random.uniform(-3, 3, 60))
y = np.sin(2 * x) + 0.1 * random.normal(size=60)
bad = np.abs(x - 1.6) < 0.45
y[bad] -= np.where(random.random(bad.sum()) < 0.5, 5.0, 0.0)  # half of the measurements here fail
grid = np.linspace(-3, 3, 300)[:, None]
kernel = kernels.RBF(gamma=1.5)
machines = {
    "squared (KernelRidge)": KernelRidge(kernel=kernel, alpha=0.1),
    "Huber": KernelMachineRegressor("huber", kernel=kernel, C=10.0),
    "tube (SVR)": SVR(kernel=kernel, C=10.0, epsilon=0.1),
}
figure, ax = plt.subplots(figsize=(8, 4.4))
ax.plot(x, y, "o", color="white", markeredgecolor="black", label="data")
for (name, machine), dash in zip(machines.items(), ("-", "--", "-."), strict=True):
    ax.plot(grid, machine.fit(x[:, None], y).predict(grid), dash, linewidth=2, label=name)
ax.plot(grid, np.sin(2 * grid), color="black", linewidth=0.8, label="truth")
ax.set(xlabel="x", ylabel="y", ylim=(-5, 2), title="A few failed measurements")
ax.legend(loc="lower left")
