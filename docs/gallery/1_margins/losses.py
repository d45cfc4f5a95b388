"""
Hinge, and its smooth relatives
===============================

A loss says how much an object costs whose score is y f(x). The perceptron charges only mistakes, the hinge also
charges right answers that come too close to the border. Both have a kink. Replacing max by log Σ exp rounds it off,
which is how one gets from the perceptron to logistic regression, and from the hinge to a smooth support vector
machine.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.losses.hinge import Hinge
from mercer.losses.logistic import Logistic
from mercer.losses.perceptron import PerceptronLoss
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.losses.squared_hinge import SquaredHinge

scores = np.linspace(-2.5, 3, 300)
ones = np.ones_like(scores)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4))

families = {
    left: {"perceptron: max(0, -yf)": PerceptronLoss(), "logistic: log(1 + exp(-yf))": Logistic()},
    right: {
        "hinge: max(0, 1 - yf)": Hinge(),
        "smooth hinge: log(1 + exp(1 - yf))": SmoothHinge(),
        "squared hinge": SquaredHinge(),
    },
}
for ax, losses in families.items():
    for (name, loss), dash in zip(losses.items(), ("-", "--", "-."), strict=False):
        ax.plot(scores, loss.value(ones, scores), dash, linewidth=2.2, label=name)
    ax.step([-2.5, 0, 3], [1, 1, 0], color="black", linewidth=1, where="pre", label="a mistake: 1")
    ax.set(xlabel="y f(x)", ylabel="loss", ylim=(-0.1, 4))
    ax.legend()
left.set_title("Rounding off the perceptron gives logistic regression")
right.set_title("Rounding off the hinge gives a smooth SVM")

# %%
# Far from the kink the smooth losses and their sharp originals agree; at the kink they differ by log 2.

print(f"at the kink: {SmoothHinge().value(np.ones(1), np.ones(1))[0]:.3f} = log 2 = {np.log(2):.3f}")
