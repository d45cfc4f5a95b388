"""
Baskets and other sets
======================

Two sets are alike if they share subsets, and 2^|A ∩ B| counts them. Large sets share much with everything, so divide by
their sizes: the normalised kernel is 1 on equal sets. Where repeats matter, count them: kernels on multisets multiply
the counts, add up the smaller ones, or count common sub-multisets.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.plots import KernelMatrixDisplay

random = np.random.default_rng(0)
shelves = {
    "breakfast": "bread butter jam milk tea honey".split(),
    "dinner": "pasta wine cheese tomato basil oil".split(),
}
everything = sorted({item for shelf in shelves.values() for item in shelf} | {"salt", "soap", "paper"})
baskets, meals = [], []
for number in range(80):
    meal = list(shelves)[number % 2]
    usual = random.choice(shelves[meal], size=random.integers(2, 6))
    other = random.choice(everything, size=random.integers(1, 4))
    baskets.append([str(item) for item in (*usual, *other)])  # a list: repeats count
    meals.append(meal)
print(baskets[0], "->", meals[0])

figure, axes = plt.subplots(1, 3, figsize=(13, 4))
for ax, kernel, name in (
    (axes[0], kernels.SubsetCount(), "2^|A ∩ B|"),
    (axes[1], kernels.normalise(kernels.SubsetCount()), "normalised"),
    (axes[2], kernels.MultisetMinMax(), "Σ min / Σ max of the counts"),
):
    KernelMatrixDisplay.from_kernel(kernel, baskets, meals, ax=ax)
    ax.set_title(name, pad=14)
plt.show()

# %%
# Trained on half of the baskets, tried on the other half.

train, test = slice(0, 40), slice(40, 80)
for kernel in (
    kernels.SetIntersection(),
    kernels.normalise(kernels.SubsetCount()),
    kernels.SetTanimoto(),
    kernels.MultisetDot(),
    kernels.MultisetMinMax(),
    kernels.normalise(kernels.SubMultisetCount()),
):
    model = SVC(kernel=kernel, C=10).fit(baskets[train], meals[train])
    print(f"{kernel!s:32} {model.score(baskets[test], meals[test]):.0%}")
