"""Comparisons against scikit-learn's cross-validation of the same machines."""

import json

import numpy as np
import pytest
from sklearn import svm
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, compare, kernels
from mercer.errors import InputError, ParameterError
from mercer.theory.alignment import kernel_target_alignment

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], 20)
X = RNG.normal(size=(60, 3)) + 2.0 * np.repeat(np.eye(3), 20, axis=0)
WORDS = ["gattaca", "gattica", "gatta", "gattacca", "ccgcg", "cgcgc", "cgccg", "gcgcc"]


@pytest.mark.parametrize(
    "kernel", [kernels.RBF(0.3), kernels.RBF(), kernels.Linear(), kernels.Centred(kernels.Linear())], ids=str
)
def test_scores_are_those_of_an_exhaustive_search(kernel):
    """Shared or fitted per fold, the score is that of a machine trained on the training part alone."""
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    found = compare([kernel], X, Y, C=0.7, cv=folds).best
    assert found.C == 0.7
    assert found.shared == (not isinstance(kernel, kernels.Centred))
    expected = [
        SVC(kernel=kernel, C=0.7).fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds.split(X, Y)
    ]
    assert found.scores.tolist() == expected
    assert found.score == np.mean(expected)
    assert found.spread == np.std(expected)
    assert found.alignment == pytest.approx(kernel_target_alignment(kernel.fit(X)(X), np.repeat([0, 1, 2], 20)))


def test_one_matrix_for_all_folds():
    """Of a kernel whose scale alone depends on the data, the distances are shared."""
    for kernel in (kernels.RBF(0.3), kernels.RBF()):
        assert 0 < compare([kernel], X, Y, cv=5).best.entries <= 60 * 60
    assert compare([kernels.Centred(kernels.Linear())], X, Y, cv=5).best.entries > 5 * 48 * 48


def test_scale_of_a_kernel_does_not_matter():
    one, two = compare({"plain": kernels.Linear(), "scaled": 1e6 * kernels.Linear()}, X, Y)
    assert one.score == two.score


def test_ranked_and_shown():
    found = compare({"short": kernels.Spectrum(2), "long": "spectrum(p=7)"}, WORDS, [1] * 4 + [0] * 4, cv=4)
    assert [row.name for row in found] == ["short", "long"]
    assert found[0].score == 1.0
    assert len(found) == 2
    assert found.scoring == "accuracy"
    assert found.folds == 4
    assert json.loads(found.to_json())["rows"][0]["name"] == "short"
    assert str(found).splitlines()[1].startswith("1  short")
    assert "<td" in found._repr_html_()


def test_numbers_and_other_scorers():
    t = np.linspace(0, 6, 60)[:, None]
    found = compare(["rbf(gamma=1.0)", "linear()"], t, np.sin(t[:, 0]))
    assert found.best.name == "rbf(gamma=1.0)"
    assert found.best.score > 0.99
    assert found.scoring == "R^2"
    balanced = compare([kernels.RBF(0.3)], X, Y, scoring="balanced_accuracy", C=1.0)
    assert balanced.scoring == "balanced_accuracy"
    assert 0.5 < balanced.best.score <= 1
    own = compare([kernels.RBF(0.3)], X, Y, estimator=SVC(class_weight="balanced", psd="ignore"))
    assert own.best.score > 0.5


def test_a_kernel_that_fails_comes_last():
    lopsided = kernels.FromFunction(lambda a, b: float(a[0] * b[1]), objects="vectors")
    found = compare({"bad": lopsided, "good": kernels.Linear()}, X, Y)
    assert [row.name for row in found] == ["good", "bad"]
    assert "not symmetric" in found[1].failed
    assert "failed" in str(found)
    json.loads(found.to_json())


def test_warnings_become_notes():
    found = compare({"flat": kernels.RBF(1e-30)}, X, Y)
    assert any("constant" in note for note in found.best.notes)


def test_agrees_with_cross_val_score():
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    found = compare([kernels.Linear()], X, Y, cv=folds).best
    expected = cross_val_score(SVC(kernel=kernels.Linear(), C=found.C), X, Y, cv=folds)
    assert found.scores.tolist() == expected.tolist()


def test_machines_of_scikit_learn():
    """They train on the same matrices, as precomputed ones."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    found = compare([kernels.RBF(0.3)], X, Y, estimator=svm.SVC(), C=2.0, cv=folds).best
    assert found.scores.tolist() == cross_val_score(svm.SVC(gamma=0.3, C=2.0), X, Y, cv=folds).tolist()


def test_refusals():
    with pytest.raises(InputError, match="listed twice"):
        compare([kernels.RBF(), "rbf()"], X, Y)
    with pytest.raises(InputError, match="empty"):
        compare([], X, Y)
    with pytest.raises(InputError, match="same label"):
        compare([kernels.RBF()], X, ["a"] * 60)
    with pytest.raises(InputError, match="class 'a' has 20"):
        compare([kernels.RBF()], X, Y, cv=21)
    with pytest.raises(ParameterError, match="'C' parameter of compare"):
        compare([kernels.RBF()], X, Y, C=[1.0, -1.0])
