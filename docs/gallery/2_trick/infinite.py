"""
Infinitely many features
========================

The Gaussian kernel on numbers is the dot product of the features exp(-x²/2) xᵏ/√k! for k = 0, 1, 2, and so on for
ever. They fade quickly: a few of them already give the kernel, and the further apart the numbers, the more it takes.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from mercer import kernels

x = np.linspace(-4, 4, 300)


def feature(k, x):
    return np.exp(-(x**2) / 2) * x**k / math.sqrt(math.factorial(k))


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
for k, dash in zip(range(5), ("-", "--", "-.", ":", (0, (5, 1))), strict=True):
    left.plot(x, feature(k, x), linestyle=dash, label=f"k = {k}")
left.set(xlabel="x", ylabel="φₖ(x)", title="The first five features")
left.legend()

z = 2.0
exact = kernels.RBF(gamma=0.5).fit(x[:, None])(x[:, None], [[z]])[:, 0]
for terms, dash in ((2, ":"), (4, "-."), (8, "--")):
    right.plot(x, sum(feature(k, x) * feature(k, z) for k in range(terms)), dash, label=f"{terms} features")
right.plot(x, exact, color="black", linewidth=2, label="all of them: k(x, 2)")
right.set(xlabel="x", ylabel="φ(x)·φ(2)", title="Their dot products approach the Gaussian around 2")
right.legend()
