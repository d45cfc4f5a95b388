"""
Are these two samples from one source?
======================================

Two samples have the same mean and the same spread. Are they from the same distribution? The maximum mean discrepancy
compares the means of *all* features of a kernel. Shuffling the labels of the objects tells how large it gets by
chance.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import kernels, mmd_test

random = np.random.default_rng(0)
one = random.normal(size=(200, 1))
other = np.where(random.random((200, 1)) < 0.5, -1.0, 1.0) * 0.9 + 0.436 * random.normal(size=(200, 1))  # two bumps
print(f"means {one.mean():.2f} and {other.mean():.2f}, deviations {one.std():.2f} and {other.std():.2f}")
result = mmd_test(one, other, kernel=kernels.RBF(gamma=4.0), random_state=0)
print(result)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
bins = np.linspace(-3, 3, 25)
left.hist(one, bins, color="#0072B2", alpha=0.6, label="first sample", edgecolor="black", linewidth=0.4)
left.hist(other, bins, color="#E69F00", alpha=0.6, label="second sample", edgecolor="black", linewidth=0.4, hatch="//")
left.set(xlabel="x", ylabel="objects", title="Same mean, same spread")
left.legend()
right.hist(result.null, 40, color="#888888", label="with shuffled labels")
right.axvline(result.statistic, color="#D55E00", linewidth=2.5, label=f"measured: p = {result.p_value:.3f}")
right.set(xlabel="squared maximum mean discrepancy", ylabel="shuffles", title="Not by chance")
right.legend()

# %%
# The linear kernel compares means alone, and sees nothing.

print(mmd_test(one, other, kernel="linear", random_state=0))
