"""
A table of sequences and numbers
================================

Whether a molecule binds depends on its sequence *and* on warmth and acidity. A kernel on one column sees half of the
story. A sum of kernels sees both, and :py:class:`~mercer.MultipleKernelMachine` learns how much each should count.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, MultipleKernelMachine, kernels
from mercer.datasets import make_mixed
from mercer.plots import KernelMatrixDisplay

table, labels = make_mixed(600, random_state=0)


def rows(chosen):
    return {name: [column[i] for i in chosen] for name, column in table.items()}


train, new = rows(range(400)), rows(range(400, 600))
words = kernels.on("sequence", kernels.normalise(kernels.Spectrum(p=4)))
numbers = kernels.on(["warmth", "acidity"], kernels.RBF(gamma=0.5))
chosen = {"sequence": words, "numbers": numbers, "sum": words + numbers}
scores = {
    name: SVC(kernel=kernel, C=10).fit(train, labels[:400]).score(new, labels[400:]) for name, kernel in chosen.items()
}
learnt = MultipleKernelMachine(SVC(C=10), [words, numbers]).fit(train, labels[:400])
scores["learnt weights"] = learnt.score(new, labels[400:])
print(dict(zip(("sequence", "numbers"), learnt.weights_.round(3), strict=True)))

figure, ax = plt.subplots(figsize=(6.5, 3.2))
bars = ax.barh(
    list(scores), list(scores.values()), color=["#56B4E9", "#E69F00", "#009E73", "#0072B2"], edgecolor="black"
)
ax.bar_label(bars, [f"{score:.0%}" for score in scores.values()], padding=4)
ax.invert_yaxis()
ax.set(xlim=(0.4, 1.05), xlabel="accuracy on 200 new rows")
ax.axvline(0.5, color="gray", linestyle="--")

# %%
# What the sum sees: rows of one class, ordered by similarity.

small = rows(range(120))
figure, axes = plt.subplots(1, 3, figsize=(14, 4.2))
for ax, (name, kernel) in zip(axes, chosen.items(), strict=True):
    KernelMatrixDisplay.from_kernel(kernel, small, np.asarray(labels[:120]), ax=ax)
    ax.set_title(name, pad=14)
