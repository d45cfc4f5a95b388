"""Fixed small problems, one for each kind of data: training objects, new objects, and three kinds of targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import datasets, kernels

NEW = 12
"""How many objects of each problem are kept from training, to be predicted."""


@dataclass(frozen=True)
class Problem:
    """Objects, a kernel that suits them, and targets: two classes, three classes, and numbers."""

    train: Any
    new: Any
    two: np.ndarray
    three: np.ndarray
    number: np.ndarray
    kernel: Any
    linear: bool = False
    """Whether machines with weights, such as LinearSVC, can use this kernel."""


def _parted(objects: Any, number: np.ndarray, kernel: Any, *, linear: bool = False, two: Any = None) -> Problem:
    """The last objects are the new ones; classes are `number` cut in two or three, unless given."""
    size = len(number) - NEW
    three = np.digitize(number, np.quantile(number, [1 / 3, 2 / 3]))
    two = np.where(number > np.median(number), "yes", "no") if two is None else np.asarray(two)
    if isinstance(objects, dict):
        train = {name: column[:size] for name, column in objects.items()}
        new = {name: column[size:] for name, column in objects.items()}
    else:
        train, new = objects[:size], objects[size:]
    return Problem(train, new, two[:size], three[:size], number[:size], kernel, linear)


def _rows(n: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n)


def vectors(n: int = 84) -> Problem:
    return _parted(*_rows(n, 4, seed=1), kernels.RBF(gamma=0.3))


def products(n: int = 84) -> Problem:
    X, _ = _rows(n, 5, seed=2)
    number = X @ [1.0, -2.0, 0.5, 0.0, 1.5] + np.random.default_rng(3).normal(size=n)
    return _parted(X, number, kernels.Linear(), linear=True)


def sparse(n: int = 84, columns: int = 40) -> Problem:
    random = np.random.default_rng(4)
    X = sp.random_array((n, columns), density=0.15, format="csr", rng=random)
    number = X @ random.normal(size=columns) + 0.2 * random.normal(size=n)
    return _parted(X, number, kernels.Linear(), linear=True)


def strings(n: int = 72) -> Problem:
    words, labels = datasets.make_dna(n, random_state=5)
    number = np.array([word.count("TA") - word.count("G") for word in words]) + np.random.default_rng(6).normal(size=n)
    return _parted(words, number, kernels.normalise(kernels.Spectrum(3)), linear=True, two=labels)


def sets(n: int = 72) -> Problem:
    random = np.random.default_rng(7)
    bags = [random.integers(0, 15, size=size).tolist() for size in random.integers(2, 10, size=n)]
    number = np.array([len(set(bag) & {1, 2, 3, 4, 5}) for bag in bags]) + 0.3 * random.normal(size=n)
    return _parted(bags, number, kernels.normalise(kernels.MultisetDot()))


def graphs(n: int = 72) -> Problem:
    drawn, labels = datasets.make_graphs(n, random_state=8)
    number = np.array([len(graph["labels"]) for graph in drawn]) + 0.3 * np.random.default_rng(9).normal(size=n)
    return _parted(drawn, number, kernels.normalise(kernels.WeisfeilerLehman(h=2)), linear=True, two=labels)


def trees(n: int = 72) -> Problem:
    random = np.random.default_rng(10)

    def grown(depth: int) -> str:
        below = random.integers(0, 3) if depth else 0
        return f"({random.choice(list('abc'))}{''.join(grown(depth - 1) for _ in range(below))})"

    texts = [f"(s{grown(3)}{grown(2)})" for _ in range(n)]
    number = np.array([text.count("a") - text.count("b") for text in texts]) + 0.3 * random.normal(size=n)
    return _parted(texts, number, kernels.normalise(kernels.SubsetTree()))


def documents(n: int = 72) -> Problem:
    random = np.random.default_rng(11)
    words = np.array([f"{stem}{end}" for stem in ("cat", "dog", "tax", "sun", "sea", "ice") for end in ("", "s", "ly")])
    topics = random.dirichlet(np.full(len(words), 0.5), size=3)
    which = random.integers(3, size=n)
    texts = [" ".join(random.choice(words, size=random.integers(6, 20), p=topics[topic])) for topic in which]
    return _parted(texts, which + 0.3 * random.normal(size=n), kernels.VectorSpace(), linear=True)


def series(n: int = 60) -> Problem:
    random = np.random.default_rng(12)
    speed = random.uniform(0.3, 1.2, size=n)
    waves = [
        np.sin(s * np.arange(size)) + 0.1 * random.normal(size=size)
        for s, size in zip(speed, random.integers(8, 16, size=n), strict=True)
    ]
    return _parted(waves, 5 * speed, kernels.normalise(kernels.GlobalAlignment(sigma=1.0)))


def tables(n: int = 72) -> Problem:
    table, labels = datasets.make_mixed(n, random_state=13)
    number = table["warmth"] ** 2 + np.array([word.count("TATA") for word in table["sequence"]])
    kernel = kernels.on("sequence", kernels.normalise(kernels.Spectrum(3)))
    return _parted(table, number, kernel + kernels.on(["warmth", "acidity"], kernels.RBF(gamma=0.5)), two=labels)


def precomputed(n: int = 72) -> Problem:
    X, number = _rows(n, 4, seed=14)
    matrix = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    whole = _parted(matrix, number, "precomputed")
    size = n - NEW
    return Problem(matrix[:size, :size], matrix[size:, :size], whole.two, whole.three, whole.number, "precomputed")


def large() -> Problem:
    """Beyond 2,048 objects Gram matrices are computed in single precision, and solvers work on parts."""
    return vectors(2500)


def large_linear() -> Problem:
    return products(2500)


def large_sparse() -> Problem:
    return sparse(2500, 200)


def medium() -> Problem:
    return vectors(600)


KINDS: dict[str, Callable[[], Problem]] = {
    make.__name__: make
    for make in (vectors, products, sparse, strings, sets, graphs, trees, documents, series, tables, precomputed)
}
SIZES: dict[str, Callable[[], Problem]] = {make.__name__: make for make in (medium, large, large_linear, large_sparse)}


@cache
def problem(name: str) -> Problem:
    return (KINDS | SIZES)[name]()
