"""
Which nodes decided?
====================

Every graph here is a small tree with one cycle. In half of them it is a ring of six; in the others a chain of six
closes a longer cycle somewhere. A Weisfeiler-Lehman kernel counts neighbourhoods, and its decision can be shared out
among the nodes: orange nodes speak for "ring", violet ones for "chain".
"""

import matplotlib.pyplot as plt

from mercer import SVC, kernels
from mercer.datasets import make_graphs
from mercer.plots import GraphExplanationDisplay

graphs, labels = make_graphs(400, random_state=0)
model = SVC(kernel=kernels.normalise(kernels.WeisfeilerLehman(h=3)), C=10).fit(graphs[:300], labels[:300])
print(f"{model.score(graphs[300:], labels[300:]):.0%} of 100 new graphs are right")

figure, axes = plt.subplots(1, 2, figsize=(13, 5))
for ax, wanted in zip(axes, ("ring", "chain"), strict=True):
    number = next(i for i in range(300, 400) if labels[i] == wanted and model.predict([graphs[i]])[0] == wanted)
    GraphExplanationDisplay.from_estimator(model, graphs[number], labels=graphs[number]["labels"], ax=ax)
    ax.set_title(f"{wanted}: {ax.get_title()}")
