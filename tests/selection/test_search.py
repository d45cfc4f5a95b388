"""KernelSearchCV against scikit-learn's exhaustive GridSearchCV."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
from tests.selection.searches import LABELS, STRINGS, TWO, A, B, X, Y, both


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
