"""Fitted pipelines of every transformer that files hold, each with objects to try it on."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

try:
    import pandas as pd
except ImportError:  # an extra
    pd = None

from mercer import SVC, SVR, KernelPCA, KernelRidge, KernelSearchCV, kernels

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
GAPS = np.where(RANDOM.random(X.shape) < 0.2, np.nan, X)
WORDS = np.array(["red", "green", "blue", "grey"], dtype=object)
COLOURS = np.column_stack([WORDS[RANDOM.integers(0, 4, 60)], WORDS[RANDOM.integers(0, 3, 60)]])
HOLES = COLOURS.copy()
HOLES[3, 0], HOLES[5, 1] = np.nan, None
TEXTS = [" ".join(RANDOM.choice(["gain", "loss", "profit", "storm", "rain", "snow"], 5)) for _ in range(60)]
RECORDS = [{"city": str(word), "size": float(size)} for word, size in zip(COLOURS[:, 0], X[:, 0], strict=True)]
MIXED = ColumnTransformer(
    [
        ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["a", "b"]),
        ("colours", OneHotEncoder(handle_unknown="ignore"), ["colour", "shape"]),
        ("words", TfidfVectorizer(), "text"),
    ]
)

Case = tuple[Any, Any]


def table() -> Any:
    columns = {"a": X[:, 0], "b": GAPS[:, 1], "colour": COLOURS[:, 0], "text": TEXTS, "shape": COLOURS[:, 1]}
    return pd.DataFrame(columns)


def on(objects: Any, *steps: Any) -> Callable[[], Case]:
    return lambda: (make_pipeline(*steps, SVC(C=2.0)), objects)


CASES: dict[str, Callable[[], Case]] = {
    "standard": on(X, StandardScaler()),
    "standard without": on(X, StandardScaler(with_mean=False, with_std=False)),
    "standard with gaps": on(GAPS, StandardScaler(), SimpleImputer()),
    "min max": on(X, MinMaxScaler(feature_range=(-1, 2), clip=True)),
    "max abs": on(sp.csr_array(np.where(X > 0, X, 0.0)), MaxAbsScaler()),
    "robust": on(X, RobustScaler(quantile_range=(10.0, 90.0))),
    "robust without": on(X, RobustScaler(with_centering=False)),
    "normalizer": on(X, Normalizer(norm="l1")),
    "binarizer": on(X, Binarizer(threshold=0.5)),
    "quantile": on(X, QuantileTransformer(n_quantiles=20, output_distribution="normal", random_state=0)),
    "power": on(X, PowerTransformer()),
    "power alone": on(X, PowerTransformer(standardize=False)),
    "bins": on(X, KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")),
    "bins of few": on(
        np.column_stack([X, np.ones(60)]),
        KBinsDiscretizer([2, 3, 4, 5, 6], encode="onehot-dense", strategy="uniform", dtype=np.float32),
    ),
    "bins in order": on(X, KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", random_state=0)),
    "splines": on(X, SplineTransformer(4)),
    "splines of quantiles": on(
        X, SplineTransformer(6, degree=2, knots="quantile", extrapolation="linear", include_bias=False)
    ),
    "splines in a circle": on(X, SplineTransformer(extrapolation="periodic", sparse_output=True)),
    "splines between given knots": on(
        X, SplineTransformer(degree=1, knots=np.repeat([[-4.0], [0.0], [1.0], [4.0]], 4, 1), extrapolation="continue")
    ),
    "polynomial": on(X, PolynomialFeatures(degree=(2, 3), interaction_only=True)),
    "pca": on(X, PCA(2, whiten=True)),
    "pca by share": on(X, PCA(0.9, random_state=np.random.RandomState(0))),
    "incremental pca": on(X, IncrementalPCA(2)),
    "svd": on(sp.csr_array(np.where(X > 0, X, 0.0)), TruncatedSVD(2, random_state=0)),
    "variance": on(X, VarianceThreshold(0.5)),
    "one hot": on(COLOURS, OneHotEncoder()),
    "one hot with gaps": on(HOLES, OneHotEncoder(drop="first", sparse_output=False, dtype=np.float32)),
    "one hot grouped": on(COLOURS, OneHotEncoder(min_frequency=14, handle_unknown="infrequent_if_exist")),
    "one hot of numbers": on(RANDOM.integers(0, 5, size=(60, 2)), OneHotEncoder(categories=[[0, 1, 2, 3, 4]] * 2)),
    "by target": on(HOLES, TargetEncoder()),
    "by the target of three classes": lambda: (make_pipeline(TargetEncoder(smooth=2.0), SVC()), COLOURS),
    "by numbers": lambda: (make_pipeline(TargetEncoder(), SVR()), COLOURS),
    "ordinal": on(HOLES, OrdinalEncoder(encoded_missing_value=-2)),
    "ordinal grouped": on(
        COLOURS, OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=3, dtype=int)
    ),
    "imputer": on(GAPS, SimpleImputer(add_indicator=True)),
    "imputer of strings": on(
        HOLES,
        SimpleImputer(strategy="most_frequent"),
        SimpleImputer(missing_values=None, strategy="constant", fill_value="none"),
        OneHotEncoder(),
    ),
    "imputer, constant": on(GAPS, SimpleImputer(strategy="constant", fill_value=-1.0)),
    "neighbours": on(GAPS, KNNImputer(n_neighbors=3, add_indicator=True)),
    "missing": on(GAPS, FeatureUnion([("filled", SimpleImputer()), ("where", MissingIndicator())])),
    "counts": on(TEXTS, CountVectorizer(ngram_range=(1, 2)), TfidfTransformer(sublinear_tf=True)),
    "counts of given words": on(TEXTS, CountVectorizer(vocabulary=["rain", "storm", "gain"])),
    "weights without frequencies": on(TEXTS, CountVectorizer(binary=True), TfidfTransformer(use_idf=False)),
    "tf-idf": on(TEXTS, TfidfVectorizer(stop_words=["rain"], min_df=2, dtype=np.float32)),
    "tf-idf of letters": on(TEXTS, TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), use_idf=False)),
    "hashing": on(TEXTS, HashingVectorizer(n_features=64)),
    "records": on(RECORDS, DictVectorizer()),
    "hashed records": on(RECORDS, FeatureHasher(n_features=32)),
    "columns by number": on(
        X,
        ColumnTransformer(
            [("scaled", StandardScaler(), [0, 1]), ("kept", "passthrough", slice(2, 3)), ("gone", "drop", [3])]
        ),
    ),
    "the rest kept": on(
        X, ColumnTransformer([("scaled", StandardScaler(), [True, False, True, False])], remainder="passthrough")
    ),
    "union": on(X, FeatureUnion([("all", "passthrough"), ("two", PCA(2))], transformer_weights={"two": 2.0})),
    "within": on(X, make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(), "passthrough")), KernelPCA(3)),
    "regression": lambda: (make_pipeline(StandardScaler(), SVR()), X),
    "strings": lambda: (Pipeline([("svc", SVC(kernel=kernels.normalise(kernels.Spectrum(2))))]), TEXTS),
    "search": lambda: (
        KernelSearchCV(
            make_pipeline(StandardScaler(), SVC()),
            {"svc__C": [0.1, 1.0], "svc__kernel": [kernels.RBF(0.5), "linear"]},
            cv=StratifiedKFold(3, shuffle=True, random_state=0),
        ),
        X,
    ),
    "search of several scores": lambda: (
        KernelSearchCV(
            SVC(), [{"C": [1.0, 10.0]}, {"kernel": ["poly"], "degree": [2, 3]}],
            cv=3, scoring=["accuracy", "f1"], refit="f1", return_train_score=True,
        ),
        X,
    ),
    "search of a regression": lambda: (KernelSearchCV(KernelRidge(kernel="rbf"), {"alpha": np.logspace(-3, 0, 4)}), X),
}  # fmt: skip

if pd is not None:
    CASES |= {
        "columns by name": on(table(), MIXED),
        "columns by kind": on(
            table(),
            ColumnTransformer(
                [("numbers", SimpleImputer(), make_column_selector(dtype_include=np.number))],
                remainder=OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                transformer_weights={"numbers": 0.5},
                verbose_feature_names_out=False,
            ),
        ),
        "frames": on(pd.DataFrame(X, columns=list("abcd")), StandardScaler().set_output(transform="pandas")),
    }


@functools.cache
def fitted(name: str) -> tuple[Any, Any]:
    """A fitted model, and the objects that it was fitted to."""
    model, objects = CASES[name]()
    targets = X[:, 0] if name in ("regression", "search of a regression", "by numbers") else Y
    if name == "by the target of three classes":
        targets = np.digitize(X[:, 0], [-0.5, 0.5])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Feature 4 is constant")
        return model.fit(objects, targets), objects
