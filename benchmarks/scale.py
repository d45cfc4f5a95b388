"""Very many objects: cells and landmarks against scikit-learn, growth with the number of objects, choice of landmarks.

    python benchmarks/scale.py covtype      464,809 rows of forest cover (needs the data sets)
    python benchmarks/scale.py exact        exact machines on 10^5 rows and more, and scikit-learn-intelex
    python benchmarks/scale.py growth       10^5, 10^6 and 10^7 rows from npy files on 500 landmarks, and the exponent
    python benchmarks/scale.py curves FILE  time, memory and error against rows and landmarks, and scikit-learn's
    python benchmarks/scale.py draw FILE PICTURE      the same as a picture
    python benchmarks/scale.py words FOLDER 1000000   so many words of the languages in a folder, one list for each
    python benchmarks/scale.py landmarks    pivoted Cholesky against uniform landmarks on ten data sets
    python benchmarks/scale.py blocks 10000000 500    rows that are read from npy files, on so many landmarks

Every system runs in a process of its own, with a limit of time, and reports its accuracy, wall and CPU seconds of
training and its largest memory. CPU seconds tell more than wall time on a machine that does other things besides.
Limits are ten minutes of CPU time, and forty for exact machines; the environment variable BENCHMARK_LIMIT, in seconds,
lowers them.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from timing import DATA, loader

# isort: split
from mercer import SVC, Cells, KernelLogisticRegression, KernelRidge, LinearSVC, kernels
from mercer.datasets import make_dna

LIMIT = 600.0
"""Seconds of CPU that a system may take ..."""
LONG_LIMIT = 2400.0
"""... and an exact machine on all rows, with its peers."""


def covtype() -> tuple[Any, ...]:
    """Class 2 against the rest; columns scaled to [0, 1]; a fifth of the rows to test on."""
    X, y = loader(DATA)("vectors/covtype")["all"]
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-9)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:464_809], order[464_809:]
    signs = np.where(y == 2, 1.0, -1.0)
    return X[train], signs[train], X[test], signs[test]


def waves(n: int) -> tuple[Any, ...]:
    """28 columns, and the sign of a smooth function of some of them with noise; 20,000 more rows, always the same."""
    return *_waves(n, np.random.default_rng(0)), *_waves(20_000, np.random.default_rng(1))


def _waves(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.normal(size=(n, 28))
    f = np.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + rng.normal(size=n)
    return X, np.where(f > 0, 1.0, -1.0)


def on_landmarks(m: int, gamma: float, landmarks: str = "rpcholesky") -> Any:
    return KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=gamma), m=m, landmarks=landmarks), alpha=1e-3)


def theirs(kind: str, gamma: float) -> Any:
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import Ridge, SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    features = {"Nystroem": Nystroem, "RBFSampler": RBFSampler}[kind.split(" + ")[0]]
    learners = {
        "Ridge": Ridge(alpha=1e-3),
        "SGD": SGDClassifier(max_iter=5, tol=None, random_state=0),
        "LinearSVC": LinearSVC(dual=False, random_state=0),
    }
    return make_pipeline(features(gamma=gamma, n_components=1000, random_state=0), learners[kind.split(" + ")[1]])


def intelex() -> Any:
    """The exact machine of scikit-learn's Intel extension, with half of a usual memory for its cache."""
    from sklearnex.svm import SVC as Theirs

    return Theirs(C=32, gamma=32.0, cache_size=8000)


WARM = 1000
"""Rows of a first fit, which is not timed."""
ROWS, LANDMARKS = (30_000, 100_000, 300_000, 1_000_000), (100, 200, 500, 1000, 2000)
"""Of the curves: rows with 200 landmarks, and landmarks with 100,000 rows."""
PEERS = ("Mercer", "scikit-learn")
SETTINGS = [*((n, 200) for n in ROWS), *((100_000, m) for m in LANDMARKS if m != 200)]


