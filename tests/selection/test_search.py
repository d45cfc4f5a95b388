"""KernelSearchCV against scikit-learn's exhaustive GridSearchCV."""

import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSearchCV,
    NuSVC,
    NuSVR,
    kernels,
)
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel

X, Y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
TWO = Y > 0
A, B = make_regression(90, 4, noise=5.0, random_state=0)
B = B / B.std()
STRINGS = ["".join(np.random.default_rng(i).choice(list("acgt"), 12 + i % 5)) + "ga" * (i % 2) * 3 for i in range(40)]
LABELS = np.arange(40) % 2


def both(estimator: Any, grid: Any, objects: Any, targets: Any, *, atol: float = 1e-12, **options: Any) -> Any:
    """Search twice, compare all scores, and return ours.

    Machines that begin elsewhere agree to within `tol`, which is therefore small.
    """
    if "tol" in estimator.get_params():
        estimator.set_params(tol=1e-8)
    params = options.pop("fit_params", {})
    wanted = GridSearchCV(estimator, grid, **options).fit(objects, targets, **params)
    search = KernelSearchCV(estimator, grid, **options).fit(objects, targets, **params)
    assert search.cv_results_.keys() == wanted.cv_results_.keys()
    assert search.cv_results_["params"] == wanted.cv_results_["params"]
    for name, values in wanted.cv_results_.items():
        if "test_" in name or "train_" in name:
            np.testing.assert_allclose(search.cv_results_[name], values, rtol=0, atol=atol, err_msg=name)
    assert search.best_params_ == wanted.best_params_
    assert search.n_splits_ == wanted.n_splits_
    assert search.complete_
    return search


