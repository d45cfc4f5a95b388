"""Training on the features of a kernel gives the machine that its Gram matrix gives."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import mercer
from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    LinearSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    kernels,
)
from mercer.errors import MemoryBudgetError, ParameterError
from mercer.gram import expansion
from mercer.kernels.vectors import monomials
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.quantile import Quantile
from mercer.losses.squared import Squared
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.box import smo
from mercer.solvers.ridge import normal_equations
from mercer.solvers.weights import nu_newton
from mercer.training import matrix, on_features
from tests.training.texts import COUNTS, KERNEL, NEW, TEXTS, THREE, TWO, WEIGHTS


@pytest.fixture(autouse=True)
def few_objects_too(monkeypatch):
    """Small sets are trained on features as well, so that the tests can be quick."""
    monkeypatch.setattr(on_features, "cheaper", lambda *_, **__: True)


CASES = [
    (SVC(C=0.5, tol=1e-7), TWO, 1e-4),
    (SVC(C=0.5, tol=1e-7, fit_intercept=False), TWO, 1e-4),
    (SVC(C=0.5, tol=1e-7, class_weight="balanced"), THREE, 1e-4),
    (KernelMachineClassifier(SquaredHinge(), C=0.5, tol=1e-7), THREE, 1e-6),
    (KernelLogisticRegression(C=2.0, tol=1e-8), TWO, 1e-6),
    (KernelLogisticRegression(C=2.0, tol=1e-8), THREE, 1e-6),
    (SVR(C=1.0, tol=1e-7), COUNTS, 1e-3),
    (KernelQuantileRegressor((0.2, 0.7), C=0.5, tol=1e-7), COUNTS, 1e-3),
    (KernelQuantileRegressor(0.4, C=0.5, tol=1e-7, fit_intercept=False), COUNTS, 1e-3),
    (NuSVC(nu=0.4, tol=1e-6), TWO, 1e-4),
    (NuSVC(nu=0.3, tol=1e-6, class_weight="balanced"), THREE, 1e-4),
    (NuSVR(nu=0.4, C=0.5, tol=1e-6), COUNTS, 1e-3),
    (KernelMachineRegressor(Huber(0.5), tol=1e-8), COUNTS, 1e-6),
    (KernelRidge(alpha=0.1), COUNTS, 1e-8),
    (KernelRidge(alpha=[0.1, 3.0], fit_intercept=True), np.column_stack([COUNTS, THREE]), 1e-8),
    (KernelRidgeClassifier(alpha=0.1), THREE, 1e-8),
]


@pytest.mark.parametrize(("model", "targets", "close"), CASES, ids=[str(case[0])[:60] for case in CASES])
def test_both_ways_give_the_same_machine(model, targets, close):
    ways = {}
    for dual in (True, False):
        ways[dual] = clone(model).set_params(kernel=KERNEL, dual=dual).fit(TEXTS, targets, sample_weight=WEIGHTS)
    value = "decision_function" if hasattr(model, "decision_function") else "predict"
    found, wanted = (np.asarray(getattr(ways[dual], value)(NEW)) for dual in (False, True))
    np.testing.assert_allclose(found, wanted, atol=close * max(1.0, np.abs(wanted).max()))
    proof, other = ways[False].certificate_, ways[True].certificate_
    assert proof.primal == pytest.approx(other.primal, rel=1e-6)
    if not isinstance(model, NuSVC | NuSVR):  # their last digits may be left to working sets
        assert proof.kernel_entries <= 32 * len(TEXTS)
    again = ways[False].verify(TEXTS, targets, WEIGHTS)  # by kernel values, never by features
    assert again.primal == pytest.approx(proof.primal, rel=1e-9)
    assert again.dual == pytest.approx(proof.dual, rel=1e-9)
    assert again.relative_gap < 1e-6
    assert len(ways[False].explain(NEW)) == len(NEW)


@pytest.mark.parametrize(
    "model", [NuSVC(nu=0.4, tol=1e-6), NuSVR(nu=0.4, C=0.5, tol=1e-6), OneClassSVM(nu=0.3)], ids=str
)
def test_working_sets_take_products_by_features(model, monkeypatch):
    """With too many features for Newton's method the nu-forms go on by working sets, and still store no matrix."""
    targets = COUNTS if isinstance(model, NuSVR) else TWO
    wanted = clone(model).set_params(kernel=KERNEL, dual=True).fit(TEXTS, targets, sample_weight=WEIGHTS)
    monkeypatch.setattr(nu_newton, "MOST_FEATURES", 0)
    monkeypatch.setattr(smo, "DENSE", 16)
    monkeypatch.setattr("mercer.solvers.box.row_supply.RowCache", None)  # no row is kept
    found = clone(model).set_params(kernel=KERNEL, dual=False).fit(TEXTS, targets, sample_weight=WEIGHTS)
    value = "predict" if isinstance(model, NuSVR) else "decision_function"
    scale = max(1.0, np.abs(getattr(wanted, value)(NEW)).max())
    np.testing.assert_allclose(getattr(found, value)(NEW), getattr(wanted, value)(NEW), atol=1e-3 * scale)
    assert found.certificate_.kkt_violation <= 1.01 * model.tol