def curve(whose: str, n: int, m: int) -> tuple[Any, tuple[Any, ...]]:
    """Ridge regression on landmarks."""
    if whose == "Mercer":
        return on_landmarks(m, 0.02), waves(n)
    model = theirs("Nystroem + Ridge", 0.02)
    return model.set_params(nystroem__n_components=m), waves(n)


def words(folder: str, n: int) -> tuple[Any, ...]:
    """So many words, drawn evenly from all lists together, and the language of each; 20,000 more to test on."""
    rng = np.random.default_rng(0)
    lists = {path.stem: path.read_text().split() for path in sorted(Path(folder).glob("*.txt"))}
    every = [(word, language) for language, known in lists.items() for word in known]
    chosen = [every[place] for place in rng.permutation(len(every))[: n + 20_000]]
    X, y = [word for word, _ in chosen], np.array([language for _, language in chosen])
    return X[:-20_000], y[:-20_000], X[-20_000:], y[-20_000:]


def of_words(whose: str) -> Any:
    """A linear machine on substrings of one to three letters."""
    if whose == "Mercer":
        return LinearSVC(kernel=kernels.normalise(kernels.BlendedSpectrum(p=3)))
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer
    from sklearn.svm import LinearSVC as Theirs

    return make_pipeline(CountVectorizer(analyzer="char", ngram_range=(1, 3)), Normalizer(), Theirs())


def first(data: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """The same with fewer rows to train on."""
    X, y, new, truth = data
    return X[:n], y[:n], new, truth


SYSTEMS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "Cells(SVC, 5000)": lambda: (Cells(SVC(C=32, gamma=32.0), size=5000, random_state=0), covtype()),
    "Cells(SVC, 2000)": lambda: (Cells(SVC(C=32, gamma=32.0), size=2000, random_state=0), covtype()),
    "Nystrom, ridge": lambda: (on_landmarks(1000, 8.0), covtype()),
    "Nystrom uniform, ridge": lambda: (on_landmarks(1000, 8.0, "uniform"), covtype()),
    "Nystroem + Ridge": lambda: (theirs("Nystroem + Ridge", 8.0), covtype()),
    "Nystroem + SGD": lambda: (theirs("Nystroem + SGD", 8.0), covtype()),
    "RBFSampler + Ridge": lambda: (theirs("RBFSampler + Ridge", 8.0), covtype()),
    "RBFSampler + SGD": lambda: (theirs("RBFSampler + SGD", 8.0), covtype()),
    "Nystroem + LinearSVC": lambda: (theirs("Nystroem + LinearSVC", 8.0), covtype()),
    "RBFSampler + LinearSVC": lambda: (theirs("RBFSampler + LinearSVC", 8.0), covtype()),
    "exact SVC, 100,000": lambda: (SVC(C=32, gamma=32.0), first(covtype(), 100_000)),
    "exact intelex, 100,000": lambda: (intelex(), first(covtype(), 100_000)),
    "exact SVC, 464,809": lambda: (SVC(C=32, gamma=32.0), covtype()),
    "exact intelex, 464,809": lambda: (intelex(), covtype()),
    "exact ridge, 100,000": lambda: (KernelRidge(kernel="rbf", gamma=0.02, alpha=1.0), waves(100_000)),
    "exact logistic, 100,000": lambda: (KernelLogisticRegression(gamma=0.02), waves(100_000)),
    **{
        f"curve {whose} {n} {m}": lambda n=n, m=m, whose=whose: curve(whose, n, m)
        for n, m in SETTINGS
        for whose in PEERS
    },
}


def run(name: str) -> None:
    """Train and test one system, and print what it took."""
    if name.startswith("blocks "):
        from_blocks(*map(int, name.split()[1:]))
        return
    if name.startswith("words "):
        _, whose, folder, n = name.split()
        model, (X, y, new, truth) = of_words(whose), words(folder, int(n))
    else:
        model, (X, y, new, truth) = SYSTEMS[name]()
    model.fit(X[:WARM], y[:WARM])  # what is compiled, and libraries that are loaded later, do not count
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    said = model.predict(new)
    right = float(((np.sign(said) if truth.dtype.kind == "f" else said) == truth).mean())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name:<26}{100 * right:8.2f} %{wall:9.1f} s{cpu:9.1f} s CPU{memory:7.2f} GiB", flush=True)


