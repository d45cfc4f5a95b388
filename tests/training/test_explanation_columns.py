"""Explanations of kernels without features: by columns, terms and support objects, against their definitions."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR, KernelRidge, LinearSVC, OneClassSVM, kernels
from mercer.errors import KernelError, ParameterError
from mercer.training.explanation import TOGETHER

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(0.1, 2.0, size=(40, 4))
Y = (X[:, 0] * X[:, 1] > X[:, 2]).astype(int)
NEW = RANDOM.uniform(0.1, 2.0, size=(3, 4))
TABLE = {
    "a": X[:, 0],
    "b": X[:, 1],
    "word": ["gattaca" if one > 1 else "ccgcg" for one in X[:, 2]],
    "c": X[:, 3],
}
DECAYS = [
    kernels.RBF(gamma=0.7),
    kernels.RBF(gamma=(0.5, 0.0, 1.0, 2.0)),
    kernels.Laplacian(gamma=0.4),
    kernels.ExponentialChi2(gamma=0.9),
    kernels.Periodic(period=1.3, length_scale=0.9),
]
UNNAMED = {str(kernel): kernel for kernel in DECAYS}


def left_out(kernel, j_kept, x, support):
    """k of a row and others with only some columns compared, from the definition of each kernel."""
    d = np.abs(x - support)[:, j_kept]
    if not d.shape[1]:
        return np.ones(len(support))
    name = type(kernel).__name__
    if name == "RBF":
        weights = np.broadcast_to(np.asarray(kernel.gamma, dtype=float), (4,))[j_kept]
        return np.exp(-(d**2 * weights).sum(axis=1))
    if name == "Laplacian":
        return np.exp(-kernel.gamma * d.sum(axis=1))
    if name == "ExponentialChi2":
        return np.exp(-kernel.gamma * (d**2 / (x + support)[:, j_kept]).sum(axis=1))
    return np.exp(-2.0 * np.sin(np.pi * d / kernel.period) ** 2 / kernel.length_scale**2).prod(axis=1)


def shapley(worth, d):
    found = np.zeros(d)
    for j in range(d):
        others = [l for l in range(d) if l != j]  # noqa: E741
        for size in range(d):
            weight = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            for chosen in itertools.combinations(others, size):
                found[j] += weight * (worth([*chosen, j]) - worth(list(chosen)))
    return found


@pytest.mark.parametrize("name", UNNAMED)
def test_columns_by_enumeration(name):
    model = SVC(kernel=UNNAMED[name], C=5.0).fit(X, Y)
    support, c = X[model.support_], model.dual_coef_[0]
    for x, one, value in zip(NEW, model.explain(NEW), model.decision_function(NEW), strict=True):
        assert one.by == "columns"
        assert one.exact
        assert one.parts == ("x0", "x1", "x2", "x3")
        expected = shapley(lambda kept, x=x: float(c @ left_out(UNNAMED[name], kept, x, support)), 4)
        np.testing.assert_allclose(one.contributions[:, 0], expected, atol=1e-10)
        assert one.value[0] == pytest.approx(value, abs=1e-9)
        assert one.contributions.sum() + one.intercept[0] == pytest.approx(value, abs=1e-9)


def test_sums_and_products_over_columns_of_vectors():
    kernel = 0.5 * kernels.RBF(gamma=0.3) + kernels.RBF(gamma=2.0) * kernels.Laplacian(gamma=0.2) + 1.5
    model = KernelRidge(0.1, kernel=kernel).fit(X, X[:, 0] - X[:, 3])
    c = model.expansion_.coefficients[:, 0]

    def worth(kept, x):
        wide, narrow = (left_out(kernels.RBF(gamma=g), kept, x, X) for g in (0.3, 2.0))
        return float(c @ (0.5 * wide + narrow * left_out(kernels.Laplacian(gamma=0.2), kept, x, X) + 1.5))

    for x, one, value in zip(NEW, model.explain(NEW), model.predict(NEW), strict=True):
        expected = shapley(lambda kept, x=x: worth(kept, x), 4)
        np.testing.assert_allclose(one.contributions[:, 0], expected, atol=1e-9)
        assert one.value[0] == pytest.approx(value, abs=1e-8)


def test_columns_of_a_table_are_terms_of_a_sum_or_factors_of_a_product():
    words, a = kernels.on("word", kernels.Spectrum(2)), kernels.on("a", kernels.RBF(gamma=0.5))
    pair = kernels.on(["b", "c"], kernels.RBF(gamma=0.8))
    model = SVC(kernel=words + 2.0 * a + pair, C=3.0).fit(TABLE, Y)
    c = model.dual_coef_[0]
    one = model.explain(TABLE)[0]
    assert one.parts == ("word", "a", "b", "c")
    support = {name: np.asarray(column, dtype=object)[model.support_].tolist() for name, column in TABLE.items()}
    first = {name: [column[0]] for name, column in TABLE.items()}
    assert one.contributions[0, 0] == pytest.approx(float(words.fit(TABLE)(first, support)[0] @ c), abs=1e-9)
    assert one.contributions[1, 0] == pytest.approx(2.0 * float(a.fit(TABLE)(first, support)[0] @ c), abs=1e-9)
    inner, rows = X[model.support_][:, [1, 3]], X[0, [1, 3]]
    factors = np.exp(-0.8 * (inner - rows) ** 2)
    by_hand = shapley(lambda kept: float(c @ factors[:, kept].prod(axis=1)), 2)
    np.testing.assert_allclose(one.contributions[2:, 0], by_hand, atol=1e-10)
    assert one.value[0] == pytest.approx(model.decision_function(TABLE)[0], abs=1e-9)
    product = SVC(kernel=a * pair * words).fit(TABLE, Y)
    found = product.explain(TABLE)[3]
    assert found.parts == ("a", "b", "c", "word")
    assert found.value[0] == pytest.approx(product.decision_function(TABLE)[3], abs=1e-9)


def test_columns_that_cannot_be_told_apart_are_one_part():
    model = SVC(kernel=kernels.on(["a", "b"], kernels.Matern()) + kernels.on("c", kernels.RBF(gamma=1.0))).fit(TABLE, Y)
    one = model.explain(TABLE)[0]
    assert one.parts == ("a, b", "c")
    assert one.value[0] == pytest.approx(model.decision_function(TABLE)[0], abs=1e-9)


@pytest.mark.parametrize(
    "kernel", [kernels.Matern(), kernels.normalise(kernels.RBF(gamma=0.3)), kernels.Exponential(0.5)]
)
def test_other_kernels_leave_columns_out(kernel):
    y = 3.0 * X[:, 0] + 0.0 * X[:, 1]
    model = KernelRidge(0.01, kernel=kernel).fit(X, y)
    x = np.array([[1.9, 1.0, 1.0, 1.0]])
    one = model.explain(x)[0]
    assert not one.exact
    assert one.parts == ("x0", "x1", "x2", "x3", TOGETHER)
    assert np.abs(one.contributions[:4, 0]).argmax() == 0
    assert one.value[0] == pytest.approx(model.predict(x)[0], abs=1e-8)
    stand_ins = X[np.linspace(0, len(X) - 1, 16).astype(int)]
    changed = np.repeat(x, 16, axis=0)
    changed[:, 0] = stand_ins[:, 0]
    assert one.contributions[0, 0] == pytest.approx(
        float(model.predict(x)[0] - model.predict(changed).mean()), abs=1e-8
    )


def test_terms():
    kernel = kernels.RBF(gamma=0.5) + 2.0 * kernels.Linear()
    model = SVR(kernel=kernel).fit(X, X[:, 0])
    c = model.expansion_.coefficients[:, 0]
    one = model.explain(NEW, by="terms")[1]
    assert one.parts == ("rbf(gamma=0.5)", "2.0*linear()")
    parts = [term.fit(X)(NEW, X[model.support_])[1] @ c for term in kernel.terms]
    np.testing.assert_allclose(one.contributions[:, 0], parts, atol=1e-9)
    assert one.value[0] == pytest.approx(model.predict(NEW)[1], abs=1e-9)
    with pytest.raises(KernelError, match=r"not a sum of kernels.*by='columns'"):
        SVC(kernel=kernels.RBF(gamma=1.0)).fit(X, Y).explain(NEW, by="terms")


def test_support_objects():
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    kernel = kernels.LocalAlignment()
    model = SVC(kernel=kernel, C=10.0, psd="ignore").fit(words, [1, 1, 0, 0, 1, 0])
    one = model.explain(["gatta"])[0]
    assert one.by == "support"
    assert one.parts == tuple(model.support_.tolist())
    K = kernel.fit(words)(["gatta"], [words[i] for i in model.support_])[0]
    np.testing.assert_allclose(one.contributions[:, 0], K * model.dual_coef_[0], rtol=1e-9)
    assert one.value[0] == pytest.approx(model.decision_function(["gatta"])[0], abs=1e-9)


def test_several_classes_sparse_rows_and_names():
    pandas = pytest.importorskip("pandas")
    three = np.digitize(X[:, 0], [0.7, 1.3])
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = SVC(kernel="rbf", gamma=0.5, decision_function_shape="ovo").fit(frame, three)
    found = model.explain(frame[:2])[1]
    assert found.parts == tuple("abcd")
    np.testing.assert_allclose(found.value, model.decision_function(frame[:2])[1], atol=1e-9)
    thin = SVC(kernel="rbf", gamma=0.5, decision_function_shape="ovo").fit(sp.csr_array(X), three)
    np.testing.assert_allclose(thin.explain(sp.csr_array(X[:2]))[1].contributions, found.contributions, atol=1e-6)


def test_one_class_and_bad_choices():
    model = OneClassSVM(kernel="rbf", gamma=0.5).fit(X)
    assert model.explain(NEW)[0].value[0] == pytest.approx(model.decision_function(NEW)[0], abs=1e-9)
    with pytest.raises(ParameterError, match="by"):
        model.explain(NEW, by="magic")
    with pytest.raises(KernelError, match="by='columns'"):
        model.explain(NEW, by="features")
    with pytest.raises(ParameterError, match="keeps no support objects"):
        LinearSVC().fit(X, Y).explain(NEW, by="support")
    words = SVC(kernel=kernels.Spectrum(2)).fit(["gatta", "ccgg"], [0, 1])
    with pytest.raises(KernelError, match="by='support'"):
        words.explain(["gatta"], by="columns")
