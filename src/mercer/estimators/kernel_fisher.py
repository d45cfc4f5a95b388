"""Fisher's discriminant in feature space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer import _check, _deadline, _speed
from mercer._types import Float64
from mercer.errors import KernelError
from mercer.gram.centring import Centred
from mercer.training.eigenvectors import signs_of_columns
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.parameters import KernelParameters
from mercer.training.shares import ShareCertificate
from mercer.training.storing import EXPANSION, ArrayField, Field, LabelsField, ShareField
from mercer.training.targets import classes_of


@dataclass(kw_only=True, eq=False, repr=False)
class KernelFisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, KernelParameters, KernelEstimator
):
    """Discriminant analysis with any kernel: directions w that separate class means but keep classes compact.

    Maximises w'S_b w / w'(S_t + alpha I)w, with S_b the scatter of class means and S_t that of all objects in feature
    space. With HKH the centred Gram matrix and G the centred class indicators, scaled to unit columns, the directions
    are w = sum_i a_i phi(x_i), a = (HKH + alpha)^-1 G u, with u an eigenvector of the small matrix
    G'HKH(HKH + alpha)^-1 G. A class is predicted from the distance to its mean, in units of the scatter within classes.

    Parameters
    ----------
    alpha : the penalty on |w|^2.
    kernel, gamma, degree, coef0, memory, time_limit, psd : as in `SVC`.
    n_components : the number of directions that `transform` returns; None for one fewer than classes.

    Attributes
    ----------
    classes_ : the labels.
    priors_ : the fraction of each class.
    separation_ : scatter between classes over scatter within, along each direction.
    means_ : the class means along the directions.
    certificate_ : the fraction of separation that the directions of `transform` contain, the largest fraction possible,
        and the residual of the eigenproblem.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelFisherDiscriminant, kernels
    >>> words = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg"]
    >>> model = KernelFisherDiscriminant(kernel=kernels.Spectrum(2)).fit(words, [1, 1, 1, 0, 0, 0])
    >>> model.predict(["gatta", "gcgc"]), model.transform(words).shape
    (array([1, 0]), (6, 1))
    """

    alpha: float = field(default=1.0, kw_only=False)
    coef0: float = 1.0
    n_components: int | None = None

    _fields: ClassVar[Mapping[str, Field]] = {
        **EXPANSION,
        "classes_": LabelsField(),
        "priors_": ArrayField("f", "classes"),
        "separation_": ArrayField("f", "outputs"),
        "means_": ArrayField("f", "classes", "outputs"),
        "certificate_": ShareField("discriminants"),
    }

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.real(owner, "alpha", self.alpha, low=0, low_open=True, high_open=True)
        if self.n_components is not None:
            _check.integer(owner, "n_components", self.n_components, low=1)

    def fit(self, X: Any, y: Any) -> Self:
        """Find the discriminants of objects X with labels y."""
        with self._all_or_nothing():
            self._check_parameters()
            classes = classes_of(self, y, self._kernel().coerce(X), regressor="KernelRidge")
            fitted, objects, guarded = self._stored_gram(X)
            n, n_classes = len(objects), len(classes.labels)
            counts = np.bincount(classes.codes)
            centred = Centred.of(guarded.gram.refined())
            K = centred.dense()
            indicators = np.zeros((n, n_classes))
            indicators[np.arange(n), classes.codes] = 1.0 / np.sqrt(counts[classes.codes])
            G = indicators - indicators.mean(axis=0)
            system = K + float(self.alpha) * np.eye(n)
            _deadline.refuse_decomposition(n, _speed.CHOLESKY)
            try:
                B = scipy.linalg.solve(system, G, assume_a="pos")
            except scipy.linalg.LinAlgError as error:
                raise KernelError(
                    "KernelFisherDiscriminant cannot invert K + alpha I: the kernel is indefinite, or alpha is too "
                    f"small ({float(self.alpha):g}). Use psd='clip', or raise alpha."
                ) from error
            small = G.T @ (K @ B)
            values, u = scipy.linalg.eigh(0.5 * (small + small.T))
            values, u = values[::-1][: n_classes - 1], u[:, ::-1][:, : n_classes - 1]
            found = values > 1e-12
            values, u = np.clip(values[found], 0.0, 1.0 - 1e-12), u[:, found]
            # w'(S_t + alpha)w is `values` for unit u; minus S_b, it is the scatter within classes.
            a = (B @ u) * np.sqrt(n / (values * (1.0 - values)))
            a *= signs_of_columns(a)
            scores = K @ a
            proof = _proof(K, G, B, a, values, float(self.alpha), self.n_components)
        self.classes_ = classes.labels
        self.kernel_ = fitted
        self.priors_ = counts / n
        self.separation_ = values / (1.0 - values)
        self.expansion_ = guarded.centred(fitted, objects, centred, a)
        self.certificate_ = proof
        self.means_ = np.vstack([scores[classes.codes == label].mean(axis=0) for label in range(n_classes)])
        return self

    def _effort(self) -> tuple[float, float]:
        return 1.0, _speed.CHOLESKY

    def _scores(self, X: Any) -> Float64:
        return self._outputs(X)

    def transform(self, X: Any) -> Float64:
        """Coordinates along the discriminants, the most discriminative first."""
        return self._scores(X)[:, : self._n_features_out]

    def decision_function(self, X: Any) -> Float64:
        """Log posteriors up to a constant, as if classes were Gaussian; for two classes, their difference."""
        scores = self._scores(X)
        distance = np.square(scores[:, None, :] - self.means_[None]).sum(axis=2)
        values = np.log(self.priors_) - 0.5 * distance
        return np.asarray(values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values)

    def predict(self, X: Any) -> Any:
        """The predicted label of each object."""
        values = self.decision_function(X)
        return self.classes_[(values >= 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]

    @property
    def _n_features_out(self) -> int:
        found = int(self.expansion_.coefficients.shape[1])
        return found if self.n_components is None else min(int(self.n_components), found)


def _proof(
    K: Float64, G: Float64, B: Float64, a: Float64, values: Float64, alpha: float, shown: int | None
) -> ShareCertificate:
    """Certify directions a = (K + alpha)^-1 G u by how well they solve S_b w = values (S_t + alpha) w.

    For any B, 2 B'G - B'(K + alpha)B is at most G'(K + alpha)^-1 G, so the leading eigenvalues of G'G minus alpha times
    it bound the separation of any directions.
    """
    Ka = K @ a
    longer = Ka + alpha * a
    wrong = G @ (G.T @ Ka) - longer * values
    tiny = np.finfo(float).tiny
    lengths = values * np.sqrt(np.maximum((longer * (K @ longer)).sum(axis=0), tiny))
    residual = np.sqrt(np.maximum((wrong * (K @ wrong)).sum(axis=0), 0.0)) / np.maximum(lengths, tiny)
    ratios = np.square(G.T @ Ka).sum(axis=0) / np.maximum((Ka * longer).sum(axis=0), tiny)
    cross = B.T @ G
    most = np.linalg.eigvalsh(G.T @ G - alpha * (cross + cross.T - B.T @ (K @ B) - alpha * (B.T @ B)))[::-1]
    count = len(values) if shown is None else min(int(shown), len(values))
    total = float(np.maximum(most, 0.0).sum())
    left = max(total - float(ratios[:count].sum()), 0.0)
    least = min(max(total - float(np.maximum(most[:count], 0.0).sum()), 0.0), left)
    return ShareCertificate("discriminants", count, left, least, total, float(residual.max(initial=0.0)), "float64")