@pytest.mark.parametrize("region", ["plane", "ball"])
def test_one_class_by_features_is_that_of_the_matrix(region, tmp_path):
    model = OneClassSVM(kernel=KERNEL, nu=0.3, region=region, tol=1e-6)
    found, wanted = (clone(model).set_params(dual=dual).fit(TEXTS, sample_weight=WEIGHTS) for dual in (False, True))
    scale = np.abs(wanted.score_samples(NEW)).max()
    np.testing.assert_allclose(found.decision_function(NEW), wanted.decision_function(NEW), atol=1e-4 * scale)
    assert found.offset_ == pytest.approx(wanted.offset_, rel=1e-4)
    if region == "ball":
        assert found.radius_ == pytest.approx(wanted.radius_, rel=1e-4)
    proof, again = found.certificate_, found.verify(TEXTS, WEIGHTS)
    assert again.primal == pytest.approx(proof.primal, rel=1e-9)
    assert again.dual == pytest.approx(proof.dual, rel=1e-9)
    assert again.relative_gap < 1e-6
    mercer.save(found, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict(NEW), found.predict(NEW))


def test_no_margin_is_said_by_features_too():
    with pytest.raises(ParameterError, match="there is no margin"):
        NuSVC(nu=0.5, kernel="linear", dual=False).fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])


def test_smooth_losses_end_by_tol_like_on_a_matrix():
    for loss in (SquaredHinge(), "logistic", "smooth_hinge"):
        for C in (1e-3, 1.0, 1e3):
            model = KernelMachineClassifier(loss, C=C, kernel=KERNEL, dual=False, tol=1e-4).fit(TEXTS, TWO)
            assert model.certificate_.kkt_violation <= 1e-4


def test_probabilities_are_those_of_the_matrix():
    found, wanted = (
        SVC(kernel=KERNEL, C=0.5, probability=True, random_state=0, tol=1e-6, dual=dual).fit(TEXTS, THREE)
        for dual in (False, True)
    )
    assert found.calibration_.slopes == pytest.approx(wanted.calibration_.slopes, rel=1e-2, abs=1e-3)
    np.testing.assert_allclose(found.predict_proba(NEW), wanted.predict_proba(NEW), atol=1e-2)


def test_many_features_need_conjugate_gradients(monkeypatch):
    wanted = KernelRidge(alpha=0.1, kernel=KERNEL, fit_intercept=True, dual=True).fit(TEXTS, COUNTS, WEIGHTS)
    monkeypatch.setattr(normal_equations, "MOST_FEATURES", 3)
    found = KernelRidge(alpha=0.1, kernel=KERNEL, fit_intercept=True, dual=False).fit(TEXTS, COUNTS, WEIGHTS)
    np.testing.assert_allclose(found.dual_coef_, wanted.dual_coef_, atol=1e-7)
    assert found.intercept_ == pytest.approx(wanted.intercept_, abs=1e-7)


