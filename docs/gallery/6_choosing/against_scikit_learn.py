"""
The same machine, in less time
==============================

:py:class:`~mercer.SVC` and scikit-learn's solve the same problem and agree on the answers. How long each takes,
against the number of objects, measured while this page was built; best of three runs each, in turns.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC as Theirs

from mercer import SVC as Ours

X, y = make_classification(9000, n_features=20, n_informative=8, n_clusters_per_class=4, class_sep=0.9, random_state=0)
new = X[-1000:]
sizes = [250, 500, 1000, 2000, 4000, 8000]
settings = {"C": 10.0, "gamma": "scale"}
Ours(**settings).fit(X[:4000], y[:4000]).predict(new)  # compiles what it needs before the clock runs
seconds = {(kind, what): [] for kind in (Ours, Theirs) for what in ("fit", "predict")}
agree = []
for size in sizes:
    best = dict.fromkeys(seconds, np.inf)
    for _ in range(3 if size < 4000 else 1):
        answers = []
        for kind in (Ours, Theirs):
            began = time.perf_counter()
            model = kind(**settings).fit(X[:size], y[:size])
            fitted = time.perf_counter()
            answers.append(model.predict(new))
            best[kind, "fit"] = min(best[kind, "fit"], fitted - began)
            best[kind, "predict"] = min(best[kind, "predict"], time.perf_counter() - fitted)
    agree.append(np.mean(answers[0] == answers[1]))
    for key, value in best.items():
        seconds[key].append(value)
print("predictions that agree:", [f"{share:.1%}" for share in agree])

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
for ax, what in zip(axes, ("fit", "predict"), strict=True):
    for kind, name, marker, dash in ((Ours, "Mercer", "o", "-"), (Theirs, "scikit-learn", "s", "--")):
        ax.loglog(sizes, seconds[kind, what], dash, marker=marker, label=name)
    ax.set(
        xlabel="training objects", ylabel="seconds", title="training" if what == "fit" else "predicting 1,000 objects"
    )
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
axes[0].legend()
