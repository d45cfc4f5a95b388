"""Kernels from functions."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import SVC, kernels
from mercer.errors import KernelError, ParameterError
from mercer.gram.make import gram_of
from mercer.inputs.vectors import Vectors
from mercer.kernels import FromBlocks, FromFunction

X = np.random.default_rng(0).normal(size=(9, 3))


def test_blocks_on_vectors_strings_and_items():
    assert np.array_equal(FromBlocks(lambda a, b: a @ b.T).fit(X)(X[:2], X), X[:2] @ X.T)
    lengths = FromBlocks(lambda a, b: np.outer([len(x) for x in a], [len(x) for x in b]), objects="strings")
    assert lengths.fit(["a", "bb"])(["a", "bb"]).tolist() == [[1, 2], [2, 4]]
    sets = FromBlocks(lambda a, b: [[len(x & y) for y in b] for x in a], objects="items")
    assert sets.fit([{1}, {1, 2}])([{1}, {1, 2}]).tolist() == [[1, 1], [1, 2]]


def test_blocks_may_be_sparse():
    rows = sp.csr_array(np.where(X > 0, X, 0))
    kernel = FromBlocks(lambda a, b: a @ b.T)
    np.testing.assert_allclose(kernel.fit(rows)(rows), (rows @ rows.T).toarray())


def test_float32_rows_reach_the_function_as_float64():
    seen = []
    FromBlocks(lambda a, b: (seen.append(a.dtype), a @ b.T)[1]).fit(X)(X.astype(np.float32), X)
    assert set(seen) == {np.dtype(np.float64)}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: np.zeros((3, 3)), r"array of shape \(9, 9\); it returned shape \(3, 3\)"),
        (lambda a, b: 1.0, r"it returned shape \(\)"),
        (lambda a, b: a @ b.T * np.nan, r"returned nan for the pair \(0, 0\)"),
        (lambda a, b: 1 / 0, r"raised ZeroDivisionError"),
    ],
)
def test_blocks_that_break_the_contract(function, message):
    fitted = FromBlocks(function).fit(X)
    with pytest.raises(KernelError, match=message):
        fitted(X, X)


def test_the_cause_is_chained():
    fitted = FromFunction(lambda a, b: {}["missing"]).fit(X)
    with pytest.raises(KernelError, match="raised KeyError") as caught:
        fitted(X, X)
    assert isinstance(caught.value.__cause__, KeyError)


def test_functions_of_pairs():
    assert np.allclose(FromFunction(lambda a, b: float(a @ b)).fit(X)(X), X @ X.T)
    overlap = FromFunction(lambda a, b: len(set(a) & set(b)), objects="strings")
    assert overlap.fit(["abc", "bcd"])(["abc", "bcd"]).tolist() == [[3, 2], [2, 3]]


def test_a_compiled_function_runs_compiled_and_gives_the_same():
    @numba.njit
    def dot(a, b):
        total = 0.0
        for i in range(len(a)):
            total += a[i] * b[i]
        return total

    compiled = FromFunction(dot)
    assert compiled._loop is not None
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        got = gram_of(compiled.fit(X), X, dtype=dtype).dense()
        np.testing.assert_allclose(got, X @ X.T, atol=tolerance)
    assert FromFunction(lambda a, b: 0.0)._loop is None


@pytest.mark.parametrize("returned", ["text", None, [1.0, 2.0]])
def test_a_pair_function_must_return_a_number(returned):
    fitted = FromFunction(lambda a, b: returned).fit(X)
    with pytest.raises(KernelError, match="must return one number per pair; it returned"):
        fitted(X, X)


def test_infinite_values_are_refused():
    fitted = FromFunction(lambda a, b: np.inf).fit(X)
    with pytest.raises(KernelError, match="returned inf"):
        fitted(X, X)


@pytest.mark.parametrize("kind", [FromBlocks, FromFunction])
def test_parameters(kind):
    with pytest.raises(ParameterError, match="a function of two arguments"):
        kind("linear")
    with pytest.raises(ParameterError, match="one of 'vectors', 'strings', 'items'"):
        kind(len, objects="graphs")


def test_nothing_is_claimed_of_unknown_functions():
    kernel = FromBlocks(lambda a, b: a @ b.T)
    assert not kernel.psd
    assert not kernel.symmetric


def test_a_pair_function_given_as_a_block_function():
    with pytest.raises(
        KernelError, match=r"returned shape \(\)\. If it compares two objects, use kernels.FromFunction"
    ):
        SVC(kernel=lambda x, z: 1.0).fit([[0.0], [1.0]], [0, 1])


def test_a_class_is_no_kernel_yet():
    with pytest.raises(ParameterError, match=r"make one: RBF\(\)"):
        SVC(kernel=kernels.RBF).fit([[0.0], [1.0]], [0, 1])


def test_a_kernel_that_is_no_dataclass():
    class Plain(kernels.Kernel):
        domain = Vectors

        def features(self, objects, state, dtype):
            return objects

        def tile(self, left, right, state, out):
            out[...] = left.values @ right.values.T

        def diagonal(self, features, state):
            return (features.values**2).sum(axis=1)

        @classmethod
        def examples(cls):
            yield cls()

    for ask in (repr, hash, lambda kernel: kernel.get_params(), lambda kernel: kernel.derivation()):
        with pytest.raises(TypeError, match=r"Plain must be declared with @dataclass\(frozen=True\)"):
            ask(Plain())


class TestEachPairOnce:
    """A function that is said to be symmetric is called once for every unordered pair of objects."""

    @staticmethod
    def counted(**flags):
        calls = {}

        def overlap(a, b):
            key = tuple(sorted((a, b)))
            calls[key] = calls.get(key, 0) + 1
            return float(len(set(a) & set(b)))

        return kernels.FromFunction(overlap, objects="strings", **flags), calls

    WORDS = tuple("".join(chr(97 + (i * k) % 26) for k in range(1, 5)) + str(i) for i in range(40))
    LABELS = np.arange(40) % 2

    @pytest.mark.parametrize(
        "learner",
        [SVC(), mercer.NuSVC(nu=0.2), mercer.KernelRidge(), mercer.KernelLogisticRegression(), mercer.KernelPCA(2)],
        ids=lambda one: type(one).__name__,
    )
    @pytest.mark.parametrize("psd", [True, False])
    def test_in_a_fit(self, learner, psd):
        kernel, calls = self.counted(symmetric=True, psd=psd)
        learner.set_params(kernel=kernel).fit(list(self.WORDS), self.LABELS)
        assert len(calls) == 40 * 41 // 2
        assert set(calls.values()) == {1}

    def test_values_are_the_same(self):
        once, _ = self.counted(symmetric=True)
        twice, _ = self.counted()
        words = list(self.WORDS)
        assert np.array_equal(once.fit(words)(words), twice.fit(words)(words))
        assert np.array_equal(once.fit(words)(words[:7], words), twice.fit(words)(words[:7], words))
        gram = gram_of(once.fit(words), words)
        assert np.array_equal(gram.dense(), twice.fit(words)(words))
        assert np.array_equal(gram.view(np.arange(5)).dense(), gram.dense()[:5, :5])

    def test_nothing_said_is_checked(self):
        kernel, calls = self.counted()
        mercer.SVC(kernel=kernel).fit(list(self.WORDS), self.LABELS)
        assert set(calls.values()) == {2}  # both ways round
