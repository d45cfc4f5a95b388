"""Racing drops what is hopeless, and nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from mercer import SVC, KernelSearchCV, kernels
from mercer.selection.racing import hopeful

X, Y = make_classification(200, 6, n_informative=4, class_sep=1.5, random_state=0)


class TestHopeful:
    def test_clearly_worse_settings_go(self) -> None:
        best = np.array([0.90, 0.92, 0.91])
        scores = np.stack([best, best - [0.001, -0.001, 0.002], best - [0.3, 0.32, 0.31], [np.nan, 0.9, 0.9]])
        assert hopeful(scores).tolist() == [True, True, False, False]

    def test_one_fold_decides_nothing(self) -> None:
        assert hopeful(np.array([[0.9], [0.1]])).all()
        assert hopeful(np.full((3, 2), np.nan)).all()

    def test_agreement_by_chance_is_not_believed(self) -> None:
        """Behind by the very same amount on two folds, while others differ much more from fold to fold."""
        noisy = np.array([[0.90, 0.90], [0.89, 0.89], [0.80, 0.95], [0.96, 0.80], [0.70, 0.99]])
        assert hopeful(noisy)[1]

    @given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6))
    def test_the_best_so_far_stays(self, rows: list[list[float]]) -> None:
        scores = np.array(rows)
        keep = hopeful(scores)
        assert keep[scores.mean(axis=1).argmax()]


def test_race_finds_the_best_of_the_exhaustive_search_with_fewer_fits() -> None:
    grid = {"gamma": [1e-5, 0.01, 0.1, 50.0], "C": [0.001, 1.0, 10.0]}
    wanted = KernelSearchCV(SVC(), grid, cv=6).fit(X, Y)
    search = KernelSearchCV(SVC(), grid, cv=6, racing=True).fit(X, Y)
    done = search.cv_results_["splits_done"]
    assert search.best_params_ == wanted.best_params_
    assert search.best_score_ == wanted.best_score_
    assert not search.complete_
    assert done.sum() < 0.8 * 6 * 12
    assert done.min() >= 2
    complete = done == 6
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(search.cv_results_[name][complete], wanted.cv_results_[name][complete])
    assert np.isnan(search.cv_results_["mean_test_score"][~complete]).all()


def test_race_over_several_matrices_and_scorers() -> None:
    grid = {"kernel": [kernels.Linear(), kernels.RBF(0.1), kernels.Laplacian(0.1), kernels.Centred(kernels.Linear())]}
    search = KernelSearchCV(SVC(), grid, racing=True, scoring=["accuracy", "roc_auc"], refit="accuracy").fit(X, Y)
    assert search.best_score_ > 0.8
