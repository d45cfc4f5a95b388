"""
A decision surface is a sum of bumps
====================================

A Gaussian machine predicts with f(x) = b + Σ cᵢ k(xᵢ, x): a hill over each support vector of one class, a hollow
under each of the other. Where the surface crosses zero is the decision boundary.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVC, kernels
from mercer.plots.style import DIVERGING

X, y = make_moons(80, noise=0.15, random_state=0)
model = SVC(kernel=kernels.RBF(gamma=3.0), C=5).fit(X, y)

xx, yy = np.meshgrid(np.linspace(-1.7, 2.7, 90), np.linspace(-1.2, 1.7, 90))
values = model.decision_function(np.column_stack([xx.ravel(), yy.ravel()])).reshape(xx.shape)
limit = np.ceil(np.abs(values).max())

figure = plt.figure(figsize=(11, 4.8))
ax = figure.add_subplot(1, 2, 1, projection="3d")
ax.plot_surface(xx, yy, values, cmap=DIVERGING, vmin=-limit, vmax=limit, linewidth=0, alpha=0.9)
ax.contour(xx, yy, values, levels=[0], colors="black", offset=values.min() - 0.5)
ax.set(xlabel="x₁", ylabel="x₂", zlabel="f(x)", title="f(x), and its zero line on the floor")
ax.view_init(elev=35, azim=-65)

flat = figure.add_subplot(1, 2, 2)
drawn = flat.contourf(xx, yy, values, levels=np.linspace(-limit, limit, 17), cmap=DIVERGING)
flat.contour(xx, yy, values, levels=[0], colors="black", linewidths=2)
coefficients = model.dual_coef_[0]
for sign, marker in ((1, "^"), (-1, "v")):
    own = np.sign(coefficients) == sign
    flat.scatter(*model.support_vectors_[own].T, marker=marker, s=20 + 25 * np.abs(coefficients[own]), color="white",
                 edgecolor="black", label=f"support vectors that {'raise' if sign > 0 else 'lower'} f")  # fmt: skip
flat.set(xlabel="x₁", ylabel="x₂", title="The same from above; larger marks have larger |cᵢ|")
flat.legend(loc="lower left")
figure.colorbar(drawn, ax=flat, label="f(x)")
