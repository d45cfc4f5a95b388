"""Kernels seen through landmarks."""

import numpy as np
import pytest

from mercer import SVC, KernelPCA, KernelRidge, LinearSVC, kernels, load, save
from mercer.errors import KernelError, ParameterError
from mercer.kernels.base import FittedKernel, State

X = np.random.default_rng(0).normal(size=(150, 3))
NEW = np.random.default_rng(1).normal(size=(20, 3))
GAUSS = kernels.RBF(gamma=0.3)
WORDS = ["".join(np.random.default_rng(seed).choice(list("ACGT"), 12)) for seed in range(60)]


def by_definition(kernel, train, left, right, landmarks):
    """k0(x, Z) K0(Z, Z)^+ k0(Z, z), with the pseudo-inverse."""
    fitted = kernel.fit(train)
    inverse = np.linalg.pinv(fitted(landmarks), rcond=1e-10, hermitian=True)
    return fitted(left, landmarks) @ inverse @ fitted(right, landmarks).T


@pytest.mark.parametrize("way", ["rpcholesky", "uniform"])
@pytest.mark.parametrize(
    ("kernel", "train", "new"),
    [(GAUSS, X, NEW), (kernels.RBF(), X, NEW), (kernels.Spectrum(p=3), WORDS[:40], WORDS[40:])],
)
def test_values_are_those_of_the_definition(kernel, train, new, way):
    fitted = kernels.Nystrom(kernel, m=15, landmarks=way, random_state=2).fit(train)
    Z = fitted.state.objects
    assert len(Z) == 15
    wanted = by_definition(kernel, kernel.coerce(train), new, train, Z)
    np.testing.assert_allclose(fitted(new, train), wanted, atol=1e-8 * abs(wanted).max())


def test_exact_where_one_side_is_a_landmark_and_never_too_long():
    fitted, full = kernels.Nystrom(GAUSS, m=20).fit(X), GAUSS.fit(X)
    Z = fitted.state.objects
    np.testing.assert_allclose(fitted(NEW, Z), full(NEW, Z), atol=1e-9)
    assert (np.diagonal(fitted(NEW)) <= 1 + 1e-9).all()
    assert np.linalg.eigvalsh(full(X) - fitted(X))[0] > -1e-9


def test_what_is_left_of_the_trace_is_stated():
    fitted = kernels.Nystrom(GAUSS, m=20).fit(X)  # among at most 400 objects: all of them
    assert float(fitted.state.values["left"]) == pytest.approx(1 - np.trace(fitted(X)) / len(X), abs=1e-9)


def test_all_objects_as_landmarks_lose_nothing():
    np.testing.assert_allclose(kernels.Nystrom(GAUSS, m=150).fit(X)(X), GAUSS.fit(X)(X), atol=1e-8)


def test_fewer_landmarks_where_the_rank_is_smaller():
    doubled = np.vstack([X[:3], X[:3]])
    for way in ("rpcholesky", "uniform"):
        fitted = kernels.Nystrom(kernels.Linear(), m=6, landmarks=way).fit(doubled)
        assert len(fitted.state.objects) == 3
        np.testing.assert_allclose(fitted(doubled), doubled @ doubled.T, atol=1e-9)
    assert not kernels.Nystrom(kernels.Linear(), m=2).fit(np.zeros((4, 2)))(np.zeros((4, 2))).any()


def test_pivots_see_more_than_uniform_landmarks_of_lopsided_data():
    rng = np.random.default_rng(0)
    lopsided = np.vstack([rng.normal(scale=0.01, size=(190, 2)), rng.normal(scale=5.0, size=(10, 2))])
    left = {
        way: np.mean(
            [
                kernels.Nystrom(GAUSS, m=8, landmarks=way, random_state=seed).fit(lopsided).state.number("left")
                for seed in range(10)
            ]
        )
        for way in ("rpcholesky", "uniform")
    }
    assert left["rpcholesky"] < 0.5 * left["uniform"]


def test_chance_is_fixed_by_the_seed():
    one, again, other = (kernels.Nystrom(GAUSS, m=10, random_state=seed).fit(X)(NEW, X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.allclose(one, other)


def test_machines_are_those_of_the_named_kernel_and_expansions_of_the_inner_one():
    y = np.sin(X[:, 0])
    many = np.vstack([X, X + 0.01])
    model = KernelRidge(kernel=kernels.Nystrom(GAUSS, m=25), alpha=0.1).fit(many, np.concatenate([y, y]))
    by_values = model.kernel_(NEW, many) @ model.dual_coef_
    np.testing.assert_allclose(model.predict(NEW), by_values, atol=1e-9)
    brief = model.expansion_.condensed()
    assert brief.kernel.kernel == GAUSS
    assert len(brief.support) == 25
    np.testing.assert_allclose(brief(NEW)[:, 0], by_values, atol=1e-9)
    assert model.verify(many, np.concatenate([y, y])).relative_gap < 1e-9


def test_decisions_on_strings_are_explained_letter_by_letter():
    model = SVC(kernel=kernels.Nystrom(kernels.Spectrum(p=2), m=12)).fit(WORDS, [0, 1] * 30)
    (found,) = model.explain(WORDS[:1])
    assert "".join(found.parts) == WORDS[0]
    assert found.value[0] == pytest.approx(model.decision_function(WORDS[:1])[0], abs=1e-9)


def test_it_goes_through_files_tables_sums_and_searches(tmp_path):
    y = (X[:, 0] > 0).astype(int)
    kernel = 0.5 * kernels.Nystrom(GAUSS, m=10) + kernels.Nystrom(kernels.Linear(), m=2)
    assert kernels.parse(str(kernel)) == kernel
    for learner in (SVC(kernel=kernel), LinearSVC(kernel=kernel)):
        model = learner.fit(X, y)
        save(model, tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").decision_function(NEW), model.decision_function(NEW))
    wider = SVC(kernel=kernels.Nystrom(GAUSS, m=10)).set_params(kernel__m=30, kernel__kernel__gamma=2.0)
    assert wider.kernel == kernels.Nystrom(kernels.RBF(gamma=2.0), m=30)
    assert KernelPCA(kernel=kernels.Nystrom(GAUSS, m=10), n_components=2).fit_transform(X).shape == (150, 2)


def test_float32_coordinates_are_as_precise_as_float32_tiles():
    from mercer.kernels.algebra.nystrom import ThroughLandmarks

    for gamma in (0.01, 5.0):  # nearly dependent landmarks are done in float64 all the same
        fitted = kernels.Nystrom(kernels.RBF(gamma=gamma), m=60).fit(X)
        features = ThroughLandmarks(fitted.kernel.kernel, fitted.state)
        exact, single = (features.written(fitted.coerce(NEW), kind) for kind in (np.float64, np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, exact, atol=2e-5)


def test_refusals():
    for arguments in [(GAUSS, 0), (GAUSS, 5, "best"), ("rbf", 5), (GAUSS, 5, "uniform", -1)]:
        with pytest.raises(ParameterError, match="Nystrom"):
            kernels.Nystrom(*arguments)
    fitted = kernels.Nystrom(GAUSS, m=5).fit(X)
    spoilt = State({**fitted.state.values, "triangle": np.eye(4)}, fitted.state.parts, fitted.state.objects)
    with pytest.raises(KernelError, match="landmark"):
        FittedKernel(fitted.kernel, spoilt)(X)
