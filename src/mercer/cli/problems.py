"""What the demo trains on: real vectors, strings, graphs, the nodes of one graph, and a table that mixes kinds.

Kernels and C are fixed, not searched for. Those of the generated sets, and how hard these sets are, were chosen by
looking at a few settings on seeds 0 and 1, so that the sets make their point: other seeds are the fair test of it.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer import datasets, kernels
from mercer.cli.trials import Problem, Trial
from mercer.datasets.mixed import NUMBERS
from mercer.inputs.tables import Table

SEQUENCE_ALONE = "sequence alone"
NUMBERS_ALONE = "numbers alone"
BOTH = "sequence + numbers"
_FEW = 90


def problems(seed: int, *, fast: bool) -> Iterator[Problem]:
    """The problems of the demo; with `fast` the same ones on a handful of objects."""
    few = slice(_FEW if fast else None)
    yield _digits(few)
    yield _breast_cancer(few)
    yield _dna(_FEW if fast else 600, seed)
    yield _graphs(_FEW if fast else 300, seed)
    if importlib.util.find_spec("networkx") is not None:
        yield _karate()
    yield _mixed(_FEW if fast else 600, seed)


def _digits(few: slice) -> Problem:
    X, y = datasets.load("digits")
    trials = (
        Trial(kernels.Linear()),
        Trial(kernels.Polynomial(degree=3, gamma="scale"), label="poly(degree=3)"),
        Trial(kernels.RBF(), C=10.0),
    )
    return Problem("digits", "images", X[few], y[few], trials)


def _breast_cancer(few: slice) -> Problem:
    X, y = datasets.load("breast_cancer")
    trials = (Trial(kernels.Linear(), C=0.1), Trial(kernels.RBF(), C=2.0))
    return Problem("breast cancer", "cases", X[few], y[few], trials, standardise=True)


def _dna(n: int, seed: int) -> Problem:
    sequences, labels = datasets.make_dna(n, random_state=seed)
    trials = (
        Trial(kernels.Spectrum(p=1), C=0.01),
        Trial(kernels.Spectrum(p=3), C=0.01, label="spectrum(p=3)"),
        Trial(kernels.normalise(kernels.Spectrum(p=5)), C=10.0),
    )
    return Problem("DNA-like", "strings", np.array(sequences, dtype=object), labels, trials)


def _graphs(n: int, seed: int) -> Problem:
    graphs, labels = datasets.make_graphs(n, random_state=seed)
    trials = (
        Trial(kernels.normalise(kernels.VertexHistogram()), C=10.0, label="vertex_histogram()"),
        Trial(kernels.normalise(kernels.WeisfeilerLehman(h=3)), C=10.0, label="normalise(wl(h=3))"),
        Trial(kernels.normalise(kernels.ShortestPath()), C=10.0, label="shortest_path()"),
    )
    return Problem("molecule-like", "graphs", np.array(graphs, dtype=object), labels, trials)


def _karate() -> Problem:
    """Which of two clubs each member joined, from who knew whom: 34 nodes of one graph, real data."""
    networkx: Any = importlib.import_module("networkx")
    graph = networkx.karate_club_graph()
    clubs = np.array([graph.nodes[node]["club"] for node in graph])
    kernel = kernels.normalise(kernels.Heat(networkx.to_numpy_array(graph, weight=None), time=0.5))
    return Problem("karate club", "members", np.arange(len(clubs)), clubs, (Trial(kernel, label="normalise(heat)"),))


def _mixed(n: int, seed: int) -> Problem:
    table, labels = datasets.make_mixed(n, random_state=seed)
    sequence = kernels.on("sequence", kernels.normalise(kernels.Spectrum(p=5)))
    numbers = kernels.on(NUMBERS, kernels.RBF())
    trials = (
        Trial(sequence, label=SEQUENCE_ALONE),
        Trial(numbers, label=NUMBERS_ALONE),
        Trial(sequence + numbers, label=BOTH),
    )
    return Problem("mixed table", "rows", Table(table), labels, trials)
