"""Nested cross-validation against scikit-learn's, and against a search that only has luck."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score

from mercer import SVC, KernelSearchCV, kernels, nested_cross_validate
from mercer.inputs.strings import Strings

X, Y = make_classification(120, 5, random_state=0)
GRID = {"C": [0.1, 1.0], "gamma": [0.1, "scale"]}


def test_equals_scikit_learn() -> None:
    outer = StratifiedKFold(4, shuffle=True, random_state=0)
    wanted = cross_val_score(GridSearchCV(SVC(tol=1e-8), GRID, cv=3), X, Y, cv=outer)
    found = nested_cross_validate(KernelSearchCV(SVC(tol=1e-8), GRID, cv=3), X, Y, cv=outer)
    np.testing.assert_array_equal(found.scores, wanted)
    assert found.mean == wanted.mean()
    assert len(found.params) == len(found.best_scores) == 4


def test_luck_is_seen_through() -> None:
    """Labels that nothing can predict: the search finds a good score, nested cross-validation does not."""
    generator = np.random.default_rng(0)
    noise, labels = generator.normal(size=(120, 8)), np.arange(120) % 2
    guesses = [kernels.RBF(gamma=tuple(generator.exponential(size=8) ** 3)) for _ in range(30)]
    search = KernelSearchCV(SVC(), {"kernel": guesses}, cv=3)
    found = nested_cross_validate(search, noise, labels, cv=5)
    assert found.optimism > 0.05
    assert abs(found.mean - 0.5) < 3 * 0.5 / np.sqrt(120)  # tossing a coin: three standard errors
    assert "the search says" in str(found)


def test_groups_scorers_and_objects() -> None:
    groups = np.arange(120) % 6
    search = KernelSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=GroupKFold(3))
    found = nested_cross_validate(search, X, Y, cv=GroupKFold(3), scoring="roc_auc", groups=groups)
    assert (found.scores > 0.5).all()
    strings = Strings.coerce(["ab" * (1 + i % 5) if i % 2 else "ba" * (1 + i % 4) + "c" for i in range(40)])
    search = KernelSearchCV(SVC(kernel=kernels.Spectrum(2)), {"C": [1.0]}, cv=2)
    assert nested_cross_validate(search, strings, np.arange(40) % 2, cv=2).mean == 1.0


def test_bad_splitter() -> None:
    with pytest.raises(ValueError):
        nested_cross_validate(KernelSearchCV(SVC(), GRID), X, Y, cv="many")
