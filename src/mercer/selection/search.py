"""A search over parameters that computes each kernel value once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from mercer import _check, _deadline
from mercer.errors import TimeLimitError
from mercer.gram import known
from mercer.gram.executors import default_threads
from mercer.inputs.base import Objects, refuse_masked
from mercer.inputs.tables import Table
from mercer.kernels.memory import calls
from mercer.selection.cross_validation import CrossValidation
from mercer.selection.scoring import FoldScorer, scorers_of
from mercer.selection.settings import settings_of
from mercer.training.folds import make_folds

_OF_SEARCH = 2.0 / 3.0
"""The fraction of a time limit for the search: the final fit takes as long as one or two of its many fits."""


class KernelSearchCV(BaseSearchCV):
    """Cross-validation over a grid of parameters like scikit-learn's GridSearchCV, without computing anything twice.

    Each kernel's Gram matrix is computed once, and folds are parts of it. Kernels that differ only in a width share
    their distances. Along C, every machine starts from the solution of the last one, and folds run on all cores.
    Kernels that depend on the data (``gamma="scale"``, centring) are fitted on each training part only, so scores are
    those of an exhaustive search: machines agree within the estimator's `tol`, and to the last bits with
    ``warm_start=False``.

    Parameters
    ----------
    estimator : a kernel machine, or a pipeline that ends in one: the steps before it are fitted once per fold and
        setting of their parameters. Any other estimator of scikit-learn is searched the ordinary way.
    param_grid : names to lists of values, or a list of such grids, as in GridSearchCV: ``C``, ``gamma``, ``kernel``,
        ``kernel__p``.
    scoring, refit, cv, error_score, return_train_score : as in GridSearchCV: any scorer, several at once, any splitter.
    n_jobs : threads; None for all cores. Inside ``with mercer.cluster.use(...)``, fits at a time on the cluster.
    time_limit : seconds in all: two thirds for the search, in which the best of the settings tried on all folds wins,
        and the rest for the final fit.
    racing : after each fold, drop settings that are significantly worse than the best so far; their scores are nan. The
        best setting is then very likely, but not certainly, the one that an exhaustive search finds.
    warm_start : whether machines start from the solution of the last one, along C.
    held_out : names of methods, such as ``["predict", "decision_function"]``, whose values on the test objects of each
        fold are kept: see `held_out_values`.
    verbose : accepted for compatibility with scikit-learn; progress is always shown on a terminal.

    Attributes
    ----------
    best_params_, best_score_, best_index_ : the best setting, its mean score, and its index in `cv_results_`.
    best_estimator_ : an estimator with it, trained on all objects, if `refit`.
    cv_results_ : all settings and scores, as in scikit-learn.
    n_splits_ : the number of folds.
    scorer_, multimetric_ : the scorer or scorers, and whether there are several.
    refit_time_ : the seconds of the last training.
    complete_ : whether every setting was tried on every fold.
    classes_ : the labels, for classifiers.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

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
        "held_out": [str, list, tuple],
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
        held_out: str | Sequence[str] = (),
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
        self.held_out = held_out

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Try every setting, then train the best one on all objects.

        `params` are passed on as in scikit-learn's searches: ``groups`` to the splitter, ``sample_weight`` to the fits
        and to scorers that take it.
        """
        self._validate_params()
        threads = self._threads()
        if self.time_limit is not None:
            _check.real("KernelSearchCV", "time_limit", self.time_limit, low=0, low_open=True)
        with _deadline.limited(self.time_limit), known.sharing(), calls.once():
            return self._fit(X, y, threads, params)

    def _fit(self, X: Any, y: Any, threads: int, params: Mapping[str, Any]) -> Self:
        candidates = list(ParameterGrid(self.param_grid))
        scorer, metric = self._get_scorers()
        for name, given in {"y": y, **params}.items():
            refuse_masked(given, name)
        if isinstance(X, Mapping) and not sp.issparse(X):  # a table: its length is that of its columns
            X = Table.coerce(X)
        if not isinstance(X, Objects):
            X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(params)
        methods = (self.held_out,) if isinstance(self.held_out, str) else tuple(self.held_out)
        fold_scorer = FoldScorer(
            X, y, scorer, self.error_score, self.return_train_score, routed.estimator.fit, routed.scorer.score, methods
        )
        splits = make_folds(self.cv, X, y, classifier=is_classifier(self.estimator), **routed.splitter.split)
        settings = settings_of(self.estimator, candidates, X)
        validation = CrossValidation(
            settings,
            splits,
            fold_scorer,
            threads=threads,
            workers=None if self.n_jobs is None or self.n_jobs < 0 else threads,
            warm_start=self.warm_start,
            time_limit=None if self.time_limit is None else _OF_SEARCH * self.time_limit,
        ).run(race=(metric if isinstance(metric, str) else "") if self.racing else None)
        results = self._tabulated(candidates, validation, fold_scorer)
        self._choose(results, metric, len(splits))
        self.scorer_ = scorers_of(scorer)
        self.cv_results_ = results
        self.n_splits_ = len(splits)
        self._held_out = validation.held_out if methods else None
        if self.refit:
            self._train_best(X, y, routed.estimator.fit)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = get_tags(self.estimator).target_tags
        return tags

    def held_out_values(self, method: str = "predict", index: int | None = None) -> Any:
        """The predictions of setting number `index` (by default the best) for each object while it was held out.

        `method` is one of those in `held_out`. As in scikit-learn's cross_val_predict, each object must be held out
        exactly once.

        >>> from mercer import KernelSearchCV, SVC
        >>> search = KernelSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2, held_out="predict")
        >>> search.fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).held_out_values()
        array([0, 0, 1, 1])
        """
        check_is_fitted(self, "cv_results_")
        known = () if self._held_out is None else self.held_out
        _check.choice("held_out_values", "method", method, (known,) if isinstance(known, str) else known)
        assert self._held_out is not None
        index = self.best_index_ if index is None else index
        last = len(self.cv_results_["params"]) - 1
        return self._held_out.values(method, _check.integer("held_out_values", "index", index, low=0, high=last))

    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs < 0:
            return default_threads()
        return _check.integer("KernelSearchCV", "n_jobs", self.n_jobs, low=1)

    def _tabulated(self, candidates: list[Any], validation: CrossValidation, scorer: FoldScorer) -> dict[str, Any]:
        """`cv_results_`, in the order and with the names of GridSearchCV."""
        results = validation.results
        made = [result for row in results for result in row if result is not None]
        if not made:
            raise self._too_short(validation)
        self.complete_ = len(made) == sum(len(row) for row in results)
        _warn_or_raise_about_fit_failures(made, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(made, self.error_score)
        self.multimetric_ = isinstance(made[0]["test_scores"], dict)
        flat = [scorer.not_run(made[0]) if result is None else result for row in results for result in row]
        more = {} if self.complete_ else {"splits_done": [sum(r is not None for r in row) for row in results]}
        with warnings.catch_warnings():
            if not self.complete_:  # settings that were not tried have no score
                warnings.filterwarnings("ignore", message="One or more of the t", category=UserWarning)
            table: dict[str, Any] = self._format_results(candidates, len(results[0]), flat, more)
        return table

    def _too_short(self, validation: CrossValidation) -> TimeLimitError:
        """The error if time ran out before there was a single score."""
        fits = sum(map(len, validation.results))
        said = str(validation.late or "")
        if not said:
            seconds = _deadline.shown_seconds(validation.seconds_at_least(_OF_SEARCH * (self.time_limit or 0.0)))
            said = f"All of them would take about {seconds} or more. Raise time_limit, or train on less."
        return TimeLimitError(
            f"time_limit = {self.time_limit:g} s: the search may take two thirds of it, which passed before the first "
            f"of {fits} fits ended. {said}"
        )

    def _choose(self, results: dict[str, Any], metric: Any, n_splits: int) -> None:
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric({name[len("mean_test_") :] for name in results if "mean_test_" in name})
            metric = self.refit
        if not self.refit and self.multimetric_:
            return
        if callable(self.refit) or np.isfinite(results[f"mean_test_{metric}"]).any() or self.complete_:
            self.best_index_ = int(self._select_best_index(self.refit, metric, results))
        else:
            self.best_index_ = _best_of_incomplete(results, metric, n_splits)
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
    """If no setting was tried on all folds: the best mean among those tried on the most folds."""
    scores: npt.NDArray[np.float64] = np.column_stack(
        [results[f"split{number}_test_{metric}"] for number in range(n_splits)]
    )
    tried = np.isfinite(scores).sum(axis=1)
    means = np.where(tried == tried.max(), np.nansum(scores, axis=1) / np.maximum(tried, 1), -np.inf)
    return int(means.argmax())