@pytest.mark.parametrize("cv", [None, 4], ids=["leave-one-out", "folds"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("kernel", [kernels.Linear(), kernels.Polynomial(degree=2, gamma="scale")], ids=str)
def test_cross_validation_by_features_is_that_of_the_matrix(kernel, form, cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * (rng.random((80, 3)) < 0.8)
    y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2] + 1.0]) + 0.1 * rng.normal(size=(80, 2))
    weights = rng.uniform(0.2, 2, 80)
    alphas = np.logspace(-4, 3, 8)
    found, wanted = (
        KernelRidgeCV(alphas, kernel=kernel, fit_intercept=True, cv=cv, store_cv_results=True, dual=dual).fit(
            form(X), y, weights
        )
        for dual in (False, True)
    )
    np.testing.assert_allclose(found.cv_predictions_, wanted.cv_predictions_, atol=1e-8)
    np.testing.assert_allclose(found.scores_, wanted.scores_)
    assert found.alpha_ == wanted.alpha_
    assert found.verify(form(X), y, weights).relative_gap < 1e-7  # what rounding in float64 leaves open included


def test_cross_validation_with_more_features_than_objects_goes_by_the_matrix():
    texts = TEXTS[:30]
    for dual in (False, True):
        model = KernelRidgeCV(kernel=kernels.Spectrum(p=4), dual=dual).fit(texts, COUNTS[:30])
        if dual is False:
            scores = model.scores_
    np.testing.assert_allclose(scores, model.scores_)
    with pytest.raises(MemoryBudgetError, match="features"):
        KernelRidgeCV(kernel=kernels.Spectrum(p=2), dual=False, memory=0.01).fit(TEXTS, COUNTS)


def on_features_by_itself(kernel, objects, loss, *, memory="auto", nu_form=False):
    """Whether a machine is trained on features where nothing is said about it."""
    fitted = kernel.fit(objects)
    settings = matrix.GramSettings("SVC", "auto", memory, "warn", nu_form=nu_form)
    return matrix.training_gram(settings, fitted, fitted.coerce(objects), [loss]).factor is not None


def test_the_way_that_costs_less_is_taken():
    X = np.random.default_rng(0).normal(size=(3000, 20))
    linear, square = kernels.Linear(), kernels.Polynomial(degree=2)
    for loss in (Hinge(), EpsilonInsensitive(), Logistic(), Squared()):
        assert on_features_by_itself(linear, X, loss)
        assert on_features_by_itself(linear, sp.csr_array(X), loss)
    assert not on_features_by_itself(linear, X[:100], Hinge())  # steps on a small matrix are quickly made
    assert on_features_by_itself(linear, X[:100], Logistic())
    assert not on_features_by_itself(linear, X[:20].T.repeat(20, axis=1), Logistic())  # more features than objects
    assert not on_features_by_itself(linear, X[:1000], Hinge(), nu_form=True)
    assert on_features_by_itself(linear, X, Hinge(), nu_form=True)
    assert not on_features_by_itself(square, X[:1000, :10].repeat(10, axis=1), Logistic())  # 5,151 monomials
    assert on_features_by_itself(square, X[:, :2], Hinge())
    assert not on_features_by_itself(kernels.RBF(), X[:200], Logistic())
    assert not on_features_by_itself(kernels.GapWeighted(p=2), TEXTS, Logistic())
    assert not on_features_by_itself(kernels.BlendedSpectrum(p=5), TEXTS, Hinge())


def test_a_matrix_beyond_memory_is_not_needed():
    few = kernels.Spectrum(p=1)
    assert not on_features_by_itself(few, TEXTS, Hinge())
    assert on_features_by_itself(few, TEXTS, Hinge(), memory=0.05)  # the matrix would take 58 KB
    with pytest.raises(MemoryBudgetError):
        SVR(kernel=few, memory=0.001).fit(TEXTS, COUNTS)  # neither fits


class OwnQuantile(Loss):
    """A loss with kinks of one's own, which solvers know by its dual alone."""

    smooth, classifies, _same = False, False, Quantile(0.5)

    def value(self, y, f):
        return self._same.value(y, f)

    def slope(self, y, f):
        return self._same.slope(y, f)

    def curvature(self, y, f):
        return self._same.curvature(y, f)

    def conjugate(self, y, a):
        return self._same.conjugate(y, a)

    def dual(self, y, C):
        return self._same.dual(y, C)

    @classmethod
    def examples(cls):
        yield cls()


@dataclass(frozen=True)
class WithoutDual(OwnQuantile):
    """The same without a dual, so that no solver can take its kinks."""

    def dual(self, y, C):
        return None


