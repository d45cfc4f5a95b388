"""
What the trick saves
====================

A polynomial kernel of degree d is a dot product of all monomials up to that degree. Their number explodes with d. The
kernel computes the same dot product with as many multiplications as there are inputs, whatever the degree.
"""

import matplotlib.pyplot as plt

from mercer.plots import KernelTrickDisplay

shown = KernelTrickDisplay.from_measurement(n_features=10, degrees=(1, 2, 3, 4), n=100)
plt.show()

# %%
# Both ways give the same Gram matrix (the display checks it), so every learner finds the same machine.

for degree, features in zip(shown.degrees, shown.dimensions, strict=True):
    print(f"degree {degree}: {features:5,} features against 10 multiplications")
