"""Mercer checks against complete decompositions, and counterexamples against enumeration."""

import itertools
import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mercer import certify_kernel, check_mercer, feature_vectors, kernels
from mercer.errors import InputError, KernelError, ParameterError
from mercer.gram.make import gram_of
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.theory import mercer as module
from mercer.theory.witness import fewest

GOOD = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]], dtype=float)
X = np.random.default_rng(0).normal(size=(40, 3))


def test_the_good_matrix_of_the_lecture():
    found = check_mercer(GOOD)
    assert found
    assert found.verdict == "psd"
    assert found.exact
    assert (found.smallest, found.largest) == (pytest.approx(0.641, abs=5e-4), pytest.approx(9.359, abs=5e-4))
    assert np.linalg.eigvalsh(GOOD).round(3).tolist() == [0.641, 1.0, 2.0, 5.0, 9.359]
    assert found.witness is None
    assert found.remedies == ()
    assert "1e-10 of the trace" in found.tolerance_reason


def test_the_derivation_is_printed():
    found = check_mercer(kernels.RBF() + kernels.Polynomial(degree=2) * kernels.Linear(), X)
    assert found.promise == "proven"
    assert "Sum: PSD because" in str(found)
    assert "Product: PSD because" in str(found)
    refuted = check_mercer(kernels.Sigmoid(gamma=1.0, coef0=-1.0), X)
    assert refuted.promise == "not proven"
    assert not refuted


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 12))
@example(1173, 6)  # removing one object after another ends at four, where three others are enough
@example(169, 8)
def test_verdict_vector_and_witness(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    K = (A + A.T) / 2 + rng.uniform(0, 3) * np.eye(n)
    lowest = np.linalg.eigvalsh(K)[0]
    found = check_mercer(K)
    assert found.psd == (lowest >= -found.tolerance)
    assert found.smallest == pytest.approx(lowest, abs=1e-12)
    if found.psd:
        return
    assert found.vector @ K @ found.vector == pytest.approx(lowest)
    witness = found.witness
    block = K[np.ix_(witness.objects, witness.objects)]
    assert witness.vector @ block @ witness.vector == pytest.approx(witness.value)
    assert witness.value < -found.tolerance
    if n <= 8:  # no fewer objects would do
        for size in range(1, len(witness.objects)):
            for subset in itertools.combinations(range(n), size):
                assert np.linalg.eigvalsh(K[np.ix_(subset, subset)])[0] >= -found.tolerance


def test_a_witness_that_needs_nearly_all():
    """Any 54 of the objects are proper, and no half of them shows anything."""
    K = np.eye(60) - 1.1 / 60
    found = check_mercer(K)
    assert len(found.witness.objects) == 55
    assert found.witness.value == pytest.approx(1 - 1.1 * 55 / 60)


def test_a_witness_of_three_among_many():
    bad = np.array([[1, 0.7, 0.7], [0.7, 1, -0.7], [0.7, -0.7, 1]])
    assert np.linalg.eigvalsh(bad)[0] < 0
    assert all(np.linalg.det(bad[np.ix_(p, p)]) > 0 for p in ([0, 1], [0, 2], [1, 2]))
    K = np.eye(120)
    places = [17, 60, 101]
    K[np.ix_(places, places)] = bad
    assert fewest(K, 1e-9).objects == (17, 60, 101)


def test_remedies_do_what_they_say():
    K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]])
    found = check_mercer(K)
    by = {remedy.name: remedy for remedy in found.remedies}
    values, vectors = np.linalg.eigh(K)
    for name, mapped in (
        ("clip", (vectors * np.maximum(values, 0)) @ vectors.T),
        ("flip", (vectors * np.abs(values)) @ vectors.T),
        ("shift", K - values[0] * np.eye(3)),
    ):
        assert by[name].change == pytest.approx(np.linalg.norm(mapped - K) / np.linalg.norm(K))
        assert by[name].smallest == pytest.approx(np.linalg.eigvalsh(mapped)[0], abs=1e-12)
        assert by[name].works
    assert not by["normalise"].works
    limit = float(by["smaller lambda"].meaning.split("<= ")[1].split(",")[0])
    damped = lambda factor: factor * K + (1 - factor) * np.eye(3)  # noqa: E731
    assert np.linalg.eigvalsh(damped(limit - 1e-4))[0] > 0 > np.linalg.eigvalsh(damped(limit + 1e-3))[0]


