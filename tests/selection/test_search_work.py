"""KernelSearchCV computes nothing twice, and answers odd requests in words."""

import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    KernelSearchCV,
    _progress,
    kernels,
)
from mercer.errors import TimeLimitError
from mercer.solvers.box.smo import DenseRun
from tests.selection.searches import (
    TWO,
    Counted,
    Slow,
    X,
    Y,
    counted_products,
)


class TestNothingTwice:
    def test_one_gram_for_folds_and_penalties(self) -> None:
        SVC(kernel=Counted()).fit(X[:20], TWO[:20])  # a class of one's own is probed at its first use
        Counted.values = 0
        KernelSearchCV(SVC(kernel=Counted()), {"C": [0.1, 1.0, 10.0]}, cv=5, n_jobs=1, refit=False).fit(X, TWO)
        assert Counted.values <= len(X) ** 2

    def test_one_measure_for_all_widths(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = counted_products(monkeypatch)
        search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1.0, "scale"]}, cv=3, refit=False)
        search.fit(X, TWO)
        assert seen[0] <= len(X) ** 2

    def test_later_penalties_begin_where_earlier_ones_ended(self) -> None:
        from mercer.training.warm_start import WarmStart

        steps = []
        for sharing in (None, WarmStart()):
            for C in (1.0, 2.0):
                model = SVC(C=C, gamma=0.1)
                model._sharing = sharing
                steps.append(int(model.fit(X, TWO).n_iter_[0]))
        assert steps[0] == steps[2]
        assert steps[3] < steps[1]


class TestAnswers:
    def test_failing_settings_have_no_score(self) -> None:
        search = KernelSearchCV(SVC(), {"C": [-1.0, 1.0], "gamma": [0.1]})
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="One or more of the test scores")
            with pytest.warns(FitFailedWarning, match="C"):
                search.fit(X, TWO)
        assert np.isnan(search.cv_results_["mean_test_score"][0])
        assert search.best_params_["C"] == 1.0
        with pytest.raises(ValueError, match="gamma"):
            KernelSearchCV(SVC(), {"gamma": [-1.0, 1.0]}, error_score="raise").fit(X, TWO)
        with pytest.raises(ValueError, match="All the 5 fits failed"):
            KernelSearchCV(SVC(), {"C": [-1.0]}).fit(X, TWO)

    @pytest.mark.parametrize("options", [{"time_limit": 0}, {"n_jobs": 0}, {"cv": "five"}, {"scoring": "no such"}])
    def test_bad_parameters(self, options: dict[str, Any]) -> None:
        with pytest.raises(ValueError):
            KernelSearchCV(SVC(), {"C": [1.0]}, **options).fit(X, TWO)

    def test_bad_grid(self) -> None:
        with pytest.raises(ValueError, match="Cost"):
            KernelSearchCV(SVC(), {"Cost": [1.0]}).fit(X, TWO)

    def test_time_limit_gives_the_best_so_far(self) -> None:
        grid = {"kernel": [kernels.RBF(0.1), Slow()]}
        began = time.monotonic()
        search = KernelSearchCV(SVC(), grid, time_limit=1.0, n_jobs=1).fit(X, TWO)
        assert time.monotonic() - began < 8.0
        assert not search.complete_
        assert search.best_params_ == {"kernel": kernels.RBF(0.1)}
        assert search.cv_results_["splits_done"][0] == 5
        assert search.predict(X).shape == TWO.shape

    def test_time_limit_too_short_for_anything(self) -> None:
        for model, C in ((SVC(), "C"), (make_pipeline(StandardScaler(), SVC()), "svc__C")):
            with pytest.raises(TimeLimitError, match=r"first of 5 fits ended.*would take about .* or more"):
                KernelSearchCV(model, {C: [1.0]}, time_limit=1e-9).fit(X, TWO)

    def test_time_limit_ends_a_fit_that_would_never_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        steps = DenseRun.step

        def slow(run: DenseRun, iterations: int) -> None:
            if run._problem.upper.max() > 1.0:
                time.sleep(0.01)
            else:
                steps(run, iterations)

        monkeypatch.setattr(DenseRun, "step", slow)
        objects = np.random.default_rng(0).normal(size=(100, 4))
        targets = np.random.default_rng(1).integers(0, 2, 100)
        began = time.monotonic()
        grid = {"C": [1e-3, 1e6]}
        search = KernelSearchCV(SVC(), grid, time_limit=1.5, refit=False, cv=2).fit(objects, targets)
        assert time.monotonic() - began < 10.0
        assert search.cv_results_["splits_done"].tolist() == [2, 0]

    def test_conventions(self) -> None:
        search = KernelSearchCV(SVC(), {"C": [1.0]}, time_limit=5.0)
        assert clone(search).get_params()["time_limit"] == 5.0
        with pytest.raises(NotFittedError):
            search.predict(X)
        search.fit(X, Y)
        assert list(search.classes_) == [0, 1, 2]
        assert search.n_features_in_ == 6

    def test_number_of_threads_does_not_matter(self) -> None:
        results = []
        for jobs in (1, 2, 4):
            search = KernelSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.1, "scale"]}, n_jobs=jobs, scoring="roc_auc")
            results.append(search.fit(X, TWO).cv_results_["mean_test_score"])
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])

    def test_no_thread_is_left_watching_the_clock(self) -> None:
        KernelSearchCV(SVC(), {"C": [1.0]}, time_limit=60.0).fit(X, TWO)
        assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_progress_counts_every_fit_once():
    X = np.random.default_rng(0).normal(size=(40, 2))
    told = []
    with _progress.heard(told.append):
        KernelSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, cv=2, refit=False).fit(X, X[:, 0] > 0)
    assert sorted(told) == pytest.approx(np.arange(1, 7) / 6)
