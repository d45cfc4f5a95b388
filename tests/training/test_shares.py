"""Certificates of components and clusters, against dense linear algebra and all possible clusterings."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import KernelCCA, KernelFisherDiscriminant, KernelKMeans, KernelPCA, SpectralClustering, kernels
from mercer.training.shares import WORDINGS, ShareCertificate

X, Y = load_iris(return_X_y=True)
WORDS = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg", "gtgtg", "tgtgt"]


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


def partitions(n, k):
    """All assignments of n objects to k clusters, none of them empty."""
    for labels in itertools.product(range(k), repeat=n - 1):
        labels = np.array((0, *labels))
        if len(set(labels)) == k and all(labels[: i + 1].max() <= max(labels[:i].max() + 1, 0) for i in range(1, n)):
            yield labels


def inertia(K, labels):
    total = float(np.trace(K))
    for c in set(labels):
        mine = labels == c
        total -= K[np.ix_(mine, mine)].sum() / mine.sum()
    return total


def cut(K, labels):
    W = K - np.diag(np.diag(K))
    return sum(W[labels == c][:, labels != c].sum() / W[labels == c].sum() for c in set(labels))


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_components(k):
    K = rbf_kernel(X, gamma=0.5)
    values = np.linalg.eigvalsh(centred(K))[::-1]
    model = KernelPCA(k, kernel="rbf", gamma=0.5).fit(X)
    proof = model.certificate_
    assert proof.explained == pytest.approx(values[:k].sum() / values.sum(), rel=1e-10)
    assert proof.explainable == pytest.approx(proof.explained, rel=1e-9)
    assert proof.explainable >= proof.explained
    images = centred(K) @ model.eigenvectors_
    residual = np.linalg.norm(images - model.eigenvectors_ * model.eigenvalues_, axis=0).max() / values[0]
    assert residual < 1e-13
    assert proof.residual < 1e-13
    assert f"{k} component" in str(proof)


def test_components_by_iteration_in_single_precision_are_judged_in_double():
    digits = load_digits().data
    data = np.vstack([digits, digits[:600] + 0.5])
    model = KernelPCA(4, kernel="rbf", gamma=1e-3, tol=1e-4).fit(data)
    A = centred(rbf_kernel(data, gamma=1e-3))
    proof, values = model.certificate_, np.linalg.eigvalsh(A)[::-1]
    assert proof.dtype == "float32"
    residual = np.linalg.norm(A @ model.eigenvectors_ - model.eigenvectors_ * model.eigenvalues_, axis=0).max()
    assert proof.residual == pytest.approx(residual / values[0], rel=1e-2)
    assert proof.residual > 1e-9, "single precision and a loose tolerance are seen"
    assert proof.explained <= values[:4].sum() / values.sum() <= proof.explainable
    assert proof.total == pytest.approx(values.sum(), rel=1e-9)


def test_components_that_are_wrong_are_found_out():
    model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    from mercer.gram.make import gram_of
    from mercer.training.share_proofs import of_components

    gram = gram_of(model.kernel_, X)
    right = of_components(gram, model.eigenvalues_, model.eigenvectors_, dtype="float64", psd=True)
    other = KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    wrong = of_components(gram, other.eigenvalues_[1:], other.eigenvectors_[:, 1:], dtype="float64", psd=True)
    assert wrong.residual < 1e-13, "eigenvectors they are"
    assert wrong.explained < right.explained == pytest.approx(wrong.explainable)
    bent = model.eigenvectors_ + 1e-3 * np.random.default_rng(0).normal(size=model.eigenvectors_.shape)
    proof = of_components(gram, model.eigenvalues_, bent, dtype="float64", psd=True)
    assert proof.residual > 1e-3
    for unit in (2.0**-30, 2.0**30):  # of kernel values: what is wrong is wrong by the same share of them
        small = gram_of((unit * kernels.RBF(gamma=0.5)).fit(X), X)
        same = of_components(small, unit * model.eigenvalues_, bent, dtype="float64", psd=True)
        assert same.residual == pytest.approx(proof.residual, rel=1e-6)
        assert same.left == pytest.approx(unit * proof.left, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("kernel", [kernels.Spectrum(2), kernels.RBF(gamma=0.3, over=kernels.Spectrum(1))], ids=str)
def test_no_clusters_of_few_objects_are_below_the_bound(k, kernel):
    K = kernel.fit(WORDS)(WORDS)
    best = min(inertia(K, labels) for labels in partitions(len(WORDS), k))
    model = KernelKMeans(k, kernel=kernel, random_state=0).fit(WORDS)
    proof = model.certificate_
    assert proof.left == pytest.approx(inertia(K, model.labels_), abs=1e-9) == pytest.approx(model.inertia_, abs=1e-9)
    assert proof.least <= best + 1e-9 <= proof.left + 1e-9
    assert proof.total == pytest.approx(np.trace(centred(K)))
    values = np.linalg.eigvalsh(centred(K))[::-1]
    assert proof.least == pytest.approx(max(values[k - 1 :].sum(), 0.0), abs=1e-9), "the relaxation itself"


@pytest.mark.parametrize("k", [2, 3])
def test_no_clusters_of_few_objects_cut_less_than_the_bound(k):
    kernel = kernels.RBF(gamma=0.1, over=kernels.Spectrum(1))
    K = kernel.fit(WORDS)(WORDS)
    best = min(cut(K, labels) for labels in partitions(len(WORDS), k))
    model = SpectralClustering(k, kernel=kernel, random_state=0).fit(WORDS)
    proof = model.certificate_
    assert proof.left == pytest.approx(cut(K, model.labels_), abs=1e-9)
    assert 0.0 < proof.least <= best + 1e-9 <= proof.left + 1e-9
    assert proof.residual < 1e-12


def test_clusters_that_could_be_better_are_found_out():
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(X)
    from mercer.gram.make import gram_of
    from mercer.training.share_proofs import of_clusters

    assert model.certificate_.residual == 0.0
    assert "its own cluster" in str(model.certificate_)
    worse = model.labels_.copy()
    worse[0] = (worse[0] + 1) % 3
    proof = of_clusters(gram_of(model.kernel_, X), worse, dtype="float64", psd=True)
    assert proof.residual > 1e-3
    assert proof.left > model.certificate_.left


def test_many_objects_have_a_bound_without_all_eigenvalues():
    digits = load_digits().data
    data = np.vstack([digits, digits[:600] + 0.5])
    proof = KernelKMeans(4, kernel="rbf", gamma=1e-4, n_init=1, random_state=0).fit(data).certificate_
    values = np.linalg.eigvalsh(centred(rbf_kernel(data, gamma=1e-4)))[::-1]
    exact = values[3:].sum()
    assert proof.least <= exact * (1 + 1e-9), "a bound below the relaxation is still a bound"
    assert proof.least > 0.9 * exact


def test_an_object_like_no_other_is_a_part_by_itself():
    K = np.eye(5)
    K[:2, :2] = K[2:4, 2:4] = 1.0
    model = SpectralClustering(3, kernel="precomputed", random_state=0).fit(K)
    assert len(set(model.labels_)) == 3
    assert model.certificate_.left == pytest.approx(0.0, abs=1e-12)
    assert model.certificate_.explained == pytest.approx(1.0)


@pytest.mark.parametrize("shown", [None, 1])
def test_discriminants(shown):
    alpha = 0.5
    A = centred(rbf_kernel(X, gamma=0.2))
    G = np.zeros((len(Y), 3))
    for c in range(3):
        G[c == Y, c] = 1.0 / np.sqrt((c == Y).sum())
    G = G - G.mean(axis=0)
    ratios = np.linalg.eigvalsh(G.T @ A @ np.linalg.solve(A + alpha * np.eye(len(A)), G))[::-1]
    model = KernelFisherDiscriminant(alpha, gamma=0.2, n_components=shown).fit(X, Y)
    proof = model.certificate_
    k = 2 if shown is None else shown
    assert proof.size == k
    assert proof.explained == pytest.approx(ratios[:k].sum() / ratios.sum(), rel=1e-9)
    assert proof.explained <= proof.explainable == pytest.approx(proof.explained, rel=1e-9)
    assert proof.residual < 1e-10


def test_correlations():
    one, two, alpha = X[:, :2], X[:, 2:], 0.01
    A, B = centred(rbf_kernel(one, gamma=0.5)), centred(rbf_kernel(two, gamma=0.5))
    ridge = len(X) * alpha

    def half(M):  # M^1/2 (M + ridge)^-1/2
        values, vectors = np.linalg.eigh(M)
        return (vectors * np.sqrt(np.maximum(values, 0) / (np.maximum(values, 0) + ridge))) @ vectors.T

    rho = np.linalg.svd(half(A) @ half(B), compute_uv=False)
    proof = KernelCCA(2, kernel="rbf", gamma=0.5, alpha=alpha).fit(one, two).certificate_
    assert proof.explained == pytest.approx(rho[:2].sum() / rho.sum(), rel=1e-6)
    assert proof.explained <= proof.explainable == pytest.approx(proof.explained, rel=1e-6)
    assert proof.residual < 1e-4


MODELS = [
    (KernelPCA(2, kernel="rbf"), X, None),
    (KernelCCA(1), X[:, :2], X[:, 2:]),
    (KernelFisherDiscriminant(), X, Y),
    (KernelKMeans(3, random_state=0), X, None),
    (SpectralClustering(3, random_state=0), X, None),
]


@pytest.mark.parametrize(("model", "objects", "targets"), MODELS, ids=lambda item: type(item).__name__)
def test_files_keep_them_and_they_read_well(tmp_path, model, objects, targets, capsys):
    from mercer.cli.app import main

    model.fit(objects, targets) if targets is not None else model.fit(objects)
    path = tmp_path / "model.mercer"
    mercer.save(model, path)
    again = mercer.load(path)
    assert again.certificate_ == model.certificate_
    words = str(again.certificate_)
    assert "%" in words
    assert "no other choice" in words
    assert words.endswith(".")
    assert "nan" not in words.split()
    with pytest.raises(SystemExit) as ended:
        main(["info", str(path)])
    assert not ended.value.code
    assert "no other choice" in " ".join(capsys.readouterr().out.split())


def test_a_single_one_is_said_in_the_singular():
    for subject in WORDINGS:
        proof = ShareCertificate(subject, 1, 1.0, 0.5, 2.0, 1e-3, "float64")
        assert proof.explained == 0.5
        assert proof.explainable == 0.75
        assert proof.relative_gap == 0.5
        assert "1 components" not in str(proof)
        assert "1 clusters" not in str(proof)
        assert "1 pairs" not in str(proof)
    assert ShareCertificate("components", 2, 0.0, 0.0, 0.0, 0.0, "float64").explained == 1.0


def test_a_repaired_matrix_is_the_one_that_is_certified():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(30, 30))
    K = K + K.T
    values, vectors = np.linalg.eigh(K)
    clipped = np.linalg.eigvalsh(centred((vectors * np.maximum(values, 0)) @ vectors.T))[::-1]
    proof = KernelPCA(3, kernel="precomputed", psd="clip").fit(K).certificate_
    assert proof.explained == pytest.approx(clipped[:3].sum() / clipped.sum(), rel=1e-9)
    assert proof.residual < 1e-12
