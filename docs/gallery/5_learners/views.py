"""
What two views have in common
=============================

Two instruments watch the same hidden state, each through its own distortion and noise. Kernel canonical correlation
finds a function of each view such that the two agree as well as possible: what both of them see.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelCCA, hsic_test, kernels

random = np.random.default_rng(0)
state = random.uniform(-1, 1, 300)
one = np.column_stack([np.cos(3 * state), random.normal(size=300)]) + 0.1 * random.normal(size=(300, 2))
other = np.column_stack([state**2, random.normal(size=300)]) + 0.05 * random.normal(size=(300, 2))
print(hsic_test(one, other, random_state=0))

machine = KernelCCA(1, kernel=kernels.RBF(gamma=0.5), alpha=0.1).fit(one, other)
first, second = (np.asarray(part)[:, 0] for part in machine.transform(one, other))

figure, axes = plt.subplots(1, 3, figsize=(13, 4))
axes[0].scatter(*one.T, c=np.abs(state), s=14)
axes[0].set(xlabel="first instrument, channel 1", ylabel="channel 2", title="First view")
axes[1].scatter(*other.T, c=np.abs(state), s=14)
axes[1].set(xlabel="second instrument, channel 1", ylabel="channel 2", title="Second view")
drawn = axes[2].scatter(first, second, c=np.abs(state), s=14)
axes[2].set(xlabel="function of the first view", ylabel="function of the second view")
axes[2].set_title(f"correlation {np.corrcoef(first, second)[0, 1]:.2f}")
figure.colorbar(drawn, ax=axes[2], label="|hidden state|")
