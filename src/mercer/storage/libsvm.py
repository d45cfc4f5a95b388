"""Model files of LIBSVM, for support vector classification: written for its tools, and read from them.

    to_libsvm(model, "model.libsvm")      # svm-predict reads it
    model = from_libsvm("model.libsvm")   # svm-train wrote it

A file is a header of ``name value ...`` lines and, after the line ``SV``, a line per support vector: its coefficients
against the other classes, and its features as ``index:value``, indices from 1 on and ascending. For the precomputed
kernel ``0:number`` says which training object it is.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer._types import Float64
from mercer.errors import InputError, ModelFileError
from mercer.estimators.svc import SVC
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.vectors import Vectors
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.vectors.linear import Linear, Sigmoid
from mercer.kernels.vectors.polynomial import Polynomial
from mercer.kernels.vectors.rbf import RBF
from mercer.storage import atomic
from mercer.storage.convert import assembled

MAX_BYTES = 4 * 2**30
MAX_FEATURES = 100_000_000
_NAMES = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}
_SHAPE = ("kernel_type", "degree", "gamma", "coef0")
_KNOWN = ("svm_type", *_SHAPE, "nr_class", "total_sv", "rho", "label", "nr_sv", "probA", "probB", "prob_density_marks")
_DENSE_ENTRIES = 50_000_000


def to_libsvm(model: SVC, path: str | os.PathLike[str]) -> None:
    """Write a fitted SVC as a model file of LIBSVM, with all digits.

    Its kernel must be one that LIBSVM has (linear, polynomial, RBF, sigmoid, precomputed), its labels whole numbers.
    """
    check_is_fitted(model)
    lines = [*_kernel_lines(model), f"nr_class {len(model.classes_)}", f"total_sv {len(model.support_)}"]
    lines.append(f"rho {_numbers(-model._intercept_)}")
    lines.append(f"label {' '.join(str(label) for label in _labels(model.classes_))}")
    lines.append(f"nr_sv {' '.join(str(count) for count in model.n_support_)}")
    with atomic.replacing(path) as stream:
        stream.write(("\n".join(["svm_type c_svc", *lines, "SV", ""])).encode("ascii"))
        for coefficients, features in zip(model._dual_coef_.T, _feature_texts(model), strict=True):
            stream.write(f"{_numbers(coefficients)} {features}\n".encode("ascii"))


def _kernel_lines(model: SVC) -> list[str]:
    kernel, state = model.kernel_.kernel, model.kernel_.state
    if isinstance(kernel, Linear):
        return ["kernel_type linear"]
    if isinstance(kernel, Precomputed):
        return ["kernel_type precomputed"]
    if isinstance(kernel, RBF) and kernel.over is None and not isinstance(kernel.gamma, tuple):
        return ["kernel_type rbf", f"gamma {state.number('gamma'):.17g}"]
    if isinstance(kernel, Polynomial | Sigmoid):
        shape = [f"gamma {state.number('gamma'):.17g}", f"coef0 {float(kernel.coef0):.17g}"]
        if isinstance(kernel, Sigmoid):
            return ["kernel_type sigmoid", *shape]
        return ["kernel_type polynomial", f"degree {kernel.degree}", *shape]
    raise InputError(
        f"LIBSVM has no kernel {kernel}: only linear, polynomial, RBF with one gamma, sigmoid and precomputed ones. "
        "Use mercer.save, which keeps every kernel."
    )


def _labels(classes: npt.NDArray[Any]) -> list[int]:
    if classes.dtype.kind in "iub":
        return [int(label) for label in classes]
    if classes.dtype.kind == "f" and (classes == np.round(classes)).all() and np.abs(classes).max() < 2**31:
        return [int(label) for label in classes]
    raise InputError(
        f"Labels in LIBSVM's files are whole numbers; one of these is {classes.tolist()[0]!r}. Encode them first, for "
        "example with sklearn.preprocessing.LabelEncoder."
    )


def _feature_texts(model: SVC) -> list[str]:
    support = model.expansion_.support
    if isinstance(support, GramRows):
        return [f"0:{number + 1}" for number in support.index]
    assert isinstance(support, Vectors)
    rows = sp.csr_array(support.values)
    rows.sort_indices()
    texts = []
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        pairs = zip(rows.indices[begin:end].tolist(), rows.data[begin:end].tolist(), strict=True)
        texts.append(" ".join(f"{index + 1}:{value:.17g}" for index, value in pairs if value != 0))
    return texts


def _numbers(values: Any) -> str:
    return " ".join(f"{float(value):.17g}" for value in np.ravel(values))


# ------------------------------------------------------------------------------------------------------------- reading


def from_libsvm(path: str | os.PathLike[str], *, n_features: int | None = None, sparse: bool | None = None) -> SVC:
    """Read a model of support vector classification (``c_svc``) that LIBSVM wrote.

    The file does not say how many features there are: the largest index counts, or `n_features`. Support vectors become
    a dense matrix unless that would be very large, or as `sparse` says. C is not in the file either: the estimator
    gets the largest coefficient. Probabilities are not taken over, and the certificate is nan.
    """
    name = os.fsdecode(path)
    try:
        if os.path.getsize(name) > MAX_BYTES:
            raise ModelFileError(f"it is larger than {MAX_BYTES:,} bytes.")
        with open(name, encoding="ascii") as lines:
            return _read(_Lines(lines), n_features, sparse)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot read {name!r} as a model of LIBSVM: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is no ASCII text"
        raise ModelFileError(f"Cannot read {name!r} as a model of LIBSVM: {reason}.") from error


class _Lines:
    """Lines with their numbers, for messages."""

    def __init__(self, lines: Any) -> None:
        self._lines = lines
        self.number = 0

    def next(self) -> str | None:
        self.number += 1
        line = self._lines.readline()
        return line.rstrip("\r\n") if line else None

    def fail(self, why: str) -> ModelFileError:
        return ModelFileError(f"line {self.number}: {why}")


def _read(lines: _Lines, n_features: int | None, sparse: bool | None) -> SVC:
    header = _header(lines)
    kind = _one(header, "svm_type")
    if kind != "c_svc":
        raise ModelFileError(f"it holds a machine of type {kind!r}; only c_svc is support vector classification.")
    kernel = _NAMES.get(_one(header, "kernel_type"))
    if kernel is None:
        raise ModelFileError(f"the kernel {_one(header, 'kernel_type')!r} is unknown. Known: {', '.join(_NAMES)}.")
    n_classes, total = _count(header, "nr_class", 2), _count(header, "total_sv", 1)
    labels = np.array(_floats(header, "label", n_classes))
    if (labels != np.round(labels)).any() or len(np.unique(labels)) != n_classes:
        raise ModelFileError(f"the {n_classes} labels must be different whole numbers.")
    counts = np.array(_floats(header, "nr_sv", n_classes)).astype(np.int64)
    if (counts < 0).any() or counts.sum() != total:
        raise ModelFileError(f"total_sv is {total}, but nr_sv adds up to {counts.sum()}.")
    rho = np.array(_floats(header, "rho", n_classes * (n_classes - 1) // 2))
    layout, rows = _support_vectors(lines, total, n_classes - 1)
    params: dict[str, Any] = {"kernel": kernel, "C": max(float(np.abs(layout).max()), np.finfo(float).tiny)}
    if kernel in ("poly", "rbf", "sigmoid"):
        params["gamma"] = _floats(header, "gamma", 1)[0]
    if kernel in ("poly", "sigmoid"):
        params["coef0"] = _floats(header, "coef0", 1)[0]
    if kernel == "poly":
        params["degree"] = _count(header, "degree", 0)
    found = _numbered(rows, n_features) if kernel == "precomputed" else _vectors(rows, n_features, sparse)
    support, width = found
    positions = support.index if isinstance(support, GramRows) else np.arange(total)
    shape = (width if kernel == "precomputed" else total, width)
    try:
        return assembled(
            params, labels.astype(np.int64), support, layout, counts, -rho, positions=positions, shape=shape
        )
    except ValueError as error:
        raise ModelFileError(str(error)) from error


def _header(lines: _Lines) -> dict[str, list[str]]:
    header: dict[str, list[str]] = {}
    while (line := lines.next()) is not None:
        name, *values = line.split() or [""]
        if name == "SV":
            return header
        if name not in _KNOWN or name in header:
            raise lines.fail(f"{name[:30]!r} is {'there twice' if name in header else 'no part of a header'}.")
        header[name] = values
    raise ModelFileError("the line 'SV', after which the support vectors come, is missing.")


def _one(header: dict[str, list[str]], name: str) -> str:
    values = header.get(name, [])
    if len(values) != 1:
        raise ModelFileError(f"the header needs one value of {name}; it has {len(values)}.")
    return values[0]


def _count(header: dict[str, list[str]], name: str, low: int) -> int:
    text = _one(header, name)
    if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) < low:
        raise ModelFileError(f"{name} must be a whole number >= {low}, not {text[:30]!r}.")
    return int(text)


def _floats(header: dict[str, list[str]], name: str, count: int) -> list[float]:
    values = header.get(name, [])
    if len(values) != count:
        raise ModelFileError(f"the header needs {count} values of {name}; it has {len(values)}.")
    return [_finite(text, name) for text in values]


def _finite(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelFileError(f"{what} holds {text[:30]!r}, which is no finite number.")
    return value


Row = list[tuple[int, float]]


def _support_vectors(lines: _Lines, total: int, width: int) -> tuple[Float64, list[Row]]:
    coefficients: list[list[float]] = []
    rows: list[Row] = []
    while (line := lines.next()) is not None:
        parts = line.split()
        if not parts:
            continue
        if len(rows) == total or len(parts) < width:
            raise lines.fail(
                "there are more support vectors than total_sv says." if len(rows) == total else "too short."
            )
        try:
            coefficients.append([_finite(text, "a coefficient") for text in parts[:width]])
            rows.append([_feature(text) for text in parts[width:]])
        except ModelFileError as error:
            raise lines.fail(str(error)) from error
        indices = [index for index, _ in rows[-1]]
        if any(after <= before for before, after in pairwise(indices)):
            raise lines.fail("indices must ascend.")
    if len(rows) != total:
        raise ModelFileError(f"total_sv is {total}, but there are {len(rows)} support vectors: the file is cut off.")
    return np.array(coefficients).T, rows


def _feature(text: str) -> tuple[int, float]:
    index, colon, value = text.partition(":")
    if not colon or not index.isascii() or not index.isdigit() or len(index) > 10 or int(index) > MAX_FEATURES:
        raise ModelFileError(f"{text[:30]!r} is no feature of the form index:value.")
    return int(index), _finite(value, f"feature {index}")


def _vectors(rows: list[Row], n_features: int | None, sparse: bool | None) -> tuple[Vectors, int]:
    if any(row and row[0][0] == 0 for row in rows):
        raise ModelFileError("a feature has the index 0; they are counted from 1 on.")
    largest = max((row[-1][0] for row in rows if row), default=1)
    if n_features is not None and n_features < largest:
        raise ModelFileError(f"n_features is {n_features}, but there is a feature number {largest}.")
    width = largest if n_features is None else n_features
    lengths = [len(row) for row in rows]
    columns = np.array([index - 1 for row in rows for index, _ in row], dtype=np.int32)
    values = np.array([value for row in rows for _, value in row], dtype=np.float64)
    matrix = sp.csr_array((values, columns, np.concatenate(([0], np.cumsum(lengths)))), shape=(len(rows), width))
    keep = width * len(rows) > _DENSE_ENTRIES if sparse is None else sparse
    return Vectors.coerce(matrix if keep else matrix.toarray()), width


def _numbered(rows: list[Row], n_features: int | None) -> tuple[GramRows, int]:
    """Support objects of a precomputed kernel: the numbers of training objects, from 1 on."""
    if any(not row or row[0][0] != 0 or row[0][1] != round(row[0][1]) or row[0][1] < 1 for row in rows):
        raise ModelFileError("with a precomputed kernel each support vector is 0:number, a training object from 1 on.")
    index = np.array([int(row[0][1]) - 1 for row in rows], dtype=np.intp)
    width = int(index.max()) + 1 if n_features is None else n_features
    if width <= index.max() or width > MAX_FEATURES:
        raise ModelFileError(f"there are {width} training objects, but one is said to be number {index.max() + 1}.")
    return GramRows(None, index, training=True, self_similarity=np.zeros(len(index))), width