def apart(names: list[str], limit: float = LIMIT) -> list[str]:
    """Each system in a process of its own, for so many seconds of CPU at most: others may use the computer as well."""
    limit, lines = int(min(limit, float(os.environ.get("BENCHMARK_LIMIT", "inf")))), []
    for name in names:
        found = subprocess.run(
            [sys.executable, __file__, "run", name], capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
        )  # fmt: skip
        if found.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            lines.append(f"{name:<26} not finished after {limit} s CPU")
        else:
            lines.append(found.stdout.strip() or f"{name:<26} failed: {found.stderr.strip()[-200:]}")
        print(lines[-1], flush=True)
    return lines


def write(place: str, n: int) -> None:
    """Rows as those of `waves`, in npy files that are written in parts."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(f"{place}/X.npy", mode="w+", dtype=np.float32, shape=(n, 28))
    y = np.lib.format.open_memmap(f"{place}/y.npy", mode="w+", dtype=np.float64, shape=(n,))
    for start in range(0, n, 1 << 18):
        rows = slice(start, min(start + (1 << 18), n))
        X[rows], y[rows] = _waves(rows.stop - start, rng)


def from_blocks(n: int, m: int) -> None:
    """Ridge regression on rows of an npy file: seconds, memory, area under the curve."""
    from sklearn.metrics import roc_auc_score

    from mercer import blocks

    with tempfile.TemporaryDirectory() as place:
        # Another process writes them: the pages of its files would count as memory of this one.
        subprocess.run([sys.executable, __file__, "write", place, str(n)], check=True)
        training, test = blocks.split(blocks.of(f"{place}/X.npy", f"{place}/y.npy"), held_out=min(0.1, 1e5 / n))
        wall, cpu = time.perf_counter(), time.process_time()
        model = on_landmarks(m, 0.02).fit(training)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        area = roc_auc_score(test.y, model.predict(test))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{n:,} rows, {m} landmarks: area {area:.4f}, {wall:.1f} s, {cpu:.1f} s CPU, {memory:.2f} GiB", flush=True)


def curves(path: str) -> None:
    """Every setting that the file does not hold yet: it may be made in parts."""
    held = Path(path).read_text() if Path(path).exists() else ""
    for n, m in SETTINGS:
        for whose in PEERS:
            name = f"curve {whose} {n} {m}"
            if f"{name} " not in held:
                line = apart([name])[0]
                with Path(path).open("a") as file:
                    file.write(f"{line}\n")


def draw(path: str, picture: str) -> None:
    """Seconds of CPU, memory and error, against rows and against landmarks."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    found = [line.split() for line in Path(path).read_text().splitlines() if "CPU" in line]
    points = [(p[1], int(p[2]), int(p[3]), float(p[8]), float(p[11]), 100 - float(p[4])) for p in found]
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), layout="constrained")
    for line, (place, fixed, what) in zip(axes, ((1, (2, 200), "rows"), (2, (1, 100_000), "landmarks")), strict=True):
        for axis, (column, label) in zip(line, ((3, "seconds of CPU"), (4, "GiB"), (5, "errors in %")), strict=True):
            for whose, mark, colour in (("Mercer", "o-", "#1b6ca8"), ("scikit-learn", "s--", "#d1603d")):
                some = sorted((p[place], p[column]) for p in points if p[0] == whose and p[fixed[0]] == fixed[1])
                axis.plot(*zip(*some, strict=True), mark, color=colour, label=whose)
            axis.set_xscale("log")
            if column != 5:
                axis.set_yscale("log")
                axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.yaxis.set_minor_formatter(NullFormatter())
            axis.grid(alpha=0.3)
            axis.set_xlabel(f"{what} ({fixed[1]:,} {'landmarks' if what == 'rows' else 'rows'})")
            axis.set_ylabel(label)
    axes[0, 0].legend(frameon=False)
    figure.savefig(picture, dpi=110)


