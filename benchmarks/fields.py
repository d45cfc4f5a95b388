"""`mercer.fit` on strings, texts, molecules, graphs and series against what each field would try first.

    python -m benchmarks.fields --splits 3 --rows 1000 [name or field ...]

Each data set (`timing.py` says where they lie) is cut into training and test objects by a fixed seed; those that come
as training and test objects are taken as they come. The rival counts substrings and tunes a logistic regression
(strings), weighs words by TF-IDF and tunes a linear support vector machine (texts), grows a forest on Morgan
fingerprints (molecules), counts Weisfeiler-Lehman labels and tunes a linear machine (graphs), or takes the label of the
nearest neighbour by dynamic time warping, in a band that is chosen on the training series (series). Scores are
accuracies, and R2 for numbers.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

import mercer
from benchmarks.timing import DATA, loader

Predict = Callable[[list[Any], Any, list[Any]], Any]
PENALTIES = [0.01, 0.1, 1.0, 10.0, 100.0]


def by_substrings(train: list[str], y: Any, new: list[str]) -> Any:
    steps = make_pipeline(CountVectorizer(analyzer="char", lowercase=False), MaxAbsScaler(), LogisticRegression())
    lengths = [(n, n) for n in range(1, 7)] + [(1, 3), (1, 5)]
    grid = {"countvectorizer__ngram_range": lengths, "logisticregression__C": PENALTIES}
    return GridSearchCV(steps, grid).fit(train, y).predict(new)


def by_words(train: list[str], y: Any, new: list[str]) -> Any:
    steps = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC())
    grid = {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "linearsvc__C": PENALTIES}
    return GridSearchCV(steps, grid).fit(train, y).predict(new)


def by_forest(train: list[str], y: Any, new: list[str]) -> Any:
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)

    def bits(smiles: list[str]) -> Any:
        return np.array([make.GetFingerprintAsNumPy(Chem.MolFromSmiles(one)) for one in smiles])

    forest = RandomForestRegressor if y.dtype.kind == "f" else RandomForestClassifier
    return forest(n_estimators=500, random_state=0).fit(bits(train), y).predict(bits(new))


def by_neighbourhoods(train: list[Any], y: Any, new: list[Any]) -> Any:
    steps = make_pipeline(DictVectorizer(), MaxAbsScaler(), LinearSVC())
    grid = {"linearsvc__C": PENALTIES}
    found = [(GridSearchCV(steps, grid).fit([subtrees(one, h) for one in train], y), h) for h in range(4)]
    search, h = max(found, key=lambda pair: pair[0].best_score_)
    return search.predict([subtrees(one, h) for one in new])


def subtrees(graph: dict[str, Any], h: int) -> dict[str, int]:
    """How often each Weisfeiler-Lehman label of at most h rounds occurs."""
    near: list[list[int]] = [[] for _ in range(graph["nodes"])]
    for a, b in graph["edges"]:
        near[a].append(b)
    labels = [str(one) for one in graph["labels"]]
    counts = Counter(labels)
    for round_ in range(h):
        labels = [str(hash((round_, own, *sorted(labels[b] for b in near[a])))) for a, own in enumerate(labels)]
        counts.update(labels)
    return dict(counts)


@njit(cache=True)
def warped(a: Any, b: Any, band: int) -> float:
    """The distance of two series by dynamic time warping within a band."""
    n, m = len(a), len(b)
    before, now = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    before[0] = 0.0
    for i in range(1, n + 1):
        now[:] = np.inf
        for j in range(max(1, i - band), min(m, i + band) + 1):
            step = 0.0
            for k in range(a.shape[1]):
                step += (a[i - 1, k] - b[j - 1, k]) ** 2
            now[j] = step + min(before[j - 1], before[j], now[j - 1])
        before[:] = now
    return float(before[m])


def by_nearest(train: list[Any], y: Any, new: list[Any]) -> Any:
    longest = max(map(len, train + new))
    slack = longest - min(map(len, train + new))

    def apart(rows: list[Any], band: int) -> Any:
        return np.array([[warped(a, b, max(band, slack)) for b in train] for a in rows])

    bands = [round(share * longest) for share in (0.0, 0.03, 0.06, 0.1, 0.2, 1.0)]
    right = []
    for band in bands:
        own = apart(train, band)
        np.fill_diagonal(own, np.inf)
        right.append(np.mean(y[own.argmin(axis=1)] == y))
    return y[apart(new, bands[int(np.argmax(right))]).argmin(axis=1)]


def as_table(smiles: list[str]) -> Any:
    return {"smiles": list(smiles)}


def as_rows(series: list[Any]) -> Any:
    return np.stack([one.ravel() for one in series])


FIELDS: dict[str, tuple[Predict, Callable[[list[Any]], Any], list[str]]] = {
    # field: (its rival, the objects as a user has them, data sets)
    "strings": (
        by_substrings,
        list,
        [
            "strings/splice_junction",
            "strings/promotergene_kernlab",
            "strings/names_gender",
            "strings/c_elegans_acceptor_2200",
        ],
    ),
    "texts": (
        by_words,
        list,
        ["text/mr_sentence_polarity", "text/review_polarity", "text/trec_questions", "text/20newsgroups"],
    ),
    "molecules": (by_forest, as_table, ["molecules/BBBP", "molecules/ESOL", "molecules/SIDER", "molecules/Tox21"]),
    "graphs": (
        by_neighbourhoods,
        list,
        ["graphs/MUTAG", "graphs/PTC_MR", "graphs/ENZYMES", "graphs/PROTEINS", "graphs/NCI1", "graphs/MSRC_9"],
    ),
    "series": (
        by_nearest,
        as_rows,
        [
            "timeseries/GunPoint",
            "timeseries/ArrowHead",
            "timeseries/ItalyPowerDemand",
            "timeseries/BasicMotions",
        ],
    ),
}


def plain(name: str, objects: Any, y: Any) -> tuple[list[Any], Any]:
    """Objects as a user has them, and labels."""
    y = np.asarray(y)
    kept = np.arange(len(objects))
    if name.startswith("molecules/"):
        from rdkit import Chem, RDLogger

        RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
        y = y if y.ndim == 1 else y[:, 0]
        known = [Chem.MolFromSmiles(one) is not None for one in objects]
        kept = np.flatnonzero(np.array(known) & ~np.isnan(y.astype(np.float64)))
        y = y if name.endswith("ESOL") else np.array([f"class {one:g}" for one in y.astype(np.float64)])
    if name.startswith("graphs/"):
        return [
            {
                "nodes": one["n"],
                "edges": one["edges"].reshape(-1, 2).tolist(),
                "labels": one["node_labels"][:, 0].tolist(),
            }
            for one in objects
        ], y
    if name.startswith("timeseries/"):
        return [np.ascontiguousarray(one.T) for one in objects], y
    return [objects[i] for i in kept], y[kept]


def cut(name: str, rows: int, seed: int) -> tuple[list[Any], Any, list[Any], Any]:
    """Training and test objects with their labels."""
    found = loader(DATA)(name)
    if "test" in found and len(found["train"][1]) <= rows:
        return (*plain(name, *found["train"]), *plain(name, *found["test"]))
    objects, y = plain(name, *found["train" if "train" in found else next(iter(found))])
    classes = y.dtype.kind != "f"
    few = np.random.default_rng(0).permutation(len(y))[: round(rows / 0.7)]
    train, test = train_test_split(few, test_size=0.3, random_state=seed, stratify=y[few] if classes else None)
    return [objects[i] for i in train], y[train], [objects[i] for i in test], y[test]


def score(predicted: Any, y: Any) -> float:
    if y.dtype.kind == "f":
        return 1.0 - float(np.square(y - predicted).sum() / np.square(y - y.mean()).sum())
    return float(np.mean(np.asarray(predicted).astype(str) == y.astype(str)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("names", nargs="*", default=[])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'data':36}{'rows':>6}{'mercer':>8}{'rival':>8}   behind        CPU s")
    for field, (rival, own, names) in FIELDS.items():
        for name in names:
            if chosen.names and field not in chosen.names and name not in chosen.names:
                continue
            values, seconds, kernel = [], [], ""
            for seed in range(chosen.splits):
                train, y, new, truth = cut(name, chosen.rows, seed)
                began = time.process_time()
                outcome = mercer.fit(own(train), y=y, folds=5)
                mine = score(outcome.predict(own(new)), truth)
                between = time.process_time()
                other = score(rival(train, y, new), truth)
                values.append((mine, other))
                seconds.append((between - began, time.process_time() - between))
                kernel = str(outcome.search.best.kernel)
            mine, other = np.mean(values, axis=0)
            times = " ".join(f"{one:6.1f}" for one in np.mean(seconds, axis=0))
            print(
                f"{name:36}{len(y):6}{mine:8.3f}{other:8.3f}{other - mine:+9.3f}   {times}   {kernel[:80]}", flush=True
            )


if __name__ == "__main__":
    main()
