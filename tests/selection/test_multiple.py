"""Weights of kernels against slow, obvious ways to find them."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, KernelRidge, KernelSearchCV, MultipleKernelMachine, kernels, learn_kernel
from mercer.errors import InputError, ModelFileError
from mercer.gram.make import gram_of
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.losses.squared_hinge import SquaredHinge
from mercer.selection import kernel_weights

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
Y = (X[:, 0] + 0.3 * RANDOM.normal(size=40) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
FIRST, SECOND, THIRD = kernels.RBF(gamma=(1.0, 0, 0)), kernels.RBF(gamma=(0, 1.0, 0)), kernels.Linear()
ALL = [FIRST, SECOND, THIRD]


def matrices() -> list[Any]:
    found = [kernel.fit(X)(X) for kernel in ALL]
    return [K / np.diag(K).mean() for K in found]


def weights_of(labels: Any, **options: Any) -> Any:
    return MultipleKernelMachine(SVC(), ALL, **options).fit(X, labels).weights_


class TestAlignment:
    @pytest.mark.parametrize("labels", [Y, THREE])
    def test_minimiser_by_enumeration(self, labels: Any) -> None:
        """Of |sum v_r K_r - T|^2 over v >= 0, with every matrix centred by H K H."""
        n = len(X)
        H = np.eye(n) - 1.0 / n
        centred = [H @ K @ H for K in matrices()]
        Z = np.eye(labels.max() + 1)[labels]
        T = H @ Z @ Z.T @ H

        def distance(v: Any) -> float:
            return float(np.square(sum(w * K for w, K in zip(v, centred, strict=True)) - T).sum())

        best = minimize(distance, np.full(3, 0.3), bounds=[(0, None)] * 3, options={"ftol": 1e-15, "gtol": 1e-12})
        np.testing.assert_allclose(weights_of(labels), best.x / best.x.sum(), atol=1e-5)

    @pytest.mark.parametrize("labels", [Y, THREE])
    def test_certificate_of_the_weights(self, labels: Any) -> None:
        H = np.eye(len(X)) - 1.0 / len(X)
        centred = [H @ K @ H for K in matrices()]
        Z = np.eye(labels.max() + 1)[labels]
        T = H @ Z @ Z.T @ H

        def distance(v: Any) -> float:
            return float(np.square(sum(w * K for w, K in zip(v, centred, strict=True)) - T).sum())

        best = minimize(distance, np.full(3, 0.3), bounds=[(0, None)] * 3, options={"ftol": 1e-15, "gtol": 1e-12})
        proof = MultipleKernelMachine(SVC(), ALL).fit(X, labels).weights_certificate_
        assert proof.left == pytest.approx(best.fun, rel=1e-9)
        assert proof.total == pytest.approx(np.square(T).sum())
        assert proof.least <= best.fun * (1 + 1e-12)
        assert proof.least == pytest.approx(best.fun, rel=1e-9)
        assert str(proof).startswith("Weights of 3 kernels explain")

    def test_weights_that_are_not_the_best_are_found_out(self) -> None:
        rng = np.random.default_rng(1)
        root = rng.normal(size=(3, 30))
        inner, along = root @ root.T, root @ rng.normal(size=30)
        best = kernel_weights._nearest_cone_point(inner, along)
        target = 60.0
        right = kernel_weights._proof(inner, along, best, target, "float64")
        assert right.least == pytest.approx(right.left, rel=1e-9)
        for _ in range(20):
            v = np.maximum(best + 0.1 * rng.normal(size=3), 0.0)
            proof = kernel_weights._proof(inner, along, v, target, "float64")
            assert proof.least <= right.left + 1e-9 <= proof.left + 2e-9

    def test_numbers(self) -> None:
        machine = MultipleKernelMachine(KernelRidge(), ALL).fit(X, X[:, 0] ** 2 + 0.01)
        assert machine.weights_.argmax() == 0
        assert not is_classifier(machine)
        assert machine.score(X, X[:, 0] ** 2) > 0.5

    def test_same_kernel_twice(self) -> None:
        weights = MultipleKernelMachine(SVC(), [FIRST, FIRST, SECOND]).fit(X, Y).weights_
        assert weights.sum() == pytest.approx(1.0)
        assert (weights >= 0).all()


class TestMargin:
    @pytest.mark.parametrize("lam", [0.05, 0.5, 0.9])
    def test_game_by_slow_search(self, lam: float) -> None:
        """min over both hulls of (1 - lam) g'Y K Y g + lam |g|^2, then weights g'Y K_r Y g."""
        K = sum(matrices())
        signs = np.where(Y == 1, 1.0, -1.0)
        Q = (1 - lam) * K * np.outer(signs, signs) + lam * np.eye(len(Y))
        start = np.where(signs > 0, 1.0 / (signs > 0).sum(), 1.0 / (signs < 0).sum())
        sides = [{"type": "eq", "fun": lambda g, side=side: g[signs == side].sum() - 1.0} for side in (1.0, -1.0)]
        found = minimize(lambda g: g @ Q @ g, start, jac=lambda g: 2 * Q @ g, bounds=[(0, None)] * len(Y),
                         constraints=sides, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500})  # fmt: skip
        shares = np.array([(signs * found.x) @ part @ (signs * found.x) for part in matrices()])
        np.testing.assert_allclose(weights_of(Y, method="margin", lam=lam), shares / shares.sum(), atol=1e-4)

    def test_certificate_of_the_weights(self) -> None:
        proof = MultipleKernelMachine(SVC(), ALL, method="margin", lam=0.2).fit(X, Y).weights_certificate_
        together = Sum(tuple(Scaled(k, 1.0 / np.diag(k.fit(X)(X)).mean()) for k in ALL))
        exact = mercer.KernelMachineClassifier(SquaredHinge(), kernel=together, C=2.0, tol=1e-9)  # (1 - lam) / (2 lam)
        exact.fit(X, Y)
        assert proof.primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
        assert proof.dual <= exact.certificate_.primal * (1 + 1e-12)

    def test_towards_one_it_compares_class_means(self) -> None:
        signs = np.where(Y == 1, 1.0 / (Y == 1).sum(), -1.0 / (Y == 0).sum())
        shares = np.array([signs @ K @ signs for K in matrices()])
        np.testing.assert_allclose(weights_of(Y, method="margin", lam=0.9999), shares / shares.sum(), atol=1e-3)

    def test_several_classes(self) -> None:
        weights = weights_of(THREE, method="margin")
        assert weights.argmax() in (0, 2)
        assert weights.sum() == pytest.approx(1.0)


class TestKernel:
    def test_is_an_ordinary_kernel(self, tmp_path: Path) -> None:
        kernel = learn_kernel(ALL, X, Y)
        assert isinstance(kernel, Sum | Scaled)
        assert kernels.parse(str(kernel)) == kernel
        model = SVC(kernel=kernel).fit(X, Y)
        mercer.save(model, tmp_path / "model")
        np.testing.assert_array_equal(mercer.load(tmp_path / "model").predict(X), model.predict(X))

    def test_values(self) -> None:
        wanted = sum(K for K in matrices()) / 3.0
        np.testing.assert_allclose(learn_kernel(ALL, X, Y, method="uniform").fit(X)(X), wanted, atol=1e-12)

    def test_noise_is_left_out(self) -> None:
        weights = weights_of(Y)
        assert weights[0] + weights[2] > 0.9

    def test_text_and_strings(self) -> None:
        strings = ["gattaca", "gattica", "gatgat", "ccgcg", "cgcgc", "cccgg"]
        kernel = learn_kernel(["spectrum(p=1)", kernels.Spectrum(2)], strings, [1, 1, 1, 0, 0, 0], method="margin")
        assert (SVC(kernel=kernel).fit(strings, [1, 1, 1, 0, 0, 0]).predict(strings) == [1, 1, 1, 0, 0, 0]).all()

    def test_one_kernel(self) -> None:
        assert learn_kernel([THIRD], X, Y).fit(X)(X).trace() == pytest.approx(len(X))

    def test_strips_do_not_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = weights_of(Y)
        monkeypatch.setattr(kernel_weights, "_STRIP", 7)
        np.testing.assert_allclose(weights_of(Y), whole, atol=1e-10)
        grams = [gram_of(kernel.fit(X), X) for kernel in ALL]
        assert kernel_weights.alignment(grams, np.eye(2)[Y])[0].sum() == pytest.approx(1.0)


class TestMachine:
    def test_in_searches_and_cross_validation(self) -> None:
        machine = MultipleKernelMachine(SVC(), ALL, method="margin")
        assert is_classifier(machine)
        assert cross_val_score(machine, X, Y, cv=4).mean() > 0.7
        grid = {"estimator__C": [0.1, 1.0], "method": ["uniform", "alignment"]}
        wanted = GridSearchCV(machine, grid, cv=3).fit(X, Y)
        search = KernelSearchCV(machine, grid, cv=3).fit(X, Y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], wanted.cv_results_["mean_test_score"])
        assert list(search.classes_) == [0, 1]

    def test_conventions(self) -> None:
        machine = MultipleKernelMachine(SVC(), ALL).fit(X, Y)
        assert machine.n_features_in_ == 3
        assert machine.decision_function(X).shape == (40,)
        assert not hasattr(machine, "predict_proba")
        assert clone(machine).get_params()["method"] == "alignment"
        with pytest.raises(AttributeError):
            _ = MultipleKernelMachine(KernelRidge(), ALL).classes_

    def test_time_limits(self) -> None:
        within = MultipleKernelMachine(SVC(), ALL).fit(X, Y)  # compiled before the clock runs
        limited = MultipleKernelMachine(SVC(time_limit=0.9), ALL).fit(X, Y)
        np.testing.assert_array_equal(limited.weights_, within.weights_)
        with pytest.raises(ValueError, match="time_limit"):
            MultipleKernelMachine(SVC(time_limit=0), ALL).fit(X, Y)

    @pytest.mark.parametrize(
        ("options", "labels", "message"),
        [
            ({"method": "magic"}, Y, "method"),
            ({"lam": 1.0}, Y, "lam"),
            ({"kernels": []}, Y, "kernels"),
            ({"kernels": [3]}, Y, "kernels"),
            ({}, Y[:-1], "one entry per object"),
            ({}, np.ones(40, dtype=int), "all 40 objects"),
            ({"method": "margin"}, X[:, 0], "classes"),
            ({"kernels": [kernels.Linear(), kernels.RBF(gamma=1.0)], "X": X * 0}, Y, "zero"),
        ],
    )
    def test_bad_input(self, options: dict[str, Any], labels: Any, message: str) -> None:
        objects = options.pop("X", X)
        chosen = options.pop("kernels", ALL)
        with pytest.raises(ValueError, match=message):
            learn_kernel(chosen, objects, labels, **options)


@pytest.mark.parametrize("method", ["alignment", "margin", "uniform"])
def test_certificates(method: str, tmp_path: Path) -> None:
    machine = MultipleKernelMachine(SVC(tol=1e-6), ALL, method=method).fit(X, Y)
    alone = SVC(kernel=machine.kernel_.kernel, tol=1e-6).fit(X, Y)
    assert machine.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-9)
    assert machine.certificate_.relative_gap < 1e-5
    assert (machine.weights_certificate_ is None) == (method == "uniform")
    mercer.save(machine, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert again.certificate_ == machine.certificate_
    assert again.weights_certificate_ == machine.weights_certificate_


def test_kernels_of_negative_length_are_refused():
    """Divided by a negative mean diagonal, a kernel would be turned upside down."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    negative = kernels.FromFunction(lambda x, z: -float(x @ z), objects="vectors")
    with pytest.raises(InputError, match="mean diagonal of -"):
        learn_kernel([kernels.RBF(), negative], X, X[:, 0] > 0)


