"""
What a kernel believes
======================

Choosing a kernel is choosing which functions are plausible. On the left, k(x, 0) says how far the influence of an
object at 0 reaches. On the right, functions drawn at random with that kernel as covariance show what it expects the
world to look like.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import feature_vectors, kernels

x = np.linspace(-4, 4, 200)[:, None]
chosen = {
    "Gaussian": kernels.RBF(gamma=0.5),
    "Matérn 3/2": kernels.Matern(nu=1.5),
    "Laplacian": kernels.Laplacian(gamma=1.0),
    "periodic": kernels.Periodic(period=2.0),
    "Gaussian × linear": kernels.RBF(gamma=0.5) * kernels.Linear(),
}
figure, axes = plt.subplots(len(chosen), 2, figsize=(9, 9.5), sharex=True)
for (left, right), (name, kernel) in zip(axes, chosen.items(), strict=True):
    fitted = kernel.fit(x)
    centre = 1.0 if "linear" in name else 0.0
    left.plot(x, fitted(x, [[centre]]), color="#0072B2", linewidth=2)
    left.set(ylabel=f"k(x, {centre:g})", title=name)
    vectors = feature_vectors(fitted(x))
    drawn = vectors @ np.random.default_rng(3).normal(size=(vectors.shape[1], 3))
    for column, dash in zip(drawn.T, ("-", "--", "-."), strict=True):
        right.plot(x, column, dash)
    right.set(ylabel="f(x)", title="three random functions")
for ax in axes[-1]:
    ax.set_xlabel("x")
