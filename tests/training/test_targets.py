"""Masked entries of targets and weights are refused by every learner: NumPy would let what they hide count."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import mercer
from mercer import SVC, KernelSearchCV, MultipleKernelMachine, kernels
from mercer._registry import ESTIMATORS
from mercer.errors import InputError

N = 24
HIDDEN = [3, 10]
X = np.random.default_rng(0).normal(size=(N, 2))
CLASSES = (X[:, 0] > np.median(X[:, 0])).astype(int)
NUMBERS = np.sin(X[:, 0]) + X[:, 1]
WEIGHTS = np.linspace(0.5, 1.5, N)

LEARNERS = {name: getattr(mercer, name)() for name in ESTIMATORS}
UNSUPERVISED = {"KernelPCA", "KernelKMeans", "SpectralClustering"}
TARGETED = [name for name, learner in LEARNERS.items() if get_tags(learner).target_tags.required]
WEIGHTED = [name for name, learner in LEARNERS.items() if has_fit_parameter(learner, "sample_weight")]
VERIFIED = [name for name, learner in LEARNERS.items() if hasattr(learner, "verify")]
TABLES = [("KernelRidge", NUMBERS), ("KernelRidgeCV", NUMBERS), ("KernelRidgeClassifier", CLASSES)]


def masked(values):
    hidden = np.zeros(values.shape, dtype=bool)
    hidden[HIDDEN, ...] = True
    return np.ma.array(values, mask=hidden)


def targets_of(name):
    return CLASSES if is_classifier(LEARNERS[name]) else NUMBERS


def given_to(name):
    """What `fit` and `verify` take after the objects."""
    return {"y": targets_of(name)} if name in TARGETED else {}


def fresh(name):
    return getattr(mercer, name)()


def refusal(owner, where="row 3", count=2):
    return pytest.raises(
        InputError,
        match=f"^{owner} is a masked array whose entry at {where} is masked, the first of {count}. "
        "Fill masked entries, or leave out the objects that have them",
    )


def test_no_learner_is_forgotten():
    assert LEARNERS.keys() - {*TARGETED, *WEIGHTED} == UNSUPERVISED


@pytest.mark.parametrize("name", TARGETED)
def test_targets(name):
    with refusal("y"):
        fresh(name).fit(X, masked(targets_of(name)))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights(name):
    with refusal("sample_weight"):
        fresh(name).fit(X, **given_to(name), sample_weight=masked(WEIGHTS))


@pytest.mark.parametrize(("name", "column"), TABLES)
def test_tables_of_targets(name, column):
    table = np.ma.array(np.column_stack([column, column[::-1]]))
    table[HIDDEN, 1] = np.ma.masked
    with refusal("y", "row 3, column 1"):
        fresh(name).fit(X, table)


@pytest.mark.parametrize("name", VERIFIED)
def test_verification(name):
    given = given_to(name)
    model = fresh(name).fit(X, **given)
    with refusal("sample_weight"):
        model.verify(X, **given, sample_weight=masked(WEIGHTS))
    if given:
        with refusal("y"):
            model.verify(X, masked(given["y"]))


@pytest.mark.parametrize("name", [*TARGETED, "OneClassSVM"])
def test_a_mask_that_hides_nothing_is_fine(name):
    given = given_to(name) | ({"sample_weight": WEIGHTS} if name in WEIGHTED else {})
    model = fresh(name).fit(X, **given)
    same = fresh(name).fit(X, **{key: np.ma.array(values, mask=False) for key, values in given.items()})
    output = "predict" if hasattr(model, "predict") else "transform"
    assert np.array_equal(getattr(model, output)(X), getattr(same, output)(X))
    assert not isinstance(getattr(same, "classes_", None), np.ma.MaskedArray)


def test_one_masked_entry_and_masked_text():
    with pytest.raises(InputError, match="entry at row 5 is masked, the only one"):
        SVC().fit(X, np.ma.array(CLASSES, mask=np.arange(N) == 5))
    with refusal("y"):
        SVC().fit(X, masked(np.array(["no", "yes"])[CLASSES]))


@pytest.mark.parametrize("name", ["PrimalPerceptron", "SubgradientSVM"])
def test_objects_of_machines_without_a_kernel(name):
    with refusal("X", "row 3, column 0", count=4):
        fresh(name).fit(masked(X), CLASSES)
    with refusal("X", "row 3, column 0", count=4):
        fresh(name).fit(X, CLASSES).predict(masked(X))


def test_the_second_view():
    model = fresh("KernelCCA").fit(X, NUMBERS)
    with refusal("y"):
        model.transform(X, masked(NUMBERS))


def test_searches_and_learnt_kernels():
    search = KernelSearchCV(SVC(), {"C": [1.0]}, cv=2, refit=False)
    with refusal("y"):
        search.fit(X, masked(CLASSES))
    with refusal("sample_weight"):
        search.fit(X, CLASSES, sample_weight=masked(WEIGHTS))
    machine = MultipleKernelMachine(SVC(), [kernels.Linear(), kernels.RBF(gamma=1.0)])
    with refusal("y"):
        machine.fit(X, masked(CLASSES))
    with refusal("sample_weight"):
        machine.fit(X, CLASSES, sample_weight=masked(WEIGHTS))
    with refusal("y"):
        mercer.compare([kernels.Linear()], X, masked(CLASSES))
    with refusal("y"):
        mercer.diagnose(kernels.Linear(), X, masked(CLASSES))
