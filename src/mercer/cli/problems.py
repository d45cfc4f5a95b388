"""What the demo trains on: real vectors, strings, graphs, the nodes of one graph, and a table of mixed columns.

Kernels and C are fixed. For the generated sets, they and the difficulty of the sets were chosen from a few settings on
seeds 0 and 1, so that the demo makes its point: other seeds are a fair test.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn import svm
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import datasets, kernels
from mercer.datasets.mixed import NUMBERS
from mercer.estimators.svc import SVC
from mercer.inputs.tables import Table
from mercer.kernels.base import Kernel
from mercer.selection.cross_validation import CrossValidation
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import settings_of
from mercer.training.folds import Split, make_folds

SEQUENCE_ALONE = "sequence alone"
NUMBERS_ALONE = "numbers alone"
BOTH = "sequence + numbers"
_FEW = 90  # objects of each problem in tests: enough for two folds of ten digits


@final
@dataclass(frozen=True)
class Trial:
    """A kernel and a C to try; `label` is what the table calls the kernel."""

    kernel: Kernel
    C: float = 1.0
    label: str = ""
    twin: Mapping[str, Any] = field(default_factory=dict)
    """The same kernel as parameters of scikit-learn's SVC; empty if it has none."""

    def __str__(self) -> str:
        return self.label or str(self.kernel)

    def machines(self) -> list[Any]:
        """Ours, and scikit-learn's if it has the same kernel."""
        return [SVC(kernel=self.kernel, C=self.C), *([svm.SVC(C=self.C, **self.twin)] if self.twin else [])]


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Objects, their labels, and the trials on them."""

    name: str
    noun: str
    objects: Any
    labels: npt.NDArray[Any]
    trials: tuple[Trial, ...]
    standardise: bool = False

    def splits(self, folds: int, seed: int) -> list[Split]:
        return make_folds(folds, self.labels, self.labels, classifier=True, random_state=seed)

    def pipeline(self, machine: Any) -> Any:
        """The machine; columns are standardised on the training part."""
        return make_pipeline(StandardScaler(), machine) if self.standardise else machine

    def score(self, machine: Any, splits: list[Split]) -> Scores:
        """Cross-validate a machine as scikit-learn does: our machines share nothing between folds."""
        scorer = FoldScorer(self.objects, self.labels, get_scorer("accuracy"), "raise")
        settings = settings_of(self.pipeline(machine), [{}], self.objects, share=False)
        CrossValidation(
            settings, splits[:1], scorer, threads=1
        ).run()  # compile and load everything before it is timed below
        found = CrossValidation(settings, splits, scorer, threads=1).run()
        times = [row["fit_time"] + row["score_time"] for row in found.results[0] if row is not None]
        accuracy = found.scores(0)
        return Scores(float(accuracy.mean()), float(accuracy.std()), sum(times))


@final
@dataclass(frozen=True)
class Scores:
    """Accuracy over folds, and the seconds that training and predicting took on all of them."""

    accuracy: float
    spread: float
    """The standard deviation over folds."""
    seconds: float


def problems(seed: int, *, fast: bool) -> Iterator[Problem]:
    """The problems of the demo; with `fast`, on a few objects each."""
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
        Trial(kernels.Linear(), twin={"kernel": "linear"}),
        Trial(kernels.Polynomial(3, gamma="scale"), label="poly(degree=3)", twin={"kernel": "poly", "coef0": 1.0}),
        Trial(kernels.RBF(), C=10.0, twin={"kernel": "rbf"}),
    )
    return Problem("digits", "images", X[few], y[few], trials)


def _breast_cancer(few: slice) -> Problem:
    X, y = datasets.load("breast_cancer")
    trials = (
        Trial(kernels.Linear(), C=0.1, twin={"kernel": "linear"}),
        Trial(kernels.RBF(), C=2.0, twin={"kernel": "rbf"}),
    )
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
    """Which of two clubs each member joined, predicted from who knew whom: 34 nodes of one graph, real data."""
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
