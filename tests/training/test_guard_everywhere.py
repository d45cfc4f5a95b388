"""Every learner looks for negative eigenvalues where the rules of kernel algebra do not exclude them."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import kernels
from mercer.errors import KernelError, KernelWarning
from mercer.training.kernel_estimator import KernelEstimator

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
INDEFINITE = kernels.FromBlocks(lambda A, B: 3.0 + np.tanh(2.0 * A @ B.T - 1.0))
"""Positive values, so that it is a similarity too, and negative eigenvalues."""


def learners() -> list[Any]:
    found = [getattr(mercer, name) for name in dir(mercer) if name[0].isupper()]
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, KernelEstimator)]
    return [kind for kind in kinds if "psd" in kind().get_params()]


def test_all_of_them_are_here() -> None:
    names = {kind.__name__ for kind in learners()}
    assert names >= {
        "KernelFisherDiscriminant", "KernelCCA", "KernelKMeans", "SpectralClustering", "KernelPerceptron",
        "GradientKernelMachine", "KernelPCA", "SVC", "NuSVC", "KernelRidge", "OneClassSVM",
    }  # fmt: skip


@pytest.mark.parametrize("kind", learners(), ids=lambda kind: kind.__name__)
def test_an_indefinite_matrix_is_seen(kind: Any) -> None:
    model = kind().set_params(kernel=INDEFINITE)
    if "n_clusters" in model.get_params():
        model.set_params(n_clusters=3)
    with pytest.raises(KernelError, match="not positive semi-definite"):
        model.set_params(psd="error").fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", KernelWarning)
        with pytest.raises(KernelWarning, match="not positive semi-definite"):
            model.set_params(psd="warn").fit(X, Y)
    with pytest.raises(ValueError, match="psd"):
        model.set_params(psd="sometimes").fit(X, Y)


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
@pytest.mark.parametrize("mode", ["clip", "flip"])
@pytest.mark.parametrize(
    "model",
    [
        mercer.KernelPCA(3),
        mercer.KernelCCA(2),
        mercer.KernelFisherDiscriminant(),
        mercer.KernelKMeans(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_repairs_agree_with_the_repaired_matrix(model: Any, mode: str) -> None:
    K = INDEFINITE.fit(X)(X)
    K = (K + K.T) / 2
    values, vectors = np.linalg.eigh(K)
    repaired = (vectors * (np.maximum(values, 0.0) if mode == "clip" else np.abs(values))) @ vectors.T
    method = "predict" if hasattr(model, "predict") else "transform"
    found = getattr(model.set_params(kernel=INDEFINITE, psd=mode).fit(X, Y), method)(X)
    model.set_params(kernel="precomputed")
    if isinstance(model, mercer.KernelCCA):  # whose second view is repaired as before
        model.set_params(kernel_y=INDEFINITE)
    repaired = (repaired + repaired.T) / 2
    wanted = getattr(model.fit(repaired, Y), method)(repaired)
    if isinstance(model, mercer.KernelCCA):
        model.set_params(kernel_y=None)
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-6 * max(1.0, np.abs(wanted).max()))


@pytest.mark.filterwarnings("ignore:The Gram matrix:mercer.errors.KernelWarning")
def test_discriminants_of_a_matrix_that_cannot_be_inverted_are_refused_in_words() -> None:
    K = np.tanh(X @ X.T - 1.0)
    with pytest.raises(KernelError, match=r"cannot invert K \+ alpha I.*psd='clip'"):
        mercer.KernelFisherDiscriminant(kernel="precomputed", alpha=1e-3).fit(K, Y)
    assert (
        mercer.KernelFisherDiscriminant(kernel="precomputed", alpha=1e-3, psd="clip").fit(K, Y).predict(K).shape
        == Y.shape
    )


def stretched(x: Any, z: Any) -> float:
    return float(3.0 + np.tanh(2.0 * x @ z - 1.0))


WORDS = {
    "function": kernels.FromFunction(stretched, symmetric=True, psd=True),
    "blocks": kernels.FromBlocks(lambda A, B: 3.0 + np.tanh(2.0 * A @ B.T - 1.0), symmetric=True, psd=True),
    "inside": 2.0 * kernels.FromFunction(stretched, psd=True) + 1e-3 * kernels.RBF(),
}
"""Kernels that are positive semi-definite by their users' word alone, which is wrong."""


@pytest.mark.parametrize("kind", learners(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("word", WORDS)
def test_a_wrong_word_about_a_function_is_answered(kind: Any, word: str) -> None:
    model = kind().set_params(kernel=WORDS[word])
    if "n_clusters" in model.get_params():
        model.set_params(n_clusters=3)
    with pytest.raises(KernelError, match=r"said to be positive semi-definite \(by psd=True, .* eigenvalue -"):
        model.fit(X, Y)


def test_a_word_can_be_insisted_on() -> None:
    assert mercer.SVC(kernel=WORDS["function"], psd="ignore").fit(X, Y).predict(X).shape == Y.shape


def test_a_word_is_tested_without_another_call() -> None:
    calls: list[int] = []

    def product(x: Any, z: Any) -> float:
        calls.append(1)
        return float(x @ z)

    mercer.SVC(kernel=kernels.FromFunction(product, symmetric=True, psd=True)).fit(X, Y)
    assert len(calls) == len(X) * (len(X) + 1) // 2
