"""Learning without labels: against scikit-learn, slow twins, and explicit feature spaces."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.cluster import SpectralClustering as TheirSpectral
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelCCA, KernelFisherDiscriminant, KernelKMeans, KernelPCA, SpectralClustering, kernels
from mercer.errors import InputError, KernelError, KernelWarning, ParameterError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 4)) * [3, 2, 1, 0.5]
IRIS = load_iris(return_X_y=True)
WORDS = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg", "gatta", "gcgcc"]


@parametrize_with_checks(
    [
        KernelPCA(2),
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelKMeans(3, random_state=0),
        SpectralClustering(3, random_state=0),
        KernelFisherDiscriminant(),
        KernelCCA(1),
    ]
)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


# --------------------------------------------------------------------------------------------------------------- PCA


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("components", [3, None])
def test_pca_is_scikit_learns(kernel, components):
    shape = {"gamma": 0.1, "degree": 2, "coef0": 1.0} if kernel != "linear" else {}
    ours = KernelPCA(components, kernel=kernel, **shape)
    scores = ours.fit_transform(X)
    theirs = TheirPCA(components, kernel=kernel, eigen_solver="dense", **shape)
    expected = theirs.fit_transform(X)
    k = min(scores.shape[1], expected.shape[1])
    assert k >= 3
    assert np.allclose(ours.eigenvalues_[:k], theirs.eigenvalues_[:k])
    signs = np.sign((scores[:, :k] * expected[:, :k]).sum(axis=0))
    assert np.allclose(scores[:, :k] * signs, expected[:, :k], atol=1e-6)
    new = RANDOM.normal(size=(7, 4))
    assert np.allclose(ours.transform(new)[:, :3] * signs[:3], theirs.transform(new)[:, :3], atol=1e-7)
    assert np.allclose(ours.transform(X), scores, atol=1e-7)


def test_linear_kernel_pca_is_pca():
    ours, theirs = KernelPCA(2).fit(X), PCA(2).fit(X)
    assert np.allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)))
    assert np.allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)


def test_iteration_and_decomposition_agree():
    big = RANDOM.normal(size=(900, 5))
    iterated = KernelPCA(5, kernel="rbf", gamma=0.2, random_state=3).fit(big)
    all_of_them = KernelPCA(kernel="rbf", gamma=0.2).fit(big)
    assert np.allclose(iterated.eigenvalues_, all_of_them.eigenvalues_[:5], rtol=1e-9)
    assert np.allclose(iterated.transform(big[:9]), all_of_them.transform(big[:9])[:, :5], atol=1e-4)


def test_way_back_is_scikit_learns_and_removes_noise():
    points, _ = make_circles(150, noise=0.0, factor=0.3, random_state=0)
    noisy = points + 0.08 * RANDOM.normal(size=points.shape)
    options = {"kernel": "rbf", "gamma": 3.0, "fit_inverse_transform": True, "alpha": 0.01}
    ours, theirs = KernelPCA(6, **options).fit(noisy), TheirPCA(6, **options).fit(noisy)
    back = ours.inverse_transform(ours.transform(noisy))
    assert np.allclose(back, theirs.inverse_transform(theirs.transform(noisy)), atol=1e-6)
    assert np.linalg.norm(back - points) < np.linalg.norm(noisy - points)
    with pytest.raises(InputError, match="6 components"):
        ours.inverse_transform([[1.0]])


def test_pca_refusals():
    with pytest.raises(InputError, match="was not learnt"):
        KernelPCA(2).fit(X).inverse_transform(X[:, :2])
    with pytest.raises(InputError, match="cannot reconstruct"):
        KernelPCA(2, kernel=kernels.Spectrum(2), fit_inverse_transform=True).fit(WORDS)
    with pytest.raises(InputError, match="dense vectors"):
        KernelPCA(2, fit_inverse_transform=True).fit(sp.csr_array(X))
    with pytest.raises(ParameterError, match="at most the number of objects"):
        KernelPCA(61).fit(X)
    indefinite = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 0.1], [0.5, 0.1, 1.0]])
    with pytest.warns(KernelWarning, match="not positive semi-definite"):
        assert KernelPCA(kernel="precomputed").fit_transform(indefinite).shape[1] == 1


def test_pca_of_constant_objects_has_no_components():
    same = np.ones((5, 2))
    assert KernelPCA().fit_transform(same).shape == (5, 0)
    assert (KernelPCA(2).fit(same).transform(same) == 0).all()


# ----------------------------------------------------------------------------------------------------------- k-means


def brute_force_inertia(K, labels):
    total = 0.0
    for c in np.unique(labels):
        block = K[np.ix_(labels == c, labels == c)]
        total += np.trace(block) - block.sum() / len(block)
    return total


def test_linear_kernel_kmeans_is_kmeans():
    points, _ = IRIS
    ours = KernelKMeans(3, kernel="linear", random_state=0).fit(points)
    theirs = KMeans(3, n_init=10, random_state=0).fit(points)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert np.array_equal(ours.predict(points), ours.labels_)


@pytest.mark.parametrize("seed", range(4))
def test_inertia_is_that_of_the_feature_space(seed):
    model = KernelKMeans(4, gamma=0.3, random_state=seed, n_init=2).fit(X)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert model.inertia_ == pytest.approx(brute_force_inertia(K, model.labels_))
    # No single move makes it better by Lloyd's rule: every object is with its nearest mean.
    assert np.array_equal(model.predict(X), model.labels_)
    assert len(np.unique(model.labels_)) == 4


def test_kmeans_with_as_many_clusters_as_objects_and_duplicates():
    model = KernelKMeans(5, kernel="linear", random_state=0).fit(np.arange(5.0)[:, None])
    assert sorted(model.labels_) == [0, 1, 2, 3, 4]
    assert model.inertia_ == pytest.approx(0.0, abs=1e-9)
    assert KernelKMeans(3, random_state=0).fit(np.ones((6, 2))).inertia_ == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ParameterError, match="n_samples=2"):
        KernelKMeans(3).fit(np.ones((2, 2)))


def test_kmeans_repeats():
    one, two = (KernelKMeans(4, random_state=7).fit(X).labels_ for _ in range(2))
    assert np.array_equal(one, two)


# ---------------------------------------------------------------------------------------------------------- spectral


@pytest.mark.parametrize("assign", ["kmeans", "cluster_qr"])
@pytest.mark.parametrize("size", [200, 700])
def test_spectral_is_scikit_learns(assign, size):
    points, _ = make_circles(size, noise=0.03, factor=0.4, random_state=0)
    ours = SpectralClustering(2, gamma=30.0, random_state=0, assign_labels=assign).fit(points)
    theirs = TheirSpectral(2, gamma=30.0, random_state=0, assign_labels=assign).fit(points)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


def test_spectral_refuses_negative_similarities_and_keeps_lonely_objects():
    with pytest.raises(KernelError, match="not negative"):
        SpectralClustering(2, kernel="linear").fit(X)
    K = np.eye(5)
    K[:2, :2] = K[2:4, 2:4] = 1.0
    labels = SpectralClustering(3, kernel="precomputed", random_state=0).fit_predict(K)
    assert len(set(labels)) == 3
    assert labels[0] == labels[1] != labels[2] == labels[3] != labels[4]


# ------------------------------------------------------------------------------------------------ Fisher's discriminant


def test_linear_fisher_is_linear_discriminant_analysis():
    points, y = IRIS
    ours = KernelFisherDiscriminant(1e-9, kernel="linear").fit(points, y)
    theirs = LinearDiscriminantAnalysis().fit(points, y)
    assert (ours.predict(points) == theirs.predict(points)).all()
    z, expected = ours.transform(points), theirs.transform(points)
    assert np.allclose(np.abs(np.corrcoef(z.T, expected.T)[[0, 1], [2, 3]]), 1.0)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_fisher_maximises_its_ratio(alpha):
    """Against the generalised eigenproblem in the explicit feature space of the squared dot product."""
    points, y = make_moons(50, noise=0.2, random_state=0)
    a, b = points.T
    phi = np.column_stack([a**2, b**2, np.sqrt(2) * a * b])
    centred = phi - phi.mean(axis=0)
    means = np.array([centred[y == label].mean(axis=0) for label in y])
    between, total = means.T @ means, centred.T @ centred
    best = np.linalg.eigvals(np.linalg.solve(total + alpha * np.eye(3), between)).real.max()
    model = KernelFisherDiscriminant(alpha, kernel=kernels.Polynomial(degree=2, coef0=0.0)).fit(points, y)
    assert model.separation_[0] == pytest.approx(best / (1 - best), rel=1e-6)
    w = model.expansion_.coefficients[:, 0] @ phi
    assert w @ between @ w / (w @ (total + alpha * np.eye(3)) @ w) == pytest.approx(best, rel=1e-6)


def test_fisher_on_moons_and_words():
    points, y = make_moons(200, noise=0.2, random_state=0)
    assert KernelFisherDiscriminant(0.1, gamma=2.0).fit(points, y).score(points, y) > 0.95
    model = KernelFisherDiscriminant(kernel=kernels.Spectrum(2)).fit(WORDS, list("aaabbbab"))
    assert model.predict(["gattat"]).tolist() == ["a"]
    with pytest.raises(ParameterError, match="'alpha'"):
        KernelFisherDiscriminant(0.0).fit(points, y)


# --------------------------------------------------------------------------------------------------------------- CCA


def test_linear_cca_is_cca():
    z = RANDOM.normal(size=(200, 2))
    one = np.column_stack([z[:, 0] + 0.3 * RANDOM.normal(size=200), RANDOM.normal(size=200), z[:, 1]])
    two = np.column_stack([z[:, 0] - z[:, 1], z[:, 1] + RANDOM.normal(size=200), RANDOM.normal(size=200)])
    ours = KernelCCA(2, alpha=1e-8, kernel="linear").fit(one, two)
    p, q = CCA(2, max_iter=5000).fit(one, two).transform(one, two)
    expected = [np.corrcoef(p[:, i], q[:, i])[0, 1] for i in range(2)]
    assert np.allclose(ours.correlations_, expected, atol=1e-4)
    f, g = ours.transform(one, two)
    assert np.allclose([np.corrcoef(f[:, i], g[:, i])[0, 1] for i in range(2)], expected, atol=1e-4)
    assert np.allclose(f.std(axis=0), 1.0, atol=1e-3)


def test_cca_of_strings_and_numbers():
    gc = np.array([word.count("g") + word.count("c") for word in WORDS], dtype=float)
    model = KernelCCA(1, alpha=0.01, kernel=kernels.Spectrum(1), kernel_y="linear").fit(WORDS, gc)
    assert model.correlations_[0] > 0.9
    with pytest.raises(InputError, match="same objects"):
        model.fit(WORDS, gc[:3])


# ---------------------------------------------------------------------------------------------------------- in common


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (KernelPCA(2, kernel=kernels.Spectrum(2)), (WORDS,)),
        (KernelPCA(2, kernel="rbf", fit_inverse_transform=True), (X,)),
        (KernelPCA(2, kernel="precomputed"), (X @ X.T,)),
        (KernelKMeans(2, kernel=kernels.Spectrum(2), random_state=0), (WORDS,)),
        (SpectralClustering(2, random_state=0), (X,)),
        (KernelFisherDiscriminant(), IRIS),
        (KernelCCA(1, kernel=kernels.Spectrum(2), kernel_y="rbf"), (WORDS, np.arange(8.0))),
        (KernelCCA(1), (X, X[:, :1] ** 2)),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, tuple) else "",
)
def test_stored_models_say_the_same(model, data, tmp_path):
    model.fit(*data)
    mercer.save(model, tmp_path / "model")
    back = mercer.load(tmp_path / "model")
    for method in ("transform", "predict", "decision_function"):
        if hasattr(model, method):
            assert np.array_equal(getattr(back, method)(data[0]), getattr(model, method)(data[0])), method
    if isinstance(model, KernelCCA):
        assert np.allclose(back.transform(*data)[1], model.transform(*data)[1])
    if getattr(model, "fit_inverse_transform", False):
        scores = model.transform(data[0])
        assert np.allclose(back.inverse_transform(scores), model.inverse_transform(scores))
    for name in ("labels_", "embedding_", "eigenvalues_", "correlations_", "means_"):
        assert np.array_equal(getattr(back, name, 0), getattr(model, name, 0))


@pytest.mark.parametrize(
    "model",
    [KernelPCA(2), KernelKMeans(2, random_state=0), SpectralClustering(2, random_state=0), KernelCCA(1)],
    ids=lambda model: type(model).__name__,
)
def test_tables(model):
    table = {"word": WORDS, "length": [float(len(word)) for word in WORDS]}
    kernel = kernels.on("word", kernels.normalise(kernels.Spectrum(1))) + kernels.on(["length"], kernels.RBF())
    model.set_params(kernel=kernel)
    model.fit(table, table) if isinstance(model, KernelCCA) else model.fit(table)