def test_a_kernel_that_draws_classes_together_gets_no_weight():
    """Of an indefinite kernel the points of the game may have a negative distance: no weight is below zero for it."""
    y = np.repeat([-1.0, 1.0], 20)
    good = np.outer(y, y) + np.eye(40)
    bad = np.eye(40) - 0.3 * np.outer(y, y)
    grams = [gram_of(kernels.Precomputed().fit(K), K, dtype=np.float64) for K in (good, bad, good + bad)]
    weights, _ = kernel_weights.margin(grams[:2], grams[2], [y], 0.5)
    assert weights[1] == 0.0
    assert weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("damage", ["negative", "nan", "proof"])
def test_weights_in_a_file_are_checked(damage):
    stored = MultipleKernelMachine(SVC(), ALL).fit(X, Y)._to_stored()
    arrays = {name: np.array(array) for name, array in stored.arrays.items()}
    if damage == "proof":
        arrays["mixed_weights_certificate"][0] = np.nan
    else:
        arrays["mixed_weights"][0] = -0.1 if damage == "negative" else np.nan
    with pytest.raises(ModelFileError, match=r"numbers from 0|not finite"):
        MultipleKernelMachine._from_stored(dataclasses.replace(stored, arrays=arrays))


# Kernels for vectors, so that all checks apply.
@parametrize_with_checks(
    [MultipleKernelMachine(SVC(), ["rbf", "linear"]), MultipleKernelMachine(KernelRidge(), ["rbf", "linear"])]
)
def test_common_checks(estimator: Any, check: Any) -> None:
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)
