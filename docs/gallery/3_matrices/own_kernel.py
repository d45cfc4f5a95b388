"""
A kernel of your own, in five lines
===================================

Any function of two objects can be tried as a kernel. Here objects are colours, and two colours are alike if they lie
close on the colour wheel, where 359° is next to 0°. An ordinary Gaussian cannot know that; three lines of Python can
tell it.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, check_mercer, kernels


def hue(x, z):
    return np.exp(2 * np.cos(x[0] - z[0]))


wheel = kernels.FromFunction(hue)
random = np.random.default_rng(0)
angles = np.radians(random.uniform(20, 300, size=(60, 1)))  # no training colour between purple and orange
warm = (np.cos(angles[:, 0] - 0.5) + 0.3 * random.normal(size=60) > 0).astype(int)
print(check_mercer(wheel, angles).verdict)

# %%
# Trained on sixty colours, "warm or cold?" is a smooth function all around the wheel, across the gap in the data as
# well. The Gaussian on the raw angle does not know that 360° is 0°: its function tears there, where red meets red.

figure = plt.figure(figsize=(11, 4.6))
grid = np.linspace(0, 2 * np.pi, 361)[:, None]
for place, (name, kernel) in enumerate(
    {"my kernel": wheel, "Gaussian on the angle": kernels.RBF(gamma=1.0)}.items(), 1
):
    model = SVC(kernel=kernel, C=1.0).fit(angles, warm)
    ax = figure.add_subplot(1, 2, place, projection="polar")
    f = model.decision_function(grid)
    ax.plot(grid, 3 + f, color="black", linewidth=2, label="f, drawn around the circle f = 0")
    ax.plot(grid, np.full_like(f, 3), color="gray", linestyle="--", linewidth=1)
    for label, marker, height in ((0, "v", 4.8), (1, "^", 5.2)):
        own = angles[warm == label]
        ax.scatter(own, np.full_like(own, height), c=own[:, 0], cmap="hsv", vmin=0, vmax=2 * np.pi, marker=marker,
                   edgecolor="black", linewidth=0.5, label=("cold", "warm")[label])  # fmt: skip
    ax.set(yticks=[], ylim=(0, 5.6), title=f"{name}: f(0°) = {f[0]:.2f}, f(360°) = {f[-1]:.2f}")
ax.legend(loc="lower left", bbox_to_anchor=(0.85, -0.1))
