"""Support vector machines from elsewhere: scikit-learn's, and whatever is laid out as LIBSVM lays it out.

    model = from_sklearn(sklearn_svc)

See `mercer.storage.libsvm` for model files of LIBSVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

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
from mercer.training import pairs as ovo
from mercer.training.certificate import Certificate
from mercer.training.kernel_estimator import resolved_kernel

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def from_sklearn(model: Any) -> SVC:
    """Our SVC that decides as a fitted SVC of scikit-learn does, without training anew.

    Its kernel must be one of the named ones; a function of Python is not taken over. Probabilities are not either, and
    what only training knows (the certificate) is nan.

    >>> from sklearn.svm import SVC
    >>> from mercer.storage.convert import from_sklearn
    >>> theirs = SVC(gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> from_sklearn(theirs).predict([[0.2], [2.9]])
    array(['a', 'b'], dtype='<U1')
    """
    if type(model).__name__ != "SVC" or not hasattr(model, "dual_coef_"):
        if not hasattr(model, "dual_coef_") and hasattr(model, "decision_function_shape"):
            raise UnfittedError("This SVC is not fitted yet: there is nothing to convert. Call its fit first.")
        raise InputError(f"A fitted sklearn.svm.SVC is needed; got {type(model).__name__}.")
    if not isinstance(model.kernel, str) or model.kernel not in KERNELS:
        raise InputError(
            f"The kernel {model.kernel!r} cannot be taken over: it must be one of {', '.join(KERNELS)}. "
            "Train mercer.SVC with the same function as its kernel instead."
        )
    taken = ("C", "degree", "coef0", "shrinking", "tol", "max_iter", "decision_function_shape", "break_ties")
    params: dict[str, Any] = {name: getattr(model, name) for name in (*taken, "kernel", "class_weight")}
    if model.kernel in ("rbf", "poly", "sigmoid"):
        params["gamma"] = float(model._gamma)
    sign = -1.0 if len(model.classes_) == 2 else 1.0
    coefficients: Any = model.dual_coef_
    layout = sign * (coefficients.toarray() if hasattr(coefficients, "toarray") else np.asarray(coefficients))
    return assembled(
        params,
        np.asarray(model.classes_),
        _support(model),
        layout,
        np.asarray(model.n_support_),
        sign * np.asarray(model.intercept_, dtype=np.float64),
        positions=np.asarray(model.support_),
        class_weight=np.asarray(model.class_weight_, dtype=np.float64),
        shape=tuple(int(side) for side in model.shape_fit_),
    )


def _support(model: Any) -> Objects:
    if model.kernel != "precomputed":
        return Vectors.coerce(model.support_vectors_)
    nothing = np.zeros(len(model.support_))  # k(x, x) is not known, and nobody asks for it
    return GramRows(None, np.asarray(model.support_, dtype=np.intp), training=True, self_similarity=nothing)


def assembled(
    params: Mapping[str, Any],
    classes: npt.NDArray[Any],
    support: Objects,
    layout: Float64,
    counts: npt.NDArray[Any],
    intercept: Float64,
    *,
    positions: npt.NDArray[Any],
    class_weight: Float64 | None = None,
    shape: tuple[int, ...],
) -> SVC:
    """An SVC from LIBSVM's arrays.

    Support objects come class after class, in the order of `classes`, `counts` of each. `layout` has a column for each
    and classes - 1 rows; the decision of the pair (a, b) is positive for a. Classes may come in any order.
    """
    n_classes = len(classes)
    columns = ovo.from_dual_coefficients(layout, np.repeat(np.arange(n_classes), counts), n_classes)
    order = np.argsort(classes, kind="stable")
    numbers = {pair: number for number, pair in enumerate(ovo.pairs(n_classes))}
    begins = np.concatenate(([0], np.cumsum(counts)))
    rows = np.concatenate([np.arange(begins[old], begins[old + 1]) for old in order]).astype(np.intp)
    taken, signs = [], []
    for a, b in combinations(order.tolist(), 2):  # the same pairs, sorted by label: some are the other way round now
        taken.append(numbers[min(a, b), max(a, b)])
        signs.append(1.0 if a < b else -1.0)
    kernel = resolved_kernel(SVC(**params))
    ordered = support.take(rows)
    fitted = kernel.fit(_square(shape) if isinstance(support, GramRows) else ordered)
    expansion = Expansion(fitted, ordered, columns[rows][:, taken] * signs, intercept[taken] * signs)
    n_pairs = len(taken)
    unknown = Certificate(np.nan, np.nan, np.nan, np.nan, 0, 0, np.nan, "float64")
    proof = Certificate.together((unknown,) * n_pairs, 0, np.nan) if n_pairs > 1 else unknown
    values: dict[str, Any] = {"shape_fit_": shape, "fit_status_": 0, "dtype": "float64"}
    values["n_features_in_"] = int(shape[1])
    return from_stored(
        SVC,
        Stored(
            params=params,
            values=values,
            arrays={
                "classes_": classes[order],
                "class_weight_": np.ones(n_classes) if class_weight is None else class_weight,
                "support_": positions[rows].astype(np.int32),
                "n_support_": counts[order].astype(np.int32),
                "n_iter_": np.zeros(n_pairs, dtype=np.int32),
                "certificate_": proof.to_array(),
            },
            expansion=expansion,
        ),
    )


def _square(shape: tuple[int, ...]) -> GramRows:
    """Training objects of a precomputed kernel, of which nothing but the number is known."""
    n = int(shape[0])
    return GramRows(np.broadcast_to(0.0, (n, n)), np.arange(n), training=True, self_similarity=np.zeros(n))
