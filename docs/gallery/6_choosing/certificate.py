"""
A proof with every model
========================

Every objective has a dual that bounds it from below. A solver that knows both knows how far it can still be from the
optimum, without knowing the optimum. Mercer keeps that proof with each model: tighten ``tol`` and watch the gap
close.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVC

X, y = make_moons(600, noise=0.3, random_state=0)
limits = 10.0 ** -np.arange(0, 9)
found = [SVC(gamma=1.0, C=10, tol=limit).fit(X, y).certificate_ for limit in limits]
print(found[-1])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
left.semilogx(limits, [proof.primal for proof in found], marker="o", label="primal: what was reached")
left.semilogx(limits, [proof.dual for proof in found], marker="s", linestyle="--", label="dual: no machine is below")
left.invert_xaxis()
left.set(xlabel="tol", ylabel="objective", title="The optimum lies in between")
left.legend()
right.loglog(limits, [max(proof.relative_gap, 1e-17) for proof in found], marker="o")
right.invert_xaxis()
right.set(xlabel="tol", ylabel="relative gap", title="How far from the optimum, at most")
