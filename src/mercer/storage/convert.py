"""Support vector machines from scikit-learn, or in the layout of LIBSVM.

    model = from_sklearn(sklearn_svc)

See `mercer.storage.libsvm` for model files of LIBSVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._stored import Stored, from_stored
from mercer._types import Float64
from mercer.errors import InputError, UnfittedError
from mercer.estimators.svc import SVC
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.vectors.linear import Linear, Sigmoid
from mercer.kernels.vectors.polynomial import Polynomial
from mercer.kernels.vectors.rbf import RBF
from mercer.training import pairs as ovo
from mercer.training.certificate import Certificate
from mercer.training.voting import pairs as pairs_of

KERNELS: dict[str, tuple[type[Kernel], tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "poly": (Polynomial, ("degree", "gamma", "coef0")),
    "rbf": (RBF, ("gamma",)),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "precomputed": (Precomputed, ()),
}
"""The kernels of LIBSVM, by scikit-learn's names, with the parameters of each."""


def from_sklearn(model: Any) -> SVC:
    """An SVC with the same decisions as a fitted SVC of scikit-learn, without training again.

    Its kernel must be one of the named ones; Python functions are refused. Probabilities are left out, and the
    certificate, which is known only after training, is nan.

    >>> from sklearn.svm import SVC
    >>> from mercer.storage.convert import from_sklearn
    >>> theirs = SVC(gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> from_sklearn(theirs).predict([[0.2], [2.9]])
    array(['a', 'b'], dtype='<U1')
    """
    if type(model).__name__ != "SVC" or not hasattr(model, "dual_coef_"):
        if hasattr(model, "decision_function_shape") and not hasattr(model, "dual_coef_"):
            raise UnfittedError("This SVC is not fitted yet: there is nothing to convert. Call its fit first.")
        raise InputError(f"A fitted sklearn.svm.SVC is needed; got {type(model).__name__}.")
    if not isinstance(model.kernel, str) or model.kernel not in KERNELS:
        raise InputError(
            f"The kernel {model.kernel!r} cannot be converted: it must be one of {', '.join(KERNELS)}. "
            "Train mercer.SVC with the same function as its kernel instead."
        )
    taken = ("C", "degree", "coef0", "shrinking", "tol", "max_iter", "decision_function_shape", "break_ties")
    params: dict[str, Any] = {name: getattr(model, name) for name in (*taken, "kernel", "class_weight")}
    if "gamma" in KERNELS[model.kernel][1]:
        params["gamma"] = float(vars(model)["_gamma"])  # scikit-learn has no public name for the resolved width
    if model.kernel == "precomputed":
        support: Objects = training_rows(np.asarray(model.support_, dtype=np.intp))
    else:
        support = Vectors.coerce(model.support_vectors_)
    return Layout.of(model, support).svc(params, np.asarray(model.class_weight_, dtype=np.float64))


def training_rows(index: npt.NDArray[np.intp]) -> GramRows:
    """Training objects of a precomputed kernel by their numbers; their k(x, x) is unknown, and not needed."""
    return GramRows(None, index, training=True, self_similarity=np.zeros(len(index)))


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """A support vector classifier in the layout of LIBSVM.

    Support objects are grouped by class, in the order of `classes`, with `counts` of each. `coefficients` has a column
    for each and classes - 1 rows; the decision of the pair (a, b) is positive for a. Classes may be in any order.
    """

    classes: npt.NDArray[Any]
    counts: npt.NDArray[Any]
    support: Objects
    positions: npt.NDArray[Any]
    """The rows of the support objects in the training data."""
    coefficients: Float64
    intercept: Float64
    shape: tuple[int, ...]
    """The shape of the training data."""

    @classmethod
    def of(cls, model: Any, support: Objects) -> Self:
        """The layout of a fitted SVC, ours or scikit-learn's; both reverse the signs of two classes."""
        sign = -1.0 if len(model.classes_) == 2 else 1.0
        found: Any = model.dual_coef_
        return cls(
            np.asarray(model.classes_),
            np.asarray(model.n_support_),
            support,
            np.asarray(model.support_),
            sign * (found.toarray() if hasattr(found, "toarray") else np.asarray(found)),
            sign * np.asarray(model.intercept_, dtype=np.float64),
            tuple(int(side) for side in model.shape_fit_),
        )

    def svc(self, params: Mapping[str, Any], class_weight: Float64 | None = None) -> SVC:
        """The estimator, with its classes in increasing order."""
        n_classes = len(self.classes)
        order = np.argsort(self.classes, kind="stable")
        begins = np.concatenate(([0], np.cumsum(self.counts)))
        rows = np.concatenate([np.arange(begins[old], begins[old + 1]) for old in order]).astype(np.intp)
        expansion = self._expansion(params, order, rows)
        n_pairs = len(expansion.intercept)
        unknown = Certificate(np.nan, np.nan, np.nan, np.nan, 0, 0, np.nan, "float64")
        proof = Certificate.together((unknown,) * n_pairs, 0, np.nan) if n_pairs > 1 else unknown
        values = {"shape_fit_": self.shape, "fit_status_": 0, "dtype": "float64", "n_features_in_": int(self.shape[1])}
        arrays = {
            "classes_": self.classes[order],
            "class_weight_": np.ones(n_classes) if class_weight is None else class_weight,
            "support_": self.positions[rows].astype(np.int32),
            "n_support_": self.counts[order].astype(np.int32),
            "n_iter_": np.zeros(n_pairs, dtype=np.int32),
            "certificate_": proof.to_array(),
        }
        return from_stored(SVC, Stored(params, values, arrays, expansion))

    def _expansion(self, params: Mapping[str, Any], order: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> Expansion:
        """The machine with its classes in this order and its support objects in these rows."""
        n_classes = len(self.classes)
        codes = np.repeat(np.arange(n_classes), self.counts)
        columns = ovo.from_dual_coefficients(self.coefficients, codes, n_classes)[rows]
        numbers = {pair: number for number, pair in enumerate(pairs_of(n_classes))}
        pairs = list(combinations(order.tolist(), 2))  # some pairs are now reversed
        taken = [numbers[min(pair), max(pair)] for pair in pairs]
        signs = np.array([1.0 if a < b else -1.0 for a, b in pairs])
        kind, shape = KERNELS[params["kernel"]]
        support = training = self.support.take(rows)
        if isinstance(support, GramRows):  # only the number of training objects is known
            n = int(self.shape[0])
            training = GramRows(np.broadcast_to(0.0, (n, n)), np.arange(n), training=True, self_similarity=np.zeros(n))
        fitted = kind(**{name: params[name] for name in shape}).fit(training)
        return Expansion(fitted, support, columns[:, taken] * signs, self.intercept[taken] * signs)
