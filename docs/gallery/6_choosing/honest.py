"""
The luckiest of many
====================

Search long enough, and some setting looks good by luck. Here the labels are coin tosses: nothing can be learnt. The
more settings a search tries, the better the best of them looks. Nested cross-validation searches again inside each
fold, and stays at one half.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, KernelSearchCV, nested_cross_validate

random = np.random.default_rng(0)
counts = [1, 9, 36]
believed, honest = np.zeros((2, len(counts), 6))
for draw in range(6):
    X, y = random.normal(size=(40, 8)), random.permutation(np.repeat([0, 1], 20))
    for place, count in enumerate(counts):
        side = int(np.sqrt(count))
        grid = {"C": np.logspace(-1, 1.5, side).tolist(), "gamma": np.logspace(-2, 1, side).tolist()}
        search = KernelSearchCV(SVC(), grid, cv=3)
        believed[place, draw] = search.fit(X, y).best_score_
        honest[place, draw] = nested_cross_validate(search, X, y, cv=3).mean

figure, ax = plt.subplots(figsize=(7, 4.2))
for values, name, marker, shift in (
    (believed, "what the search believes", "s", 0.97),
    (honest, "nested cross-validation", "o", 1.03),
):
    ax.errorbar(
        np.array(counts) * shift,
        values.mean(axis=1),
        values.std(axis=1) / np.sqrt(6),
        marker=marker,
        capsize=4,
        label=name,
    )
ax.axhline(0.5, color="black", linestyle="--", linewidth=1, label="the truth")
ax.set(
    xscale="log",
    xlabel="settings tried",
    ylabel="accuracy, mean ± standard error",
    title="Labels by coin toss, six draws",
    xticks=counts,
    xticklabels=counts,
)
ax.minorticks_off()
ax.legend(loc="upper left")
