"""Machines trained on a part of the objects, if the time limit allows no more."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from mercer import (
    GradientKernelMachine,
    KernelKMeans,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelPerceptron,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVR,
    OneClassSVM,
    _deadline,
    kernels,
)
from mercer.errors import TimeLimitError
from mercer.gram.make import gram_of
from mercer.losses.squared_hinge import SquaredHinge
from mercer.training import on_a_part
from mercer.training.nu import train_nu_classifier, train_nu_regressor

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(1500, 3)), RNG.normal(size=(500, 3))


def classes(rows):
    return np.where(rows[:, 0] + rows[:, 1] ** 2 > 1, "far", "near")


def numbers(rows):
    return np.sin(2 * rows[:, 0]) + rows[:, 1]


FORMS = {
    "KernelLogisticRegression": (KernelLogisticRegression(), classes),
    "KernelLogisticRegression of three": (
        KernelLogisticRegression(),
        lambda rows: np.digitize(rows[:, 0], [-0.5, 0.5]),
    ),
    "KernelMachineClassifier": (
        KernelMachineClassifier(SquaredHinge()),
        lambda rows: np.digitize(rows[:, 0], [-0.5, 0.5]),
    ),
    "KernelMachineRegressor": (KernelMachineRegressor(), numbers),
    "KernelQuantileRegressor": (KernelQuantileRegressor((0.4, 0.6)), numbers),
    "KernelRidge": (KernelRidge(kernel="rbf", alpha=0.1), numbers),
    "KernelRidge of two": (
        KernelRidge(kernel="rbf", alpha=0.1),
        lambda rows: np.column_stack([numbers(rows), rows[:, 2]]),
    ),
    "KernelRidgeClassifier": (KernelRidgeClassifier(alpha=0.1), classes),
    "plane": (OneClassSVM(nu=0.3), None),
    "ball": (OneClassSVM(nu=0.3, region="ball"), None),
}


@pytest.fixture
def short(monkeypatch):
    """Time seems too short for a first product, and long enough for parts that grow once or twice."""
    monkeypatch.setattr(on_a_part, "_FIRST", 1e-12)
    monkeypatch.setattr(on_a_part, "_FEWEST", 100)
    monkeypatch.setattr(on_a_part, "_MATRIX", 1e-9)


@pytest.mark.parametrize("name", FORMS)
def test_a_part_stands_for_all(name, short):
    model, target = FORMS[name]
    targets = () if target is None else (target(X),)
    model.set_params(time_limit=None)
    exact = model.fit(X, *targets)
    best = exact.certificate_.primal if target is None else exact.score(NEW, target(NEW))
    with pytest.warns(ConvergenceWarning, match="allowed training on only a part of the objects"):
        model.set_params(time_limit=60.0).fit(X, *targets)
    assert 20 < np.count_nonzero(np.any(model.expansion_.coefficients, axis=1)) < 1400
    assert "not known" in str(model.certificate_)
    proof = model.verify(X, *targets)
    assert np.isfinite(proof.primal)
    assert proof.dual <= proof.primal
    if target is None:
        assert proof.dual == -np.inf
        assert proof.primal == pytest.approx(best, rel=0.05)
        assert np.mean(model.predict(NEW) < 0) == pytest.approx(0.3, abs=0.08)
    else:
        assert model.score(NEW, target(NEW)) > best - 0.08


def test_two_classes(short):
    fitted, signs = kernels.RBF().fit(X), np.where(classes(X) == "far", 1.0, -1.0)
    gram = gram_of(fitted, X)
    assert not gram.in_memory
    with _deadline.limited(60.0):
        machine, penalty = train_nu_classifier(gram, signs, np.ones(1500), 0.2, tol=1e-3)
    assert machine.status is on_a_part.Status.OF_A_PART
    used = np.flatnonzero(machine.coefficients)
    assert 20 < len(used) < 1400
    assert np.isinf(machine.certificate.kkt_violation)
    values = gram_of(fitted, NEW, X).matvec(machine.coefficients) + machine.intercept
    assert np.mean((values > 0) == (classes(NEW) == "far")) > 0.9
    exact, own = train_nu_classifier(gram, signs, np.ones(1500), 0.2, tol=1e-3)
    assert exact.converged
    assert penalty == pytest.approx(own, rel=0.5)


def test_numbers(short):
    fitted = kernels.RBF().fit(X)
    with _deadline.limited(60.0):
        machine, width = train_nu_regressor(gram_of(fitted, X), numbers(X), np.ones(1500), 0.5, tol=1e-3)
    assert machine.status is on_a_part.Status.OF_A_PART
    values = gram_of(fitted, NEW, X).matvec(machine.coefficients) + machine.intercept
    assert np.median(np.abs(values - numbers(NEW))) < 0.1
    assert 0 <= width < 0.2


def test_the_radius_is_that_of_the_ball(short):
    model = OneClassSVM(nu=0.3, region="ball")
    whole = model.fit(X).radius_
    with pytest.warns(ConvergenceWarning, match="a part"):
        assert model.set_params(time_limit=60.0).fit(X).radius_ == pytest.approx(whole, rel=0.03)


def test_parts_grow_until_time_is_short():
    class Ended:
        status = on_a_part.Status.CONVERGED

    sizes, left = [], iter([1e9, 1e9, -1.0])
    parts = on_a_part.Growing(np.ones(1024), None, 32, lambda: next(left), None)
    part, _ = parts.largest(lambda one: sizes.append(len(one.ids)) or Ended())
    assert sizes == [32, 64, 128]
    assert len(part.ids) == 128
    assert part.weights.sum() == pytest.approx(1024)


def test_what_did_not_end_is_not_taken():
    class Ended:
        def __init__(self, status):
            self.status = status

    parts = on_a_part.Growing(np.ones(1024), None, 32, lambda: 1e9, None)
    statuses = iter([on_a_part.Status.CONVERGED, on_a_part.Status.OUT_OF_TIME])
    part, found = parts.largest(lambda _: Ended(next(statuses)))
    assert len(part.ids) == 32
    assert found.status is on_a_part.Status.CONVERGED


def test_without_time_for_the_first_part_the_error_is_about_all_objects():
    def late(_):
        raise TimeLimitError("time_limit = 2 s was over with 3 % of a part of a part done.")

    parts = on_a_part.Growing(np.ones(1500), None, 32, lambda: 0.0, gram_of(kernels.RBF().fit(X), X))
    said = r"before there was a first machine of 1,500 objects\..* would take about"
    with _deadline.limited(2.0), pytest.raises(TimeLimitError, match=said):
        parts.largest(late)


def test_without_a_limit_all_objects_count(short):
    assert NuSVR().fit(X[:400], numbers(X[:400])).certificate_.relative_gap < 0.01


def test_clusters_of_a_part_are_those_of_all(short):
    rows = np.concatenate([X[:500] + 4, X[500:1000], X[1000:] - 4])
    model = KernelKMeans(3, kernel="rbf", random_state=0, n_init=2)
    whole = model.fit(rows)
    inertia, labels = whole.inertia_, whole.labels_
    with pytest.warns(ConvergenceWarning, match="allowed training on only a part of the objects"):
        model.set_params(time_limit=60.0).fit(rows)
    assert len(model.expansion_.support) < 1400
    assert adjusted_rand_score(labels, model.labels_) > 0.98
    assert model.inertia_ == pytest.approx(inertia, rel=0.02)
    assert (model.predict(rows) == model.labels_).all()
    proof = model.certificate_
    assert proof.least <= proof.left


@pytest.mark.parametrize("model", [KernelPerceptron(epochs=5), GradientKernelMachine(steps=20)])
@pytest.mark.parametrize("target", [classes, lambda rows: np.digitize(rows[:, 0], [-0.5, 0.5])])
def test_algorithms_of_the_slides_on_a_part(short, model, target):
    y = target(X)
    score = model.set_params(time_limit=None).fit(X, y).score(NEW, target(NEW))
    with pytest.warns(ConvergenceWarning, match="did not finish.*only a part of the objects"):
        model.set_params(time_limit=60.0).fit(X, y)
    assert len(model.support_) < 1400
    assert getattr(model, model._per_object).shape == (1500, len(model.intercept_))
    assert model.score(NEW, target(NEW)) > score - 0.12
    assert model.certificate_.dual == 0.0
    assert model.certificate_.primal > 0.0
