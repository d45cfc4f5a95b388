"""Kernels of the user's offer features, and get from them what Mercer's own kernels get."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from mercer import SVC, KernelRidge, LinearSVC, kernels
from mercer.errors import KernelError, ParameterError
from mercer.gram import expansion
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
from mercer.kernels.features.feature_map import FixedColumns
from mercer.kernels.features.space import FeatureSpace
from mercer.kernels.vectors.features import RowFeatures, dot_products

WORDS = ["".join(letters) for letters in itertools.product("abc", repeat=3)]
SIDES = np.array([word.count("a") > word.count("b") for word in WORDS])
ROWS = np.random.default_rng(0).normal(size=(40, 2))


class ByRows(kernels.Kernel):
    """The tile of a kernel that multiplies the rows of `written`."""

    def features(self, objects, state, dtype):
        return RowFeatures.of(Vectors(self.written(objects)), dtype)

    def tile(self, left, right, state, out):
        dot_products(left, right, out)

    def diagonal(self, features, state):
        return features.squared_lengths


@dataclass(frozen=True)
class Letters(ByRows):
    """How often the letters a, b and c occur in two strings."""

    domain = Strings

    def written(self, objects):
        return np.array([[text.count(letter) for letter in "abc"] for text in objects.tolist()], dtype=np.float64)

    def feature_map(self, state):
        return FixedColumns(self.written, ("a", "b", "c"))


@dataclass(frozen=True)
class Circle(ByRows):
    """The square of the length of vectors beside their columns."""

    domain = Vectors

    def written(self, objects):
        return np.column_stack([objects.values, (objects.values**2).sum(axis=1)])

    def feature_map(self, state):
        return FixedColumns(self.written, lambda one, columns: [*(columns or ("x", "y")), "square"])


def letters(words):
    return [[float(word.count(letter)) for letter in "abc"] for word in words]


CASES = [
    (Letters(), WORDS, SIDES, {"a", "b", "c"}),
    (Circle(), ROWS, (ROWS**2).sum(axis=1) > 1.5, {"x", "y", "square"}),
    (kernels.FromFunction(lambda s, t: float(np.dot(*letters([s, t]))), "strings", letters), WORDS, SIDES, {0, 1, 2}),
    (
        kernels.pull_back(kernels.Linear(), CountVectorizer(analyzer="char").fit(WORDS), "strings"),
        WORDS,
        SIDES,
        {"a", "b", "c"},
    ),
]


@pytest.mark.parametrize(("kernel", "objects", "y", "names"), CASES, ids=["strings", "vectors", "function", "images"])
def test_what_features_give(kernel, objects, y, names, monkeypatch):
    fitted = kernel.fit(objects)
    space, rows = FeatureSpace.of(fitted, fitted.coerce(objects))
    assert set(space.names(fitted.coerce(objects))) == names == set(kernel.feature_matrix(objects).names)
    linear = LinearSVC(kernel=kernel, C=10.0).fit(objects, y)
    assert (linear.predict(objects) == y).mean() > 0.9
    found = linear.explain(objects)[0]
    assert set(found.parts) <= names
    assert found.value[0] == pytest.approx(linear.decision_function(objects)[0])
    primal, dual = (KernelRidge(kernel=kernel, alpha=0.1, dual=way).fit(objects, y * 1.0) for way in (False, True))
    np.testing.assert_allclose(primal.predict(objects), dual.predict(objects), atol=1e-8)
    monkeypatch.setattr(expansion, "pays", lambda *_: True)
    support = fitted.coerce(objects)
    folded = expansion.folded(fitted, support, np.ones((len(support), 1)))
    assert folded is not None
    np.testing.assert_allclose(folded(support), np.asarray((rows @ rows.sum(axis=0)).reshape(-1, 1)))


def test_features_are_those_of_the_kernel():
    for kernel, objects, _, _ in CASES[:2]:
        found = kernel.feature_matrix(objects).matrix
        np.testing.assert_allclose(found @ found.T, kernel.fit(objects)(objects))
        model = SVC(kernel=kernel).fit(objects, np.arange(len(objects)) % 2)
        assert model.explain(objects)[3].value[0] == pytest.approx(model.decision_function(objects)[3])


def test_sums_multiples_and_cosines_of_a_users_kernel_have_features_too():
    kernel = kernels.normalise(2.0 * Letters() + kernels.Spectrum(2))
    found = kernel.feature_matrix(WORDS)
    assert found.names[:4] == ("a", "b", "c", "aa")
    np.testing.assert_allclose((found.matrix @ found.matrix.T).toarray(), kernel.fit(WORDS)(WORDS))


def test_functions_that_return_no_rows_are_told():
    kernel = kernels.FromFunction(lambda s, t: 1.0, "strings", lambda words: [[1.0]])
    with pytest.raises(KernelError, match=r"one image per object.*lambda batch"):
        kernel.feature_matrix(WORDS)
    with pytest.raises(ParameterError, match="'phi' parameter of FromFunction"):
        kernels.FromFunction(lambda s, t: 1.0, "strings", 3)
    assert kernels.FromFunction(lambda s, t: 1.0).fit(ROWS).feature_map() is None
