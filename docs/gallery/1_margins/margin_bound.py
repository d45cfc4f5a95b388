"""
The margin bound, as C grows
============================

Theory bounds the error on new objects by (L / γ)² / P: L is the length of the longest object, γ the margin, and P the
number of objects. The dimension does not appear, which is why kernels with infinitely many features can work at all.

On separable data, a high enough price of slack leaves none, and the soft margin becomes the hard one. Below that
price the margin of the nearest object wanders, as one object after another is bought off.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.theory.bounds import margin_bound
from mercer.theory.margins import model_margins

random = np.random.default_rng(0)
X = np.vstack([random.normal(size=(100, 2)) - 3, random.normal(size=(100, 2)) + 3])
y = np.repeat([-1, 1], 100)
longest = np.linalg.norm(X, axis=1).max()

prices = np.logspace(-4, 1, 21)
margins = np.array([model_margins(SVC(kernel="linear", C=C, tol=1e-6).fit(X, y), X, y).min() for C in prices])
hard = model_margins(SVC(kernel="linear", C=float("inf")).fit(X, y), X, y).min()
orders = [margin_bound(P=len(y), L=longest, gamma=value).value for value in margins]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.semilogx(prices, margins, marker="o", label="soft margin")
left.axhline(hard, color="black", linestyle="--", label=f"hard margin, {hard:.3f}")
left.set(
    xlabel="C", ylabel="geometric margin γ of the nearest object", title="From C = 0.3 on, soft and hard margin agree"
)
left.legend()
right.semilogx(prices, orders, marker="s", color="#E69F00")
right.set(xlabel="C", ylabel="(L / γ)² / P", title="The bound goes with the inverse square")

# %%
# The lecture gives no constant, so the number is an order of magnitude, not a certificate. The bounds that a fitted
# machine does certify are in :py:mod:`mercer.theory.of_model`.

print(margin_bound(P=len(y), L=longest, gamma=hard))
