"""Indefinite kernels repaired: every learner on the repaired matrix, and predictions by the same rule."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    kernels,
)
from mercer.errors import KernelError, KernelWarning
from mercer.gram.make import gram_of
from mercer.losses.squared_hinge import SquaredHinge
from mercer.training import matrix as matrix_module

X = StandardScaler().fit_transform(load_iris().data)
KERNEL = kernels.Sigmoid(gamma=0.8, coef0=-0.5)
K = KERNEL.fit(X)(X)
VALUES, VECTORS = np.linalg.eigh(K)
LEARNERS = [
    SVC(tol=1e-8),
    NuSVC(nu=0.3, tol=1e-8),
    KernelLogisticRegression(tol=1e-9),
    KernelMachineClassifier(SquaredHinge(), tol=1e-9),
    KernelRidgeClassifier(),
    SVR(tol=1e-8),
    NuSVR(tol=1e-8),
    KernelQuantileRegressor((0.2, 0.8), tol=1e-8),
    KernelRidge(),
    KernelRidgeCV(),
    OneClassSVM(tol=1e-8),
]


def repaired(mode):
    if mode == "shift":
        return K - VALUES[0] * np.eye(len(K))
    return (VECTORS * (np.maximum(VALUES, 0.0) if mode == "clip" else np.abs(VALUES))) @ VECTORS.T


def targets(model, classes=2):
    if isinstance(model, SVR | KernelRidge | KernelQuantileRegressor):
        return X[:, 0] + np.sin(X[:, 1])
    return np.minimum(load_iris().target, classes - 1)


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def test_the_kernel_is_indefinite():
    assert VALUES[0] < -0.1


@pytest.mark.parametrize("mode", ["clip", "flip"])
@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_on_training_objects_are_those_of_the_repaired_matrix(model, mode, classes):
    y = targets(model, classes)
    ours = model.set_params(kernel=KERNEL, psd=mode).fit(X, y)
    matrix = repaired(mode)
    mine = values(ours, X)
    exact = model.set_params(kernel="precomputed", psd="ignore").fit((matrix + matrix.T) / 2, y)
    np.testing.assert_allclose(mine, values(exact, matrix), atol=2e-5 * (1 + np.abs(mine).max()))
    model.set_params(kernel=KERNEL, psd="warn")


@pytest.mark.parametrize("mode", ["clip", "flip", "shift"])
@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_certificates_are_of_the_repaired_matrix_and_files_keep_them(model, mode, tmp_path):
    y = targets(model, 3)
    model.set_params(kernel=KERNEL, psd=mode).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    # BLAS rounds a product by where its arrays lie in memory: a loaded model may differ in the last bit.
    np.testing.assert_allclose(values(again, X), values(model, X), rtol=1e-13, atol=1e-14)
    for one in (model, again):
        proof = one.verify(X) if isinstance(one, OneClassSVM) else one.verify(X, y)
        assert proof.kkt_violation <= 1e-5
        assert proof.primal == pytest.approx(model.certificate_.primal, rel=1e-6, abs=1e-6)
        assert -1e-9 <= proof.duality_gap < 1e-4 * max(1.0, abs(proof.primal))


@pytest.mark.parametrize(("mode", "wanted"), [("clip", [2.0, 0.0, 0.0, 0.0]), ("flip", [2.0, 1.0, 0.0, 0.0])])
def test_eigenvalues_that_are_rounding_are_none(mode, wanted):
    diagonal = np.diag([2.0, -1.0, 3e-16, -3e-16])  # its eigenvectors are exact
    kernel = kernels.Precomputed()
    gram = gram_of(kernel.fit(diagonal), kernel.coerce(diagonal))
    found = matrix_module.guard("SVC", kernel, gram, mode)
    assert found.gram.exact().tolist() == np.diag(wanted).tolist()
    assert found.expanded(np.ones((4, 1)))[:, 0].tolist() == np.sign(wanted * diagonal.diagonal()).tolist()


@pytest.mark.parametrize("model", [SVC(tol=1e-8), KernelRidge(), SVR(tol=1e-8)], ids=lambda m: type(m).__name__)
def test_a_shift_leaves_new_similarities_as_they_are(model):
    y = targets(model)
    ours = model.set_params(kernel=KERNEL, psd="shift").fit(X, y)
    new = np.random.default_rng(0).normal(size=(20, 4))
    mine, across = values(ours, new), KERNEL.fit(X)(new, X)
    exact = model.set_params(kernel="precomputed", psd="ignore").fit(repaired("shift"), y)
    np.testing.assert_allclose(mine, values(exact, across), atol=1e-5)
    model.set_params(kernel=KERNEL, psd="warn")


@pytest.mark.parametrize("mode", ["clip", "flip", "shift"])
def test_what_needs_no_repair_is_left_alone(mode):
    y = load_iris().target
    for kernel in ("rbf", "precomputed"):
        given = X if kernel == "rbf" else X @ X.T
        plain, mended = SVC(kernel=kernel).fit(given, y), SVC(kernel=kernel, psd=mode).fit(given, y)
        assert np.array_equal(plain.decision_function(given), mended.decision_function(given))
        assert mended._repair is None


def test_real_data_with_the_sigmoid():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with pytest.warns(KernelWarning, match="psd='clip', 'flip' or 'shift'"):
        SVC(kernel="sigmoid", gamma=0.2).fit(X, y)
    for mode in ("clip", "flip", "shift"):
        model = SVC(kernel="sigmoid", gamma=0.2, psd=mode, probability=True, random_state=0).fit(X[:400], y[:400])
        assert model.score(X[400:], y[400:]) > 0.85
        assert model.certificate_.relative_gap < 2e-2
        assert (model.predict_proba(X).argmax(axis=1) == model.predict(X)).all()


def test_a_repaired_matrix_has_no_gaussian_process():
    model = KernelRidge(kernel=KERNEL, psd="clip").fit(X, X[:, 0])
    with pytest.raises(KernelError, match="repaired"):
        model.predict(X, return_std=True)


@pytest.mark.parametrize("repair", ["clip", "flip"])
def test_repairs_leave_directions_of_no_length_alone(repair):
    """Eigenvalues that are rounding errors have a sign of no meaning: coefficients along them would be noise."""
    random = np.random.default_rng(0)
    F = random.normal(size=(30, 6))
    K = F @ np.diag([3.0, 2.0, 1.0, 0.5, -0.5, -1.0]) @ F.T
    gram = gram_of(kernels.Precomputed().fit(K), K, dtype=np.float64).stored()
    guarded = matrix_module._repaired(gram, repair)
    values, vectors = np.linalg.eigh(K)
    nothing = vectors[:, np.abs(values) < 1e-9]
    assert nothing.shape == (30, 24)
    found = guarded.expanded(random.normal(size=(30, 2)))
    assert np.abs(nothing.T @ found).max() < 1e-10
    assert np.abs(found).max() > 0.01
    assert np.abs(nothing.T @ guarded.gram.exact()).max() < 1e-10
