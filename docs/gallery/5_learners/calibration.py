"""
When it says 80 %, is it 80 %?
==============================

A probability is only useful if it is true. Sort the predictions by their probability: among those near 0.8, about four
in five should be right. Decision values are scores, not probabilities; :py:class:`~mercer.SVC` with
``probability=True`` learns the translation on objects that were held out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification

from mercer import SVC, KernelLogisticRegression

X, y = make_classification(9000, n_features=10, n_informative=5, flip_y=0.15, class_sep=0.8, random_state=0)
train, test = slice(0, 1000), slice(1000, None)
svc = SVC(gamma="scale", C=1, probability=True).fit(X[train], y[train])
logistic = KernelLogisticRegression(gamma="scale", C=1.0).fit(X[train], y[train])
squashed = 1 / (1 + np.exp(-4 * svc.decision_function(X[test])))
answers = {
    "decision value, squashed": squashed,
    "SVC(probability=True)": svc.predict_proba(X[test])[:, 1],
    "KernelLogisticRegression": logistic.predict_proba(X[test])[:, 1],
}
figure, ax = plt.subplots(figsize=(6.2, 5.4))
ax.plot([0, 1], [0, 1], color="black", linewidth=0.8, label="what it should be")
for (name, probabilities), marker in zip(answers.items(), "xos", strict=True):
    true, said = calibration_curve(y[test], probabilities, n_bins=10)
    loss = -np.mean(np.log(np.where(y[test] == 1, probabilities, 1 - probabilities)))
    ax.plot(said, true, marker=marker, label=f"{name}: log loss {loss:.3f}")
ax.set(xlabel="predicted probability", ylabel="fraction that was true", title="8,000 new objects", aspect="equal")
ax.legend(loc="upper left")
