"""A weight of two is two objects where a kernel reads a parameter off the data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from mercer import SVC, SVR, KernelLogisticRegression, KernelRidge, KernelSearchCV, NuSVC, NuSVR, kernels
from mercer.kernels.weighing import weighing, weights_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) * [1.0, 3.0, 0.2]
WEIGHTS = RNG.integers(0, 4, size=30)
COPIES = np.repeat(np.arange(30), WEIGHTS)
READING = [
    kernels.RBF(),
    kernels.RBF(gamma="median"),
    kernels.Laplacian(),
    kernels.Laplacian(gamma="median"),
    kernels.Polynomial(degree=2, gamma="scale"),
    kernels.RBF() + 0.5 * kernels.RBF(gamma="median"),
    kernels.RBF(gamma="scale", over=kernels.Polynomial(degree=2)),
    kernels.pull_back(kernels.RBF(), lambda rows: rows[:, :2]),
]


def numbers(state):
    return [float(value) for name, value in state.values.items() if name == "gamma"] + [
        number for part in state.parts for number in numbers(part)
    ]


@pytest.mark.parametrize("kernel", READING, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_weights_are_copies(kernel, layout):
    if layout is sp.csr_array and "pull_back" in str(kernel):
        layout = np.asarray  # its function takes arrays
    with weighing(WEIGHTS):
        weighted = kernel.fit(layout(X))
    found = numbers(weighted.state)
    assert found
    np.testing.assert_allclose(found, numbers(kernel.fit(layout(X[COPIES])).state), rtol=1e-12)
    assert found != numbers(kernel.fit(layout(X)).state)


@pytest.mark.parametrize("kernel", READING, ids=str)
def test_equal_weights_change_no_bit(kernel):
    for equal in (None, np.ones(30), np.full(30, 0.1)):
        with weighing(equal):
            assert numbers(kernel.fit(X).state) == numbers(kernel.fit(X.copy()).state)


def test_weights_of_other_objects_are_nobodys():
    with weighing(WEIGHTS):
        assert weights_of(X[:7]) is None
        assert weights_of(X) is not None
        with weighing(None):
            assert weights_of(X) is None
    assert weights_of(X) is None


def test_twins_of_scikit_learn_have_its_gamma():
    y = (X[:, 0] > 0).astype(int)
    weights = WEIGHTS + 0.5
    for model in (SVC(), SVR(), NuSVC(nu=0.1), NuSVR()):
        assert model.fit(X, y, weights).kernel_.state.number("gamma") == pytest.approx(1.0 / (3 * X.var()))
    assert KernelLogisticRegression().fit(X, y, weights).kernel_.state.number("gamma") != pytest.approx(
        1 / (3 * X.var())
    )


@pytest.mark.parametrize("model", [SVC(gamma=0.5), SVR(gamma=0.5), NuSVC(nu=0.1, gamma=0.5), NuSVR(gamma=0.5)], ids=str)
def test_twins_pass_the_check_with_a_gamma_of_their_own(model):
    check_sample_weight_equivalence_on_dense_data(type(model).__name__, model.set_params(tol=1e-12))


@pytest.mark.parametrize(
    "model", [SVC(), KernelLogisticRegression(), KernelRidge(kernel="rbf", gamma="scale")], ids=str
)
def test_a_search_weighs_as_its_machine_does(model):
    rows, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    name = "alpha" if isinstance(model, KernelRidge) else "C"
    grid = {name: [0.1, 10.0]}
    ours = KernelSearchCV(model, grid, cv=3).fit(rows, y, sample_weight=weights)
    theirs = GridSearchCV(model, grid, cv=3).fit(rows, y, sample_weight=weights)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9)
