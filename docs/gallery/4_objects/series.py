"""
The same gesture at another speed
=================================

Nobody makes a gesture at the same moment and speed twice. Compared moment by moment, two performances look different.
Alignment kernels stretch one onto the other: :py:class:`~mercer.kernels.GlobalAlignment` sums over all ways to do so,
:py:class:`~mercer.kernels.DynamicTimeWarping` takes the best.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.plots import KernelMatrixDisplay

random = np.random.default_rng(0)
GESTURES = {
    "up and down": lambda t: np.sin(2 * np.pi * t),
    "down and up": lambda t: -np.sin(2 * np.pi * t),
    "twice up": lambda t: np.abs(np.sin(2 * np.pi * t)),
}


def performed(gesture):
    length = random.integers(15, 40)
    start = random.integers(0, 60 - length)
    position = 0.1 * random.normal(size=60)
    position[start : start + length] += GESTURES[gesture](np.linspace(0, 1, length))
    return position


names = np.repeat(list(GESTURES), 40)
series = [performed(name) for name in names]
figure, axes = plt.subplots(1, 3, figsize=(12, 3), sharey=True)
for ax, name in zip(axes, GESTURES, strict=True):
    for number, dash in zip(np.flatnonzero(names == name)[:3], ("-", "--", ":"), strict=True):
        ax.plot(series[number], dash)
    ax.set(title=f"{name}: three performances", xlabel="time")
axes[0].set_ylabel("position")

# %%
# Ten performances of each gesture are for training, thirty for the test. Time warping is not positive semi-definite;
# ``psd="clip"`` repairs its matrix.

train = np.concatenate([np.flatnonzero(names == name)[:10] for name in GESTURES])
test = np.setdiff1d(np.arange(len(names)), train)
seen, new = [series[i] for i in train], [series[i] for i in test]
chosen = {
    "moment by moment": kernels.RBF(gamma="scale"),
    "all alignments": kernels.normalise(kernels.GlobalAlignment()),
    "the best alignment": kernels.DynamicTimeWarping(),
}
figure, axes = plt.subplots(1, 3, figsize=(15, 4.4))
for ax, (name, kernel) in zip(axes, chosen.items(), strict=True):
    score = SVC(kernel=kernel, C=10, psd="clip").fit(seen, names[train]).score(new, names[test])
    KernelMatrixDisplay.from_kernel(kernel, seen, names[train], ax=ax)
    ax.set_title(f"{name}: {score:.0%} of new ones right", pad=14)