def test_what_is_no_gram_matrix_at_all():
    assert check_mercer(np.ones((2, 3))).verdict == "not square"
    broken = check_mercer([[1.0, np.inf], [1.0, 1.0]])
    assert (broken.verdict, broken.where) == ("not finite", (0, 1))
    lopsided = check_mercer([[1.0, 0.5, 0], [0.5, 1.0, 0.1], [0, 0.4, 1.0]])
    assert (lopsided.verdict, lopsided.where, lopsided.asymmetry) == ("asymmetric", (1, 2), pytest.approx(0.3))
    function = kernels.FromFunction(lambda a, b: float(a[0] * b[1]), objects="vectors")
    assert check_mercer(function, X).verdict == "asymmetric"
    rounded = check_mercer([[2.0, 1.0], [1.0 + 1e-13, 2.0]])  # symmetric up to rounding: that of its mean
    assert rounded.psd
    assert (rounded.smallest, rounded.largest) == (pytest.approx(1.0), pytest.approx(3.0))
    assert check_mercer([[0.0]]).psd
    assert check_mercer(np.zeros((3, 3))).psd
    assert check_mercer([[-1.0]]).witness.objects == (0,)


def test_large_matrices(monkeypatch):
    monkeypatch.setattr(module, "DIRECT", 50)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 2))
    found = check_mercer(kernels.RBF(0.5), points)
    assert found.psd
    assert not found.exact
    assert "Lanczos" in found.method
    K = kernels.RBF(0.5).fit(points)(points)
    assert check_mercer(K).largest == pytest.approx(np.linalg.eigvalsh(K)[-1], rel=1e-2)
    K[3, 200] = K[200, 3] = 1.5  # one pair more alike than with themselves
    hurt = check_mercer(K)
    assert hurt.verdict == "indefinite"
    assert hurt.witness.objects == (3, 200)
    assert hurt.vector @ K @ hurt.vector == pytest.approx(hurt.smallest, abs=1e-6)
    assert hurt.smallest == pytest.approx(np.linalg.eigvalsh(K)[0], rel=0.05)


def test_remedies_of_large_matrices_are_those_of_a_complete_decomposition(monkeypatch):
    rng = np.random.default_rng(4)
    A = rng.normal(size=(260, 260))
    K = A @ A.T / 260 + np.diag(rng.uniform(0.5, 2.0, 260))
    for i, j in ((3, 90), (10, 200), (40, 41)):
        K[i, j] = K[j, i] = 6.0
    whole = {remedy.name: remedy for remedy in check_mercer(K).remedies}
    monkeypatch.setattr(module, "DIRECT", 50)
    found = check_mercer(K)
    assert not found.exact
    assert [remedy.name for remedy in found.remedies] == list(whole)
    for remedy in found.remedies:
        assert remedy.works == whole[remedy.name].works
        assert remedy.change == pytest.approx(whole[remedy.name].change, rel=0.2, abs=1e-9), remedy.name
        assert "Lanczos" in remedy.by
        assert remedy.by in str(remedy)
    limits = [float(by["smaller lambda"].meaning.split("<= ")[1].split(",")[0]) for by in (
        whole, {remedy.name: remedy for remedy in found.remedies}
    )]  # fmt: skip
    assert limits[1] == pytest.approx(limits[0], rel=0.02)


def test_a_smaller_decay_is_tried_on_a_sample(monkeypatch):
    monkeypatch.setattr(module, "DIRECT", 30)
    numbers = [[float(i)] for i in range(60)]
    found = check_mercer(Alternating(decay=4.0), numbers)
    assert found.verdict == "indefinite"
    decay = next(remedy for remedy in found.remedies if remedy.name == "smaller decay")
    assert "of 60 objects" in decay.by
    chosen = float(decay.meaning.split("= ")[1].split()[0])
    assert check_mercer(Alternating(decay=chosen), numbers).psd


@dataclass(frozen=True)
class Alternating(Kernel):
    """1 on the diagonal, decay / n beside it: no kernel for a large decay."""

    decay: float = 1.0
    domain = Vectors

    @property
    def psd(self) -> bool:
        return False

    def features(self, objects, state, dtype):
        return objects

    def tile(self, left, right, state, out):
        signs = np.cos(np.pi * left.values[:, 0])[:, None] * np.cos(np.pi * right.values[:, 0])
        same = left.values[:, 0][:, None] == right.values[:, 0]
        out[...] = np.where(same, 1.0, -self.decay / 50 * signs)

    def diagonal(self, features, state):
        return np.ones(len(features))

    @classmethod
    def examples(cls):
        yield cls()


def test_tolerance_can_be_set():
    K = np.array([[1.0, 1.001], [1.001, 1.0]])
    assert not check_mercer(K)
    assert check_mercer(K, tol=1e-2)
    with pytest.raises(ParameterError, match="'tol'"):
        check_mercer(K, tol=-1.0)


def test_shown_and_serialised():
    found = check_mercer(np.array([[1.0, 2.0], [2.0, 1.0]]))
    data = json.loads(found.to_json())
    assert data["verdict"] == "indefinite"
    assert data["psd"] is False
    assert data["witness"]["objects"] == [0, 1]
    assert "<b>indefinite</b>" in found._repr_html_()
    assert "witness" in str(found)