def growth() -> None:
    """CPU seconds against objects: the exponent is the slope in logarithms."""
    sizes = (100_000, 1_000_000, 10_000_000)
    lines = apart([f"blocks {n} 500" for n in sizes])
    spent = [float(line.split(" s, ")[1].split()[0]) for line in lines if "CPU" in line]
    if len(spent) == len(sizes):
        slope = np.polyfit([math.log(n) for n in sizes], [math.log(value) for value in spent], 1)[0]
        print(f"time grows with the objects to the power {slope:.2f}")


def ten_sets() -> Iterator[tuple[str, Any, Any]]:
    """Objects of different kinds, with a kernel each."""
    rng = np.random.default_rng(0)
    blobs = np.vstack(
        [rng.normal(scale=s, size=(c, 5)) + 4 * rng.normal(size=5) for s, c in ((0.1, 700), (1, 250), (3, 50))]
    )
    yield "blobs of unlike sizes", kernels.RBF(gamma=0.5), blobs
    yield "normal rows", kernels.RBF(gamma=0.1), rng.normal(size=(1000, 5))
    yield "heavy tails", kernels.RBF(gamma=0.1), rng.standard_t(2, size=(1000, 5))
    yield "a line", kernels.Laplacian(gamma=2.0), rng.exponential(size=(1000, 1))
    yield "histograms", kernels.ExponentialChi2(gamma=2.0), rng.dirichlet(np.full(8, 0.3), size=1000)
    yield (
        "a spiral",
        kernels.RBF(gamma=2.0),
        np.stack([(t := 20 * rng.uniform(size=1000) ** 3) * np.cos(t), t * np.sin(t)]).T,
    )
    yield "DNA", kernels.normalise(kernels.Spectrum(p=4)), make_dna(600, random_state=0)[0]
    words = ["".join(rng.choice(list("abcdef"), rng.geometric(0.2) + 1)) for _ in range(800)]
    yield "words", kernels.normalise(kernels.BlendedSpectrum(p=3)), words
    yield "sets", kernels.SetTanimoto(), [set(rng.choice(40, rng.integers(1, 12))) for _ in range(800)]
    yield "graphs", kernels.normalise(kernels.WeisfeilerLehman(h=3)), [_graph(rng) for _ in range(400)]


def _graph(rng: np.random.Generator) -> Any:
    n = int(rng.integers(4, 14))
    upper = np.triu(rng.uniform(size=(n, n)) < rng.uniform(0.1, 0.6), 1)
    return (upper | upper.T).astype(int)


def landmarks() -> None:
    """What 50 landmarks leave of the trace, on average over ten seeds."""
    won = 0
    for name, kernel, objects in ten_sets():
        left = {
            way: np.mean(
                [kernels.Nystrom(kernel, 50, way, seed).fit(objects).state.number("left") for seed in range(10)]
            )
            for way in ("rpcholesky", "uniform")
        }
        won += left["rpcholesky"] < left["uniform"]
        print(f"{name:<24} pivoted {left['rpcholesky']:.4f}   uniform {left['uniform']:.4f}", flush=True)
    print(f"pivoted Cholesky leaves less on {won} of 10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("given", nargs="*", help="a system, files, or numbers: see above")
    asked = parser.parse_args()
    PARTS[asked.part](*asked.given)


PARTS: dict[str, Callable[..., Any]] = {
    "run": run,
    "blocks": lambda n, m: from_blocks(int(n), int(m)),
    "write": lambda place, n: write(place, int(n)),
    "covtype": lambda: apart([name for name in SYSTEMS if not name.startswith(("exact", "curve"))]),
    "exact": lambda: apart([name for name in SYSTEMS if name.startswith("exact")], LONG_LIMIT),
    "words": lambda folder, n: apart([f"words {whose} {folder} {n}" for whose in PEERS], LONG_LIMIT),
    "growth": growth,
    "landmarks": landmarks,
    "curves": curves,
    "draw": draw,
}


if __name__ == "__main__":
    main()
