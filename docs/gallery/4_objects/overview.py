"""
Points, letters, atoms, people
==============================

One idea runs through all of it: say how two objects are compared, and the same learners work on points, on sequences,
on molecules and on the members of a network. Each picture shows what a machine found, and what its decision is made of.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVC, kernels
from mercer.datasets import make_dna
from mercer.inputs.molecules import molecular_graphs
from mercer.plots import GraphExplanationDisplay, MarginDisplay, SequenceExplanationDisplay

figure, axes = plt.subplot_mosaic(
    [["points", "atoms", "people"], ["letters"] * 3], figsize=(13, 6.6), height_ratios=(3, 1.3)
)

# Points, compared by their distance.
X, y = make_moons(90, noise=0.18, random_state=3)
MarginDisplay.from_estimator(SVC(kernel=kernels.RBF(gamma=1.5), C=10).fit(X, y), X, y, ax=axes["points"])
axes["points"].set(title="Points: margins, support vectors, slack", xlabel="x₁", ylabel="x₂")
axes["points"].get_legend().remove()

# Molecules, compared by the neighbourhoods of their atoms: acids against others.
acids = [
    "CC(=O)O",
    "CCC(=O)O",
    "OC(=O)c1ccccc1",
    "CC(C)C(=O)O",
    "OC(=O)CCC(=O)O",
    "OC(=O)C=C",
    "NCC(=O)O",
    "CC(O)C(=O)O",
]
others = ["CCO", "CCOC(=O)C", "c1ccccc1O", "CC(C)=O", "CCN", "CC(=O)N", "c1ccccc1C=O", "COC(=O)c1ccccc1"]
graphs = molecular_graphs(acids + others)
judge = SVC(kernel=kernels.WeisfeilerLehman(h=2), C=1).fit(graphs, [1] * 8 + [0] * 8)
GraphExplanationDisplay.from_smiles(judge, "CC(C)Cc1ccc(cc1)C(C)C(=O)O", ax=axes["atoms"])
axes["atoms"].set_title("Atoms: what makes ibuprofen an acid?")

# Members of a karate club, compared by the ties between them. Two labels are known, of 0 and 33.
club = nx.karate_club_graph()
side = np.array([club.nodes[node]["club"] for node in club])
scores = SVC(kernel=kernels.Heat(club, time=0.2), C=10).fit([0, 33], side[[0, 33]]).decision_function(list(club))
places = nx.spring_layout(club, seed=4)
limit = np.abs(scores).max()
for name, shape in (("Mr. Hi", "o"), ("Officer", "s")):
    nodes = [node for node in club if side[node] == name]
    look = {
        "node_shape": shape,
        "cmap": "PuOr_r",
        "vmin": -limit,
        "vmax": limit,
        "edgecolors": "black",
        "node_size": 130,
    }
    nx.draw_networkx_nodes(club, places, nodelist=nodes, node_color=scores[nodes], ax=axes["people"], **look)
nx.draw_networkx_edges(club, places, alpha=0.35, ax=axes["people"])
right = np.mean((scores > 0) == (side == "Officer"))
axes["people"].set(title=f"People: two labels tell who went where ({right:.0%})")
axes["people"].set_axis_off()

# Sequences, compared by the words that they share.
sequences, labels = make_dna(600, random_state=0)
machine = SVC(kernel=kernels.normalise(kernels.Spectrum(p=5)), C=10).fit(sequences[:500], labels[:500])
text = next(text for text in sequences[500:] if "TATAATGC" in text and len(text) <= 60)
SequenceExplanationDisplay.from_estimator(machine, text, axes=axes["letters"])
axes["letters"].set_title("Letters: the motifs TATAATGC and TTGACAGC were planted, and found")
figure.suptitle("")