class TestFeatureVectors:
    @settings(max_examples=30)
    @given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 5))
    def test_products_are_the_matrix(self, seed, n, rank):
        A = np.random.default_rng(seed).normal(size=(n, rank))
        Phi = feature_vectors(A @ A.T)
        assert Phi.shape == (n, min(n, rank))
        assert np.allclose(Phi @ Phi.T, A @ A.T)
        assert (np.diff(np.linalg.norm(Phi, axis=0)) <= 1e-12).all()

    def test_refusals(self):
        with pytest.raises(KernelError, match="no feature vectors"):
            feature_vectors([[1.0, 2.0], [2.0, 1.0]])
        with pytest.raises(KernelError, match="2 rows and 3 columns"):
            feature_vectors(np.ones((2, 3)))
        assert feature_vectors(np.zeros((3, 3))).shape == (3, 0)


class TestCertify:
    def test_the_fewest_objects(self):
        """-|a - b| fails for two different numbers; exp(-|a - b|^3) is no kernel either, but needs more of them."""
        distance = kernels.FromFunction(lambda a, b: -abs(a - b), objects="items")
        found = certify_kernel(distance, lambda rng, n: rng.integers(0, 9, n).tolist())
        assert found.verdict == "indefinite"
        assert len(found.objects) == 2
        assert found.objects[0] != found.objects[1]
        assert found.value == pytest.approx(-abs(found.objects[0] - found.objects[1]))
        cubed = kernels.FromFunction(lambda a, b: float(np.exp(-(abs(a - b) ** 3))), objects="items")
        found = certify_kernel(cubed, lambda rng, n: rng.uniform(0, 2, n).tolist())
        assert found.refuted
        assert len(found.objects) >= 3
        assert np.linalg.eigvalsh(found.matrix)[0] == pytest.approx(found.value)

    def test_proven_and_not_refuted(self):
        proven = certify_kernel(kernels.RBF(1.0), list(X), trials=10)
        assert proven.verdict == "proven"
        assert bool(proven)
        assert "Gaussian" in proven.derivation
        product = kernels.FromFunction(lambda a, b: a * b, objects="items")
        assert certify_kernel(product, [1.0, 2.0, 3.0], trials=10).verdict == "not refuted"

    def test_asymmetric_and_broken_functions(self):
        lopsided = kernels.FromFunction(lambda a, b: a - b, objects="items")
        found = certify_kernel(lopsided, [1.0, 2.0, 5.0])
        assert found.verdict == "asymmetric"
        assert len(found.objects) == 2
        json.loads(found.to_json())
        assert "asymmetric" in found._repr_html_()

    def test_the_same_seed_gives_the_same_answer(self):
        sampler = lambda rng, n: rng.normal(size=(n, 2))  # noqa: E731
        one, two = (certify_kernel(kernels.Sigmoid(gamma=1.0), sampler, random_state=3) for _ in range(2))
        assert one.objects == two.objects

    def test_refusals(self):
        with pytest.raises(ParameterError, match="'sampler'"):
            certify_kernel(kernels.RBF(), "gattaca")
        with pytest.raises(InputError, match="empty"):
            certify_kernel(kernels.RBF(), [])


def test_refusals():
    with pytest.raises(InputError, match="pass a matrix alone"):
        check_mercer(np.eye(2), X)
    with pytest.raises(InputError, match="needs the objects"):
        check_mercer(kernels.RBF())
    with pytest.raises(InputError, match="shape"):
        check_mercer([1.0, 2.0])


def with_lowest(n, lowest, random):
    """A symmetric matrix with this smallest eigenvalue, all others about 1."""
    vectors = np.linalg.qr(random.normal(size=(n, n)))[0]
    return (vectors * np.r_[lowest, random.uniform(0.5, 1.5, size=n - 1)]) @ vectors.T


@pytest.mark.parametrize(("share", "verdict"), [(0.3e-6, True), (20e-6, False)])
def test_float32_matrices_are_allowed_the_rounding_of_float32(share, verdict):
    """A hundred times what float64 is allowed, and no more."""
    K = with_lowest(400, -share * 400, np.random.default_rng(0))
    for dtype, wanted in ((np.float32, verdict), (np.float64, False)):
        gram = gram_of(kernels.Precomputed().fit(K), K, dtype=dtype).stored()
        found = module._iterative(gram, None, np.random.default_rng(0), {}, None)
        assert (found.smallest >= -found.tolerance) == wanted
        assert (found.verdict == "psd") == wanted


def test_sub_matrices_find_what_lanczos_missed(monkeypatch):
    K = np.eye(600)
    alternating = np.where(np.add.outer(range(300), range(300)) % 2, 1.2, -1.2)
    K[:300, :300] += alternating * (1 - np.eye(300))
    assert np.linalg.eigvalsh(K)[0] < -0.1
    missed = (0.5, np.eye(600)[0], 2.0)
    monkeypatch.setattr(module, "lowest_pair", lambda *_: missed)
    gram = gram_of(kernels.Precomputed().fit(K), K, dtype=np.float64).stored()
    found = module._iterative(gram, None, np.random.default_rng(0), {}, None)
    assert found.smallest < -0.1
    assert found.verdict == check_mercer(K).verdict
