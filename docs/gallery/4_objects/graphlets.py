"""
The alphabet of graphs
======================

Graphlets are the small shapes that networks are made of. There are 4 of three nodes, 11 of four and 34 of five. A
graphlet kernel counts how often each occurs and compares the counts, as a text is known by its letters.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from mercer import kernels

atlas = [graph for graph in nx.graph_atlas_g() if 3 <= len(graph) <= 5]  # every graph of 3 to 5 nodes, once
for size, columns in ((3, 4), (4, 11), (5, 12)):
    found = [graph for graph in atlas if len(graph) == size]
    found.sort(
        key=lambda graph: kernels.Graphlet(size=size).histograms([graph])[0].argmax()
    )  # as the kernel counts them
    rows = -(-len(found) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(max(0.95 * columns, 5), 1.15 * rows + 0.4), squeeze=False)
    for ax in axes.ravel():
        ax.set_axis_off()
    for number, (ax, graph) in enumerate(zip(axes.ravel(), found, strict=False)):
        nx.draw(graph, nx.circular_layout(graph), ax=ax, node_size=38, node_color="#0072B2", width=1.4)
        ax.set_title(str(number), fontsize="small", pad=2)
        ax.margins(0.25)
    figure.suptitle(f"The {len(found)} graphlets of {size} nodes")

# %%
# Three families of random networks with the same number of nodes and edges have different fingerprints.

families = {
    "at random": nx.gnm_random_graph(60, 120, seed=1),
    "small world": nx.connected_watts_strogatz_graph(60, 4, 0.1, seed=1),
    "preferential attachment": nx.barabasi_albert_graph(60, 2, seed=1),
}
histograms = kernels.Graphlet(size=4).histograms(list(families.values()))
figure, ax = plt.subplots(figsize=(8, 3.8))
for number, (name, counts) in enumerate(zip(families, histograms, strict=True)):
    places, look = np.arange(len(counts)) + 0.27 * (number - 1), {"edgecolor": "black", "linewidth": 0.5}
    ax.bar(places, counts / counts.sum(), width=0.25, label=name, hatch=("", "//", "..")[number], **look)
ax.set(xlabel="graphlet of four nodes, as numbered above", ylabel="share", yscale="log", xticks=range(11))
ax.legend()
