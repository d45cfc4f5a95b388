"""The standard deviation of ridge machines, on features and on the Gram matrix, is that of its formula."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import KernelRidge, KernelRidgeCV, kernels
from mercer.errors import KernelError, KernelWarning, MemoryBudgetError
from mercer.solvers.ridge import variance
from mercer.solvers.ridge.variance import Scatter
from mercer.training import deviation
from mercer.training.deviation import ByFeatures, ByMatrix


def words(n, letters="ACGT", seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), size=rng.integers(3, 15))) for _ in range(n)]


RNG = np.random.default_rng(3)
X, NEW = RNG.normal(size=(70, 5)), RNG.normal(size=(20, 5))
SPARSE, NEW_SPARSE = (sp.random(n, 30, 0.1, format="csr", random_state=n) for n in (70, 20))
TEXTS = words(70)
NEW_TEXTS = [*words(15, seed=1), *words(4, "ACGTXY", seed=2), "A", "XYX"]  # with features that nobody has seen
Y = RNG.normal(size=(70, 3))
WEIGHTS = RNG.uniform(0, 2, 70).round(1)
WEIGHTS[:4] = 0.0
CASES = {
    "rows": (kernels.Linear(), X, NEW),
    "sparse rows": (kernels.Linear(), SPARSE, NEW_SPARSE),
    "polynomial": (kernels.Polynomial(degree=2, gamma=0.5, coef0=1.0), X, NEW),
    "waves": (kernels.RandomFourierFeatures(size=40, random_state=0), X, NEW),
    "sum": (kernels.Linear() + 2.0 * kernels.Constant(3.0), X, NEW),
    "strings": (kernels.Spectrum(p=2), TEXTS, NEW_TEXTS),
    "normalised": (kernels.normalise(kernels.Spectrum(p=2)) + 0.5 * kernels.Spectrum(p=1), TEXTS, NEW_TEXTS),
}


def by_definition(model, objects, new, alpha, weights=None):
    """The formula as it stands, on kernel values; an object without weight is not there."""
    fitted = model.kernel_
    weights = np.ones(len(Y)) if weights is None else weights
    there = weights > 0
    K, across = fitted(objects)[np.ix_(there, there)], fitted(new, objects)[:, there]
    inverse = np.linalg.inv(K + np.diag(alpha / weights[there]))
    prior = np.array([fitted([one] if isinstance(one, str) else one[None])[0, 0] for one in rows_of(new)])
    return prior, prior - np.einsum("ij,jk,ik->i", across, inverse, across)


def rows_of(objects):
    return objects.toarray() if sp.issparse(objects) else objects


@pytest.fixture
def on_features(monkeypatch):
    """Whoever asks for a matrix is told off."""
    monkeypatch.setattr(ByMatrix, "variances", None)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize(("intercept", "dual"), [(False, False), (True, False), (True, True)])
def test_features_give_what_the_formula_says(case, weights, intercept, dual, on_features):
    kernel, objects, new = CASES[case]
    alphas = [0.3, 7.0, 0.3]
    model = KernelRidge(alphas, kernel=kernel, fit_intercept=intercept, dual=dual).fit(objects, Y, weights)
    mean, found = model.predict(new, return_std=True)
    assert found.shape == mean.shape == (len(rows_of(new)), 3)
    assert np.array_equal(mean, model.predict(new))
    for column, alpha in enumerate(alphas):
        prior, wanted = by_definition(model, objects, new, alpha, weights)
        assert (np.abs(found[:, column] ** 2 - wanted) <= 1e-11 * (1 + prior)).all()


@pytest.mark.parametrize("case", CASES)
def test_the_matrix_gives_the_same(case, monkeypatch):
    kernel, objects, new = CASES[case]
    model = KernelRidge(5.0, kernel=kernel).fit(objects, Y[:, 0], WEIGHTS)  # large beside weights of zero
    found = model.predict(new, return_std=True)[1]
    assert isinstance(model._process, ByFeatures)
    monkeypatch.setattr(deviation, "_written", lambda *_: None)
    monkeypatch.setattr(deviation, "_ENTRIES", 1)
    again = KernelRidge(5.0, kernel=kernel).fit(objects, Y[:, 0], WEIGHTS)
    wanted = again.predict(new, return_std=True)[1]
    assert again._process is None
    assert found.shape == wanted.shape == (len(rows_of(new)),)
    assert np.allclose(found, wanted, atol=1e-6)


def test_new_features_are_wholly_uncertain(on_features):
    model = KernelRidge(1e-3, kernel=kernels.Spectrum(p=1)).fit(TEXTS, Y[:, 0])
    found = model.predict(["XXX", "AXXX", "AAAA"], return_std=True)[1]
    assert found[0] == 3.0
    assert 3.0 < found[1] < 3.01
    assert found[2] < 0.1


def test_more_features_than_objects_are_left_to_the_matrix(monkeypatch):
    monkeypatch.setattr(Scatter, "of", None)
    model = KernelRidge(0.2, kernel="linear").fit(X[:4], Y[:4, 0])
    _, found = model.predict(NEW, return_std=True)
    wanted = np.einsum("ij,ij->i", NEW, NEW) - np.einsum(
        "ij,jk,ik->i", NEW @ X[:4].T, np.linalg.inv(X[:4] @ X[:4].T + 0.2 * np.eye(4)), NEW @ X[:4].T
    )
    assert np.allclose(found**2, wanted)


def test_no_budget_for_either_is_said():
    rows = RNG.normal(size=(1000, 400))
    model = KernelRidge(1.0, kernel="linear", memory=100).fit(rows, rows[:, 0])
    model.memory = 1
    with pytest.raises(MemoryBudgetError, match="1,000 x 1,000"):
        model.predict(rows[:2], return_std=True)


@pytest.mark.parametrize("case", CASES)
def test_files_and_pickles_give_the_same(case, tmp_path, on_features):
    kernel, objects, new = CASES[case]
    model = KernelRidge(0.5, kernel=kernel, fit_intercept=True, dual=False).fit(objects, Y, WEIGHTS)
    before = pickle.dumps(model)
    wanted = model.predict(new, return_std=True)
    assert model._process is not None
    assert pickle.loads(pickle.dumps(model))._process is None  # what can be made again is not kept
    mercer.save(model, tmp_path / "model.mercer")
    for again in (mercer.load(tmp_path / "model.mercer"), pickle.loads(before), pickle.loads(pickle.dumps(model))):
        for _ in range(2):
            for one, other in zip(again.predict(new, return_std=True), wanted, strict=True):
                assert np.array_equal(one, other)


def test_training_anew_forgets_what_was_kept(on_features):
    model = KernelRidge(0.5, kernel="linear").fit(X, Y[:, 0])
    first = model.predict(NEW, return_std=True)[1]
    model.set_params(alpha=50.0).fit(X[:30], Y[:30, 0])
    wanted = KernelRidge(50.0, kernel="linear").fit(X[:30], Y[:30, 0]).predict(NEW, return_std=True)[1]
    assert np.array_equal(model.predict(NEW, return_std=True)[1], wanted)
    assert (wanted > first).all()


def test_many_features_are_not_kept(monkeypatch):
    monkeypatch.setattr(deviation, "MOST_FEATURES", 4)
    model = KernelRidge(0.5, kernel="linear").fit(X, Y[:, 0])
    assert model.predict(NEW, return_std=True)[1].shape == (20,)
    assert model._process is None


def test_cross_validated_machines_have_one_too(on_features):
    model = KernelRidgeCV([0.1, 1.0], kernel="linear", dual=False).fit(X, Y[:, 0])
    found = model.predict(NEW, return_std=True)[1]
    assert np.allclose(found**2, by_definition(model, X, NEW, model.alpha_)[1])


@pytest.mark.parametrize("form", ["dense", "sparse", "full"])
def test_scatter_in_blocks(form, monkeypatch):
    monkeypatch.setattr(variance, "_BLOCK", 100)
    rows, new = (sp.random(n, 12, 0.05 if form == "sparse" else 0.6, random_state=n).tocsr() for n in (400, 150))
    weights, system = (
        np.arange(400) % 3.0,
        (rows.toarray().T * (np.arange(400) % 3.0)) @ rows.toarray() + 0.2 * np.eye(12),
    )
    wanted = 0.2 * np.einsum("ij,ij->i", new.toarray(), np.linalg.solve(system, new.toarray().T).T)
    if form == "dense":
        rows, new = rows.toarray(), new.toarray()
    for condition in (1e-9, 2.0):  # by the normal matrix, and by the triangle of the rows
        monkeypatch.setattr(variance, "_CONDITION", condition)
        scatter = Scatter.of(rows, weights, 0.2)
        assert scatter.triangular == (condition > 1)
        assert np.allclose(scatter.variances(new, 0.2), wanted, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
def test_features_that_say_the_same_keep_their_digits(on_features):
    """Two equal columns beside a vast one, and alpha below the rounding of their squares: the variance is known."""
    base = RNG.normal(size=500)
    rows = np.column_stack([base, base, 1e9 * RNG.normal(size=500)])
    model = KernelRidge(1e-10, kernel="linear", dual=False).fit(rows, base)
    _, found = model.predict([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1e9]], return_std=True)
    assert found[0] == pytest.approx(np.sqrt(2), rel=1e-6)  # never seen
    rest = base - rows[:, 2] * (rows[:, 2] @ base) / (rows[:, 2] @ rows[:, 2])
    assert found[1] == pytest.approx(1e-5 / np.sqrt(rest @ rest), rel=1e-6)
    assert found[2] == pytest.approx(1e4 / np.sqrt(rows[:, 2] @ rows[:, 2] * (rest @ rest) / (base @ base)), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-160, 1e150, 1e160])
@pytest.mark.parametrize("alpha", [1e-300, 1.0, 1e300])
def test_squares_that_overflow_or_vanish_stay_finite(scale, alpha):
    rows = X * np.array([1.0, 1.0, scale, scale, 1.0])
    found = Scatter.of(rows, np.ones(70), alpha).variances(X, alpha)
    assert np.isfinite(found).all()
    assert (found <= np.einsum("ij,ij->i", X, X)).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e30])
@pytest.mark.parametrize("alpha", [1e-20, 1e-10, 1.0, 1e200])
@pytest.mark.parametrize("few", [False, True])
def test_no_scale_gives_nan(scale, alpha, few):
    rows = X[:, [0, 1, 2, 0, 0]] * np.array([1.0, scale, 1.0, scale, 1.0])
    rows, y = (rows[:3], Y[:3, 0]) if few else (rows, Y[:, 0])
    model = KernelRidge(alpha, kernel="linear", dual=False).fit(rows, y, np.arange(len(y)) % 2.0)
    found = model.predict(rows, return_std=True)[1]
    assert np.isfinite(found).all()
    assert (found <= (1 + 1e-9) * np.sqrt(np.einsum("ij,ij->i", rows, rows))).all()


def test_an_indefinite_matrix_has_none():
    with pytest.warns(KernelWarning):
        model = KernelRidge(0.5, kernel=lambda left, right: -(left @ right.T)).fit(X, Y[:, 0])
    with pytest.raises(KernelError, match="not a covariance"):
        model.predict(NEW, return_std=True)
