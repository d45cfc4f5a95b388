"""
Landmarks, with a receipt
=========================

A few hundred landmarks can stand for the whole Gram matrix. How much is lost? ``excess`` does not guess: it proves a
bound on how far the machine on landmarks is from the exact one. More landmarks, a smaller bound, and the true excess
always below it.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, kernels

random = np.random.default_rng(0)
X = random.normal(size=(3000, 3))
y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=3000)
kernel = kernels.RBF(gamma=0.3)
exact = KernelRidge(kernel=kernel, alpha=0.1).fit(X, y).certificate_.primal

sizes = [25, 50, 100, 200, 400, 800]
bounds, truths, left = [], [], []
for size in sizes:
    model = KernelRidge(kernel=kernels.Nystrom(kernel, m=size), alpha=0.1).fit(X, y)
    found = model.excess(X, y)
    bounds.append(found.excess / exact)
    truths.append((found.primal - exact) / exact)
    left.append(float(model.kernel_.state.values["left"]))
print(found)

figure, (one, two) = plt.subplots(1, 2, figsize=(11, 4.2))
one.loglog(sizes, bounds, marker="s", linestyle="--", label="bound proved by excess")
one.loglog(sizes, truths, marker="o", label="true excess")
one.set(
    xlabel="landmarks",
    ylabel="excess over the exact objective, as a share",
    title="The true loss stays below the proof",
)
two.loglog(sizes, left, marker="^", color="#009E73")
two.set(xlabel="landmarks", ylabel="share of the trace not seen", title="What the landmarks leave")
for ax in (one, two):
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
one.legend()