def counted_products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many dot products distances were computed from, so far."""
    from mercer.kernels.vectors import distance

    seen = [0]
    original = distance.dot_products

    def counting(left: Any, right: Any, out: Any) -> None:
        seen[0] += out.size
        original(left, right, out)

    monkeypatch.setattr(distance, "dot_products", counting)
    return seen


def _uppercase(words: list[str]) -> list[str]:
    return [word.upper() for word in words]


class Noted(TransformerMixin, BaseEstimator):
    """Multiplies, and counts how often it is fitted."""

    fits: ClassVar[int] = 0

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any = None) -> Self:
        Noted.fits += 1
        return self

    def transform(self, X: Any) -> Any:
        return self.factor * X


class TestEqualsExhaustiveSearch:
    def test_svc_many_classes(self) -> None:
        search = both(SVC(), {"C": [0.1, 10.0, 1.0], "gamma": [0.02, 0.2]}, X, Y, return_train_score=True)
        assert search.predict(X).shape == Y.shape
        assert search.score(X, Y) > 0.5
        assert search.best_score_ == search.cv_results_["mean_test_score"].max()

    def test_kernel_that_sees_the_data_is_fitted_per_fold(self) -> None:
        grid = [{"gamma": ["scale", 0.1], "C": [1.0, 5.0]}, {"kernel": [kernels.Centred(kernels.Linear())]}]
        both(SVC(), grid, X * [1, 5, 0.1, 1, 2, 1], TWO)

    def test_svr(self) -> None:
        grid = {"C": [0.1, 1.0], "epsilon": [0.05, 0.2], "gamma": [0.1, 0.5]}
        both(SVR(), grid, A, B, atol=1e-6)

    @pytest.mark.parametrize("kernel", ["rbf", "laplacian()", "linear"])
    def test_ridge(self, kernel: str) -> None:
        both(KernelRidge(kernel=kernel), {"alpha": [0.01, 1.0, 100.0]}, A, B, atol=1e-9)

    def test_ridge_of_several_outputs(self) -> None:
        grid = {"alpha": [0.01, 1.0], "gamma": [0.1, "scale"]}
        both(KernelRidge(kernel="rbf"), grid, A, np.column_stack([B, B**2]), atol=1e-9)

    @pytest.mark.parametrize("targets", [Y, TWO])
    def test_logistic(self, targets: Any) -> None:
        grid = {"C": [0.1, 1.0], "gamma": [0.1, 0.3]}
        both(KernelLogisticRegression(), grid, X, targets, scoring="neg_log_loss", atol=1e-7)

    def test_any_loss(self) -> None:
        both(KernelMachineClassifier("squared_hinge"), {"C": [0.1, 1.0]}, X, TWO)

    def test_strings(self) -> None:
        grid = {"kernel__p": [1, 2, 3], "C": [0.1, 1.0]}
        search = both(SVC(kernel=kernels.Spectrum(2)), grid, STRINGS, LABELS)
        assert search.predict(STRINGS[:2]).shape == (2,)

    def test_parsed_objects(self) -> None:
        grid = {"C": [0.1, 1.0]}
        wanted = KernelSearchCV(SVC(kernel=kernels.Spectrum(2)), grid).fit(STRINGS, LABELS)
        parsed = KernelSearchCV(SVC(kernel=kernels.Spectrum(2)), grid).fit(Strings.coerce(STRINGS), LABELS)
        np.testing.assert_array_equal(wanted.cv_results_["mean_test_score"], parsed.cv_results_["mean_test_score"])

    def test_precomputed(self) -> None:
        both(SVC(kernel="precomputed"), {"C": [0.1, 1.0, 10.0]}, X @ X.T, TWO)

    def test_kernels_of_many_kinds_in_one_grid(self) -> None:
        chosen = [kernels.Linear(), kernels.RBF(0.1) + kernels.Linear(), 0.5 * kernels.RBF(0.1), "rbf", "sigmoid"]
        both(SVC(psd="ignore"), {"kernel": chosen, "C": [1.0]}, X, TWO)

    def test_own_function(self) -> None:
        both(SVC(kernel=lambda left, right: left @ right.T), {"C": [0.1, 1.0]}, X, TWO)

    def test_weights_and_classes_that_weigh_differently(self) -> None:
        weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
        weights[:5] = 0.0
        grid = {"C": [0.1, 1.0], "class_weight": [None, "balanced", {0: 2.0}]}
        both(SVC(), grid, X, Y, fit_params={"sample_weight": weights})

    def test_machines_with_and_without_intercept(self) -> None:
        """A solution without an intercept has no sum to keep, so it is no start for a machine with one."""
        both(SVC(gamma=0.1), {"fit_intercept": [False, True], "C": [0.1, 1.0]}, X, TWO, scoring="roc_auc")

    def test_other_estimators_are_searched_the_ordinary_way(self) -> None:
        both(LogisticRegression(), {"C": [0.1, 1.0]}, X, TWO)

    def test_nu(self) -> None:
        both(
            NuSVC(),
            {"nu": [0.2, 0.4], "gamma": [0.05, 0.2, "scale"]},
            X,
            Y,
            scoring="accuracy",
            return_train_score=True,
        )
        both(
            NuSVC(kernel=kernels.Spectrum(2)),
            {"nu": [0.2, 0.4], "kernel__p": [1, 2]},
            STRINGS,
            LABELS,
            scoring="roc_auc",
        )
        both(NuSVR(), {"nu": [0.2, 0.6], "C": [0.5, 2.0], "gamma": [0.1, 0.5]}, A, B, atol=1e-6)

    def test_ridge_classes_and_quantiles(self) -> None:
        both(KernelRidgeClassifier(), {"alpha": [0.1, 1.0], "gamma": [0.1, 0.5]}, X, Y)
        both(KernelQuantileRegressor(), {"C": [0.5, 2.0], "gamma": [0.1, 0.5]}, A, B, atol=1e-6)

    def test_probabilities(self) -> None:
        grid = {"C": [0.5, 5.0]}
        both(SVC(probability=True, random_state=0), grid, X, TWO, scoring="neg_log_loss", atol=1e-6)

    def test_precision_of_large_folds(self) -> None:
        objects, targets = make_classification(2700, 5, random_state=0)
        cv = ShuffleSplit(1, test_size=0.2, random_state=0)
        wanted = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=cv).fit(objects, targets)
        search = KernelSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=cv, warm_start=False).fit(objects, targets)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], wanted.cv_results_["mean_test_score"])

    def test_the_same_machines_without_warm_starts(self) -> None:
        grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, "scale"]}
        options: dict[str, Any] = {"return_train_score": True, "scoring": "roc_auc"}
        wanted = GridSearchCV(SVC(), grid, **options).fit(X, TWO)
        search = KernelSearchCV(SVC(), grid, warm_start=False, **options).fit(X, TWO)
        for name in ("mean_test_score", "mean_train_score"):
            np.testing.assert_allclose(search.cv_results_[name], wanted.cv_results_[name], rtol=0, atol=1e-12)


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
            [("upper", FunctionTransformer(_uppercase)), ("svc", SVC(kernel=kernels.Spectrum(2), tol=1e-8))]
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
        assert Counted.values <= 4 * 90 * 120
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


class TestHeldOut:
    def test_are_those_of_cross_val_predict(self) -> None:
        folds = StratifiedKFold(4, shuffle=True, random_state=3)
        grid = {"C": [0.1, 1.0], "gamma": [0.1, "scale"]}
        kept = ["predict", "decision_function"]
        search = KernelSearchCV(SVC(tol=1e-8), grid, cv=folds, held_out=kept).fit(X, Y)
        for index, params in enumerate(search.cv_results_["params"]):
            for method in kept:
                wanted = cross_val_predict(SVC(tol=1e-8, **params), X, Y, cv=folds, method=method)
                np.testing.assert_allclose(search.held_out_values(method, index), wanted, atol=1e-6)
        np.testing.assert_array_equal(search.held_out_values(), search.held_out_values("predict", search.best_index_))
        names = np.array(["left", "of", "the middle"])[Y]
        search = KernelSearchCV(SVC(), {"C": [1.0]}, held_out="predict").fit(X, names)
        assert set(search.held_out_values()) <= set(names)
        pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
        search = KernelSearchCV(pipe, {"kernelridge__alpha": [0.1, 1.0]}, held_out="predict").fit(A, B)
        best = clone(pipe).set_params(**search.best_params_)
        np.testing.assert_allclose(search.held_out_values(), cross_val_predict(best, A, B), atol=1e-9)

    def test_refusals(self) -> None:
        search = KernelSearchCV(SVC(), {"C": [1.0]}, cv=ShuffleSplit(2, random_state=0), held_out=["predict"])
        with pytest.raises(NotFittedError):
            search.held_out_values()
        search.fit(X, Y)
        with pytest.raises(ValueError, match="is held out"):
            search.held_out_values()
        with pytest.raises(ValueError, match="method"):
            search.held_out_values("decision_function")
        with pytest.raises(ValueError, match="index"):
            search.held_out_values("predict", 1)
        with pytest.raises(ValueError, match="method"):
            KernelSearchCV(SVC(), {"C": [1.0]}).fit(X, Y).held_out_values()
        raced = KernelSearchCV(SVC(), {"C": [1e-9, 1.0]}, racing=True, held_out="predict").fit(X, TWO)
        with pytest.raises(ValueError, match=r"Setting 0.*not tried on all folds"):
            raced.held_out_values(index=0)


class TestSplittersAndScorers:
    def test_groups(self) -> None:
        both(SVC(), {"C": [0.1, 1.0]}, X, TWO, cv=GroupKFold(4), fit_params={"groups": np.arange(len(X)) % 8})

    @pytest.mark.parametrize(
        "cv",
        [3, StratifiedKFold(4, shuffle=True, random_state=1), RepeatedStratifiedKFold(n_splits=2, n_repeats=2),
         ShuffleSplit(3, random_state=0), [(np.arange(80), np.arange(80, 120)), (np.arange(40, 120), np.arange(50))]],
    )  # fmt: skip
    def test_any_splitter(self, cv: Any) -> None:
        if isinstance(cv, RepeatedStratifiedKFold):
            cv.random_state = 0
        both(SVC(gamma=0.1), {"C": [0.1, 1.0]}, X, TWO, cv=cv)

    def test_several_scorers(self) -> None:
        scoring = {"a": "roc_auc", "b": make_scorer(accuracy_score), "c": "balanced_accuracy"}
        search = both(SVC(), {"C": [0.1, 1.0]}, X, TWO, scoring=scoring, refit="b")
        assert search.multimetric_
        assert set(search.scorer_) == {"a", "b", "c"}

    def test_function_of_model_and_objects(self) -> None:
        """Such a scorer may look at anything, so it is given the objects themselves."""

        def score(model: Any, objects: Any, y: Any) -> float:
            assert objects.shape[1] == 6
            return float((model.predict(objects) == y).mean() - 1e-3 * np.abs(objects).max())

        both(SVC(), {"C": [0.1, 1.0]}, X, TWO, scoring=score)

    def test_refit(self) -> None:
        grid = {"C": [0.1, 1.0]}
        with pytest.raises((AttributeError, NotFittedError)):
            KernelSearchCV(SVC(), grid, refit=False).fit(X, Y).predict(X)
        search = KernelSearchCV(SVC(), grid, refit=lambda results: 0).fit(X, Y)
        assert search.best_params_ == {"C": 0.1}


class TestNothingTwice:
    def test_one_gram_for_folds_and_penalties(self) -> None:
        Counted.values = 0
        KernelSearchCV(SVC(kernel=Counted()), {"C": [0.1, 1.0, 10.0]}, cv=5, n_jobs=1, refit=False).fit(X, TWO)
        assert Counted.values <= len(X) ** 2

    def test_one_measure_for_all_widths(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = counted_products(monkeypatch)
        search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1.0, "scale"]}, cv=3, refit=False)
        search.fit(X, TWO)
        assert seen[0] <= len(X) ** 2

    def test_later_penalties_begin_where_earlier_ones_ended(self) -> None:
        from mercer.estimators.sharing import Sharing

        steps = []
        for sharing in (None, Sharing()):
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
        with pytest.raises(ValueError, match="time_limit"):
            KernelSearchCV(SVC(), {"C": [1.0]}, time_limit=1e-9).fit(X, TWO)

    def test_time_limit_ends_a_long_fit(self) -> None:
        objects = np.random.default_rng(0).normal(size=(1500, 40))
        targets = np.random.default_rng(1).integers(0, 2, 1500)
        began = time.monotonic()
        estimator = SVC(kernel=kernels.Linear(), tol=1e-9, psd="ignore")
        grid = {"C": [1e-3, 1e6]}
        search = KernelSearchCV(estimator, grid, time_limit=1.5, refit=False, cv=2).fit(objects, targets)
        assert time.monotonic() - began < 10.0
        assert search.cv_results_["splits_done"][0] == 2

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


@dataclass(frozen=True)
class Counted(Kernel):
    """The dot product, counting."""

    domain = Vectors
    values: ClassVar[int] = 0

    def features(self, objects: Any, state: Any, dtype: Any) -> Any:
        return objects

    def tile(self, left: Any, right: Any, state: Any, out: Any) -> None:
        Counted.values += out.size
        out[...] = left.values @ right.values.T

    def diagonal(self, features: Any, state: Any) -> Any:
        return (features.values**2).sum(axis=1)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


@dataclass(frozen=True)
class Slow(Kernel):
    """The dot product, and a nap."""

    domain = Vectors

    def features(self, objects: Any, state: Any, dtype: Any) -> Any:
        return objects

    def tile(self, left: Any, right: Any, state: Any, out: Any) -> None:
        time.sleep(2.0)
        out[...] = left.values @ right.values.T

    def diagonal(self, features: Any, state: Any) -> Any:
        return (features.values**2).sum(axis=1)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
