"""
Kernels are built like formulas
===============================

Sums and products of kernels are kernels. A series with a trend, a yearly rhythm and a drift needs one term for each,
and the sum predicts where none of the terms could alone. Each kernel can also say *why* it is one.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, kernels

random = np.random.default_rng(1)
months = np.arange(120) / 12
truth = 0.25 * months + np.sin(2 * np.pi * months) * (1 + 0.1 * months) + 0.6 * np.sin(0.9 * months)
seen = months < 8
x, noisy = months[:, None], truth + 0.15 * random.normal(size=120)

trend = kernels.Linear()
rhythm = kernels.Periodic(period=1.0) * kernels.RBF(gamma=0.01)
drift = 0.5 * kernels.RBF(gamma=0.3)
print((trend + rhythm + drift).derivation())

# %%
# Eight years are seen, two are to be predicted.

figure, axes = plt.subplots(1, 3, figsize=(13.5, 3.8), sharex=True, sharey=True)
for ax, (name, kernel) in zip(
    axes,
    {"trend": trend, "trend + drift": trend + drift, "trend + rhythm + drift": trend + rhythm + drift}.items(),
    strict=True,
):
    mean, deviation = KernelRidge(kernel=kernel, alpha=0.03).fit(x[seen], noisy[seen]).predict(x, return_std=True)
    ax.plot(months[seen], noisy[seen], ".", color="black", markersize=4, label="seen")
    ax.plot(months[~seen], noisy[~seen], "x", color="#D55E00", markersize=4, label="still to come")
    ax.plot(months, mean, color="#0072B2", label="prediction")
    ax.fill_between(
        months, mean - 2 * deviation, mean + 2 * deviation, color="#0072B2", alpha=0.2, label="± 2 deviations"
    )
    ax.set(title=name, xlabel="years")
axes[0].set_ylabel("value")
axes[0].legend(loc="upper left")
