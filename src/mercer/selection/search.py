"""A search over parameters that computes each kernel value once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from mercer import _check
from mercer._progress import reporting
from mercer.errors import InputError
from mercer.gram.executors import Threads, default_threads
from mercer.inputs.base import Objects
from mercer.selection.judging import Judge
from mercer.selection.settings import settings_of
from mercer.selection.work import Split, Work


class KernelSearchCV(BaseSearchCV):
    """Cross-validation over a grid of parameters, as scikit-learn's GridSearchCV, without computing anything twice.

    Each kernel's Gram matrix is computed once; folds are parts of it. Kernels that differ in a width alone share their
    distances. Along C every machine begins where the last one ended, and folds run on all cores. Kernels that look at
    the data (``gamma="scale"``, centring) are fitted on each training part alone, so that scores are those of an
    exhaustive search: machines agree to within the estimator's `tol`, and to the last bits with ``warm_start=False``.

    Parameters
    ----------
    estimator : a kernel machine; any other estimator of scikit-learn is searched the ordinary way.
    param_grid : names to lists of values, or a list of such grids, as in GridSearchCV: ``C``, ``gamma``, ``kernel``,
        ``kernel__p``.
    scoring, refit, cv, error_score, return_train_score : as in GridSearchCV: any scorer, several at once, any splitter.
    n_jobs : threads; None for all cores.
    time_limit : seconds for the search, without the final fit; settings that were tried on all folds by then compete.
    racing : fold after fold, drop settings that are significantly worse than the best so far; their scores are nan. The
        best setting is then very likely, not certainly, the one that an exhaustive search finds.
    warm_start : whether machines begin where the last one ended, along C.
    verbose : accepted for scikit-learn's sake; progress shows by itself on a terminal.

    Attributes: `best_estimator_`, `best_params_`, `best_score_`, `best_index_`, `cv_results_`, `n_splits_`, `scorer_`,
    `refit_time_`, and `complete_`: whether every setting was tried on every fold.

    >>> from mercer import KernelSearchCV, SVC, kernels
    >>> strings, labels = ["gattaca", "gattica", "gatgata", "ccgcg", "cgcgc", "ccccg"], [1, 1, 1, 0, 0, 0]
    >>> search = KernelSearchCV(SVC(kernel=kernels.Spectrum(2)), {"kernel__p": [1, 2], "C": [1.0, 10.0]}, cv=3)
    >>> search.fit(strings, labels).best_params_
    {'C': 1.0, 'kernel__p': 1}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in BaseSearchCV._parameter_constraints.items() if name != "pre_dispatch"},
        "param_grid": [dict, list],
        "racing": ["boolean"],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        time_limit: float | None = None,
        racing: bool = False,
        warm_start: bool = True,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.time_limit = time_limit
        self.racing = racing
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Try every setting, then train the best one on everything.

        `params` go to where scikit-learn's searches send them: ``groups`` to the splitter, ``sample_weight`` to the
        fits and to scorers that take it.
        """
        self._validate_params()
        threads = self._threads()
        if self.time_limit is not None:
            _check.real("KernelSearchCV", "time_limit", self.time_limit, low=0, low_open=True)
        candidates = list(ParameterGrid(self.param_grid))
        scorer, metric = self._get_scorers()
        if not isinstance(X, Objects):
            X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(params)
        judge = Judge(
            X, y, scorer, self.error_score, self.return_train_score, routed.estimator.fit, routed.scorer.score
        )
        splits = self._splits(X, y, routed.splitter.split)
        settings = settings_of(self.estimator, candidates, X)
        with reporting("Search") as report:
            work = Work(
                settings, splits, judge, Threads(threads), threads, report, self.time_limit, warm=self.warm_start
            )
            if self.racing:
                work.race(metric if isinstance(metric, str) else "")
            else:
                work.exhaust()
        results = self._tabulated(candidates, work.results, judge)
        self._choose(results, metric, work)
        self.scorer_ = getattr(scorer, "_scorers", scorer)
        self.cv_results_ = results
        self.n_splits_ = len(splits)
        if self.refit:
            self._train_best(X, y, routed.estimator.fit)
        return self

    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs < 0:
            return default_threads()
        return _check.integer("KernelSearchCV", "n_jobs", self.n_jobs, low=1)

    def _splits(self, X: Any, y: Any, params: Mapping[str, Any]) -> list[Split]:
        shape = np.zeros((_num_samples(X), 1)) if isinstance(X, Objects) else X
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        found = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(shape, y, **params)]
        if not found:
            raise InputError("No fits were performed: the splitter gave no split. Check `cv`.")
        return found

    def _tabulated(
        self, candidates: list[Any], results: list[list[dict[str, Any] | None]], judge: Judge
    ) -> dict[str, Any]:
        """`cv_results_`, in the order and with the names of GridSearchCV."""
        made = [result for row in results for result in row if result is not None]
        self.complete_ = len(made) == sum(len(row) for row in results)
        if not made:
            raise InputError(
                f"time_limit = {self.time_limit:g} s was over before a single fit ended. Raise it, or train on less."
            )
        _warn_or_raise_about_fit_failures(made, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(made, self.error_score)
        self.multimetric_ = isinstance(made[0]["test_scores"], dict)
        flat = [judge.undone(made[0]) if result is None else result for row in results for result in row]
        more = {} if self.complete_ else {"splits_done": [sum(r is not None for r in row) for row in results]}
        with warnings.catch_warnings():
            if not self.complete_:  # what was not tried has no score, and that is no surprise
                warnings.filterwarnings("ignore", message="One or more of the t", category=UserWarning)
            table: dict[str, Any] = self._format_results(candidates, len(results[0]), flat, more)
        return table

    def _choose(self, results: dict[str, Any], metric: Any, work: Work) -> None:
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric({name[len("mean_test_") :] for name in results if "mean_test_" in name})
            metric = self.refit
        if not self.refit and self.multimetric_:
            return
        if callable(self.refit) or np.isfinite(results[f"mean_test_{metric}"]).any() or self.complete_:
            self.best_index_ = int(self._select_best_index(self.refit, metric, results))
        else:
            self.best_index_ = _best_of_incomplete(results, metric, len(work.results[0]))
        if not callable(self.refit):
            self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _train_best(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        began = time.monotonic()
        best.fit(X, **fit_params) if y is None else best.fit(X, y, **fit_params)
        self.refit_time_ = time.monotonic() - began
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _best_of_incomplete(results: dict[str, Any], metric: str, n_splits: int) -> int:
    """No setting was tried on all folds: the best mean among those that were tried on most."""
    scores: npt.NDArray[np.float64] = np.column_stack(
        [results[f"split{number}_test_{metric}"] for number in range(n_splits)]
    )
    tried = np.isfinite(scores).sum(axis=1)
    means = np.where(tried == tried.max(), np.nansum(scores, axis=1) / np.maximum(tried, 1), -np.inf)
    return int(means.argmax())
