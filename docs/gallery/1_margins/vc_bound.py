"""
What the VC bound promises
==========================

With probability 1 - δ the error on new objects exceeds the error in training by less than a term that grows with the VC
dimension d and falls with the number of objects P. It holds for all data, so it is loose: on the right, the
measured errors of hyperplanes in the plane lie far below it.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.theory.bounds import empirical_error, vc_bound, vc_dimension

sizes = np.logspace(1.5, 6, 60).astype(int)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
cases = {
    "linear, 2 columns": vc_dimension(kernels.Linear(), 2),
    "linear, 50 columns": vc_dimension(kernels.Linear(), 50),
    "all products of 2 of 50 columns": vc_dimension(kernels.Polynomial(degree=2), 50),
}
for (name, d), dash in zip(cases.items(), ("-", "--", "-."), strict=True):
    values = [vc_bound(P=int(P), d=d).value if d < P else np.inf for P in sizes]
    left.loglog(sizes, values, dash, label=f"{name}: d = {d:,}")
left.axhline(1.0, color="gray", linestyle=":")
left.text(3e4, 1.08, "above 1 it says nothing", color="#555555", fontsize="small")
left.set(
    xlabel="training objects P", ylabel="bound on the error, no error in training", title="More objects, or a smaller d"
)
left.legend()

# On the right: two overlapping classes, and machines trained on more and more objects.
random = np.random.default_rng(0)


def drawn(count):
    y = random.choice([-1, 1], size=count)
    return random.normal(size=(count, 2)) + 1.2 * y[:, None], y


new, truth = drawn(20_000)
counts, training, testing, bounds = [50, 100, 200, 500, 1000, 2000, 5000], [], [], []
for count in counts:
    X, y = drawn(count)
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    training.append(empirical_error(y, model.predict(X)))
    testing.append(empirical_error(truth, model.predict(new)))
    bounds.append(training[-1] + vc_bound(P=count, d=3).value)
for values, name, style in (
    (bounds, "VC bound", "k--"),
    (testing, "new objects", "s-"),
    (training, "in training", "o:"),
):
    right.semilogx(counts, values, style, label=name)
right.set(xlabel="training objects P", ylabel="error", ylim=(0, None), title="What it promises, and what happens")
right.legend()
