"""KernelSearchCV over pipelines: equal to an exhaustive search, with nothing fitted twice."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mercer import (
    SVC,
    KernelRidge,
    KernelSearchCV,
    NuSVC,
    kernels,
)
from mercer.selection.pipelines import PipelineSteps
from mercer.selection.scoring import FoldScorer
from tests.selection.searches import (
    LABELS,
    STRINGS,
    TWO,
    A,
    B,
    Counted,
    Noted,
    X,
    Y,
    both,
    counted_products,
    uppercase,
)


class TestPipelines:
    def test_equal_exhaustive_search(self) -> None:
        pipe = make_pipeline(StandardScaler(), SVC(tol=1e-8))
        grid = {"standardscaler__with_mean": [True, False], "svc__C": [0.1, 1.0, 10.0], "svc__gamma": [0.1, "scale"]}
        search = both(pipe, grid, X * [1, 9, 1, 0.1, 1, 1], Y, return_train_score=True)
        assert isinstance(search.best_estimator_[-1], SVC)
        assert search.predict(X).shape == Y.shape

    def test_steps_and_machines_that_change(self) -> None:
        pipe = Pipeline([("scale", StandardScaler()), ("cut", PCA(2)), ("machine", SVC(tol=1e-8))])
        grid: Any = [
            {"cut__n_components": [2, 4], "machine__C": [0.1, 1.0]},
            {"scale": ["passthrough", MinMaxScaler()], "machine": [NuSVC(nu=0.2, tol=1e-8), SVC(C=3.0, tol=1e-8)]},
            {
                "cut": ["passthrough"],
                "machine__kernel": ["linear", kernels.Centred(kernels.RBF(0.1)), kernels.RBF(0.2)],
            },
            {"machine": [LogisticRegression()]},
            {"machine__kernel": [lambda left, right: left @ right.T]},
        ]
        both(pipe, grid, X, TWO, scoring="roc_auc", atol=1e-6)

    def test_regression_and_objects_of_other_kinds(self) -> None:
        pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
        both(pipe, {"kernelridge__alpha": [0.1, 1.0], "kernelridge__gamma": [0.1, 0.5]}, A, B, atol=1e-9)
        words = Pipeline(
            [("upper", FunctionTransformer(uppercase)), ("svc", SVC(kernel=kernels.Spectrum(2), tol=1e-8))]
        )
        both(words, {"svc__kernel__p": [1, 2], "svc__C": [0.1, 1.0]}, STRINGS, LABELS)
        counts = make_pipeline(CountVectorizer(analyzer="char"), SVC(tol=1e-8))
        both(counts, {"countvectorizer__ngram_range": [(1, 1), (1, 2)], "svc__C": [0.1, 1.0]}, STRINGS, LABELS)
        alone = Pipeline([("svc", SVC(tol=1e-8))])
        both(alone, {"svc__C": [0.1, 1.0]}, X, TWO)
        both(Pipeline([("svc", SVC(kernel="precomputed", tol=1e-8))]), {"svc__C": [0.1, 1.0]}, X @ X.T, TWO)

    def test_weights(self) -> None:
        weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
        pipe = make_pipeline(StandardScaler(), SVC(tol=1e-8))
        both(pipe, {"svc__C": [0.1, 1.0]}, X, TWO, scoring="roc_auc", fit_params={"svc__sample_weight": weights})
        for_all = {"svc__sample_weight": weights, "standardscaler__sample_weight": weights}
        both(pipe, {"svc__C": [0.1, 1.0]}, X, TWO, scoring="roc_auc", fit_params=for_all)

    def test_steps_are_fitted_once_per_fold(self) -> None:
        Noted.fits = 0
        Counted.values = 0
        pipe = make_pipeline(Noted(), SVC(kernel=Counted()))
        KernelSearchCV(pipe, {"svc__C": [0.1, 1.0, 10.0]}, cv=4, refit=False).fit(X, TWO)
        assert Noted.fits == 4
        trials = 2 * 12 * 12  # of a class that is new
        assert Counted.values <= 4 * 90 * 120 + trials
        Noted.fits = 0
        grid = {"noted__factor": [1.0, 2.0], "svc__gamma": [0.1, 1.0], "svc__C": [1.0, 2.0]}
        KernelSearchCV(make_pipeline(Noted(), SVC()), grid, cv=3, refit=False).fit(X, TWO)
        assert Noted.fits == 6

    def test_one_measure_for_all_widths(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = counted_products(monkeypatch)
        grid = {"svc__gamma": [0.01, 0.1, 1.0, "scale"], "svc__C": [1.0, 2.0]}
        KernelSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3, refit=False).fit(X, TWO)
        assert seen[0] <= 3 * 80 * 120

    def test_steps_that_fail(self) -> None:
        pipe = make_pipeline(PCA(), SVC())
        search = KernelSearchCV(pipe, {"pca__n_components": [99, 2]}, cv=3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="One or more of the test scores")
            with pytest.warns(FitFailedWarning, match="n_components=99"):
                search.fit(X, TWO)
        assert search.best_params_ == {"pca__n_components": 2}

    def test_racing_and_time_limits(self) -> None:
        pipe = make_pipeline(StandardScaler(), SVC())
        grid = {"svc__gamma": [1e-6, 0.1, 100.0], "svc__C": [0.1, 1.0]}
        raced = KernelSearchCV(pipe, grid, racing=True).fit(X, TWO)
        assert raced.best_params_ == KernelSearchCV(pipe, grid).fit(X, TWO).best_params_
        assert KernelSearchCV(pipe, grid, time_limit=60.0).fit(X, TWO).complete_


def test_memory_is_needed_for_every_thread():
    steps = PipelineSteps(None, None, None, memory=1.0)  # MiB: 2 threads x 2 arrays of 2**20 / 32 numbers fill it
    assert steps.fits(128, 256, 2)
    assert not steps.fits(128, 257, 2)
    assert not steps.fits(128, 256, 3)


def test_parameters_of_fit_belong_to_one_step():
    for names, expected in (((), True), (("svc__w",), True), (("svc__w", "pca__w"), False), (("pca__w",), False)):
        assert FoldScorer.fits_only(SimpleNamespace(fit_params=dict.fromkeys(names)), "svc__") is expected