def test_bad_wishes_are_answered_before_any_work():
    with pytest.raises(ParameterError, match="has no explicit features"):
        SVC(kernel=kernels.GapWeighted(p=2), dual=False).fit(TEXTS, TWO)
    with pytest.raises(ParameterError, match="hard margin"):
        SVC(kernel=KERNEL, C=np.inf, dual=False).fit(TEXTS, TWO)
    with pytest.raises(ParameterError, match="True, False or 'auto'"):
        KernelRidge(kernel=KERNEL, dual="yes").fit(TEXTS, COUNTS)
    with pytest.raises(ParameterError, match="has no explicit features"):
        KernelQuantileRegressor(kernel="rbf", dual=False).fit([[0.0], [1.0]], [0.0, 1.0])
    for model in (KernelRidgeCV(), NuSVR(), NuSVC(), OneClassSVM()):
        with pytest.raises(ParameterError, match="has no explicit features"):
            model.set_params(kernel="rbf", dual=False).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ParameterError, match="No exact solver is known"):
        KernelMachineRegressor(WithoutDual(), kernel=KERNEL, dual=False).fit(TEXTS, COUNTS)


def test_a_loss_of_ones_own_is_trained_on_features_by_its_dual():
    own, known = (
        KernelMachineRegressor(loss, kernel=KERNEL, dual=False, tol=1e-6).fit(TEXTS, COUNTS)
        for loss in (OwnQuantile(), Quantile(0.5))
    )
    np.testing.assert_allclose(own.predict(TEXTS), known.predict(TEXTS), atol=1e-4)
    with pytest.raises(ParameterError, match="with explicit features"):
        LinearSVC(kernel=kernels.RBF()).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="kernel"):
        LinearSVC(kernel=3).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kernel", [KERNEL, kernels.GappedKmer(l=4, k=2), kernels.Mismatch("ACGT", p=2)], ids=str)
def test_folded_machines_predict_the_same(kernel, monkeypatch):
    model = SVC(kernel=kernel, C=10.0).fit(TEXTS, THREE)
    wanted = model.decision_function(NEW)
    monkeypatch.setattr(expansion, "pays", lambda *_: True)
    again = pickle.loads(pickle.dumps(model))
    monkeypatch.setattr("mercer.gram.expansion.gram_of", None)  # no kernel value is computed any more
    np.testing.assert_allclose(again.decision_function(NEW), wanted, atol=1e-9)
    np.testing.assert_allclose(again.decision_function(NEW[:1]), wanted[:1], atol=1e-9)
    assert b"Vocabulary" not in pickle.dumps(again)


def test_folded_vectors_predict_the_same(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = KernelRidge(kernel=kernels.Polynomial(degree=2)).fit(X, X[:, 0] * X[:, 1])
    wanted = model.predict(X)
    monkeypatch.setattr(expansion, "pays", lambda *_: True)
    again = pickle.loads(pickle.dumps(model))
    monkeypatch.setattr("mercer.gram.expansion.gram_of", None)
    np.testing.assert_allclose(again.predict(X), wanted, atol=1e-9)


def noisy(n=60):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=n)


@pytest.mark.parametrize("kernel", [kernels.Polynomial(3), 0.5 * kernels.Polynomial(3) + kernels.Linear()], ids=str)
def test_ridge_on_few_objects_writes_none_of_many_monomials(monkeypatch, kernel):
    X, y = noisy()
    X = np.hstack([X, X**2, np.sin(X)])
    wanted = KernelRidgeCV([0.1, 1.0], kernel=kernel, dual=True).fit(X, y)
    monkeypatch.setattr(monomials.Monomials, "rows", None)
    found = KernelRidgeCV([0.1, 1.0], kernel=kernel, dual=False).fit(X, y)
    assert found.alpha_ == wanted.alpha_
    np.testing.assert_allclose(found.predict(X), wanted.predict(X))


@pytest.mark.parametrize(
    "kernel", [kernels.Polynomial(2), kernels.Polynomial(3, coef0=0.0), kernels.Polynomial(0)], ids=str
)
def test_monomials_are_counted_as_they_are_written(kernel):
    X, _ = noisy()
    fitted = kernel.fit(X)
    assert fitted.feature_map().columns_at_least(fitted.coerce(X)) == kernel.feature_matrix(X).matrix.shape[1]
