"""Model files of LIBSVM, for support vector classification: written for its tools, and read from them.

    to_libsvm(model, "model.libsvm")      # svm-predict reads it
    model = from_libsvm("model.libsvm")   # svm-train wrote it

A file is a header of ``name value ...`` lines and, after the line ``SV``, a line per support vector: its coefficients
against the other classes, and its features as ``index:value``, indices from 1 on and ascending. For the precomputed
kernel, ``0:number`` gives the number of the training object.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, ModelFileError
from mercer.estimators.svc import SVC
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.ragged import offsets_of
from mercer.inputs.vectors import Vectors
from mercer.storage import atomic
from mercer.storage.convert import KERNELS, Layout, training_rows

MAX_BYTES = 4 * 2**30  # read into memory as text: a larger file is hardly a model, and would make the computer swap
MAX_FEATURES = 100_000_000  # a larger index is a mistake, and no matrix of that width may be allocated for it
_NAMES = {"poly": "polynomial"}
"""LIBSVM's names of kernels that differ from scikit-learn's."""
_KNOWN = (
    "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "nr_sv", "probA",
    "probB", "prob_density_marks",
)  # fmt: skip
_DENSE_ENTRIES = 50_000_000  # 400 MB: models of fewer entries become dense, which predicts faster


def to_libsvm(model: SVC, path: str | os.PathLike[str]) -> None:
    """Write a fitted SVC as a model file of LIBSVM, with all digits.

    Its kernel must be one that LIBSVM has (linear, polynomial, RBF, sigmoid, precomputed), its labels whole numbers.
    """
    check_is_fitted(model)
    layout = Layout.of(model, model.expansion_.support)
    header = [
        "svm_type c_svc",
        *_kernel_lines(model),
        f"nr_class {len(layout.classes)}",
        f"total_sv {len(layout.support)}",
        f"rho {_numbers(-layout.intercept)}",
        f"label {' '.join(map(str, _labels(layout.classes)))}",
        f"nr_sv {' '.join(map(str, layout.counts))}",
        "SV",
    ]
    with atomic.replacing(path) as stream:
        stream.write(("\n".join(header) + "\n").encode("ascii"))
        for coefficients, features in zip(layout.coefficients.T, _feature_texts(layout.support), strict=True):
            stream.write(f"{_numbers(coefficients)} {features}\n".encode("ascii"))


def _kernel_lines(model: SVC) -> list[str]:
    kernel, state = model.kernel_.kernel, model.kernel_.state
    name = next((name for name, (kind, _) in KERNELS.items() if type(kernel) is kind), None)
    # An RBF kernel may have a gamma for each feature, or stand on another kernel.
    if name is None or getattr(kernel, "over", None) is not None or isinstance(getattr(kernel, "gamma", 0), tuple):
        raise InputError(
            f"LIBSVM has no kernel {kernel}: only linear, polynomial, RBF with one gamma, sigmoid and precomputed "
            "ones. Use mercer.save, which keeps every kernel."
        )
    shape = {key: state.number("gamma") if key == "gamma" else getattr(kernel, key) for key in KERNELS[name][1]}
    return [f"kernel_type {_NAMES.get(name, name)}", *(f"{key} {value:.17g}" for key, value in shape.items())]


def _labels(classes: npt.NDArray[Any]) -> list[int]:
    whole = classes.dtype.kind == "f" and (classes == np.round(classes)).all() and np.abs(classes).max() < 2**31
    if whole or classes.dtype.kind in "iub":
        return [int(label) for label in classes]
    raise InputError(
        f"Labels in LIBSVM's files are whole numbers; one of these is {classes.tolist()[0]!r}. Encode them first, for "
        "example with sklearn.preprocessing.LabelEncoder."
    )


def _feature_texts(support: Objects) -> Iterator[str]:
    if isinstance(support, GramRows):
        yield from (f"0:{number + 1}" for number in support.index)
        return
    assert isinstance(support, Vectors)
    rows = sp.csr_array(support.values)
    rows.sort_indices()
    for begin, end in pairwise(rows.indptr.tolist()):
        pairs = zip(rows.indices[begin:end].tolist(), rows.data[begin:end].tolist(), strict=True)
        yield " ".join(f"{index + 1}:{value:.17g}" for index, value in pairs if value != 0)


def _numbers(values: Any) -> str:
    return " ".join(f"{float(value):.17g}" for value in np.ravel(values))


# ------------------------------------------------------------------------------------------------------------- reading


def from_libsvm(path: str | os.PathLike[str], *, n_features: int | None = None, sparse: bool | None = None) -> SVC:
    """Read a model of support vector classification (``c_svc``) that LIBSVM wrote.

    The file does not contain the number of features: it is `n_features`, or the largest index. Support vectors become a
    dense matrix unless that would be very large, or as `sparse` says. C is not in the file either: the estimator gets
    the largest coefficient. Probabilities are left out, and the certificate is nan.
    """
    name = os.fsdecode(path)
    try:
        if os.path.getsize(name) > MAX_BYTES:
            raise ModelFileError(f"it is larger than {MAX_BYTES:,} bytes.")
        with open(name, encoding="ascii") as lines:
            return _read(enumerate(lines, 1), n_features, sparse)
    except UnicodeDecodeError as error:
        reason = "it is not ASCII text."
        raise ModelFileError(f"Cannot read {name!r} as a model of LIBSVM: {reason}") from error
    except (OSError, ValueError) as error:  # a ValueError also if the kernel refuses its parameters
        reason = f"{error.strerror}." if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelFileError(f"Cannot read {name!r} as a model of LIBSVM: {reason}") from error


Lines = Iterator[tuple[int, str]]
"""Lines with their numbers, for messages."""


def _read(lines: Lines, n_features: int | None, sparse: bool | None) -> SVC:
    header = _Header(lines)
    if header.one("svm_type") != "c_svc":
        what = header.one("svm_type")
        raise ModelFileError(f"it holds a machine of type {what!r}; only c_svc is support vector classification.")
    kernels = {_NAMES.get(name, name): name for name in KERNELS}
    kernel = kernels.get(header.one("kernel_type"), "")
    if not kernel:
        raise ModelFileError(f"the kernel {header.one('kernel_type')!r} is unknown. Known: {', '.join(kernels)}.")
    n_classes, total = header.count("nr_class", 2), header.count("total_sv", 1)
    labels = header.floats("label", n_classes)
    if (labels != np.round(labels)).any() or len(np.unique(labels)) != n_classes:
        raise ModelFileError(f"the {n_classes} labels must be different whole numbers.")
    counts = header.floats("nr_sv", n_classes).astype(np.int64)
    if (counts < 0).any() or counts.sum() != total:
        raise ModelFileError(f"total_sv is {total}, but nr_sv adds up to {counts.sum()}.")
    rho = header.floats("rho", n_classes * (n_classes - 1) // 2)
    found = _SupportVectors(lines, total, n_classes - 1)
    layout = found.coefficients
    params: dict[str, Any] = {"kernel": kernel, "C": max(float(np.abs(layout).max()), np.finfo(float).tiny)}
    for name in KERNELS[kernel][1]:
        params[name] = header.count(name, 0) if name == "degree" else float(header.floats(name, 1)[0])
    classes = labels.astype(np.int64)
    if kernel == "precomputed":
        index, n = found.training_objects(n_features)
        return Layout(classes, counts, training_rows(index), index, layout, -rho, (n, n)).svc(params)
    rows = found.vectors(n_features)
    keep = rows.shape[0] * rows.shape[1] > _DENSE_ENTRIES if sparse is None else sparse
    support = Vectors.coerce(rows if keep else rows.toarray())
    return Layout(classes, counts, support, np.arange(total), layout, -rho, rows.shape).svc(params)


@final
class _Header:
    """The values of each name, up to the line ``SV``."""

    def __init__(self, lines: Lines) -> None:
        self._values: dict[str, list[str]] = {}
        for number, line in lines:
            name, *values = line.split() or [""]
            if name == "SV":
                return
            if name not in _KNOWN or name in self._values:
                what = "occurs twice" if name in self._values else "does not belong in a header"
                raise ModelFileError(f"line {number}: {name[:30]!r} {what}.")
            self._values[name] = values
        raise ModelFileError("the line 'SV', after which the support vectors come, is missing.")

    def _exactly(self, name: str, count: int) -> list[str]:
        values = self._values.get(name, [])
        if len(values) != count:
            raise ModelFileError(f"the header must have {count} of {name}; it has {len(values)}.")
        return values

    def one(self, name: str) -> str:
        return self._exactly(name, 1)[0]

    def count(self, name: str, low: int) -> int:
        text = self.one(name)
        if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) < low:
            raise ModelFileError(f"{name} must be a whole number >= {low}, not {text[:30]!r}.")
        return int(text)

    def floats(self, name: str, count: int) -> npt.NDArray[np.float64]:
        return np.array([_finite(text, name) for text in self._exactly(name, count)])


def _finite(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelFileError(f"{what} holds {text[:30]!r}, which is not a finite number.")
    return value


@final
class _SupportVectors:
    """The lines below the header: `width` coefficients each, and features of the form index:value."""

    def __init__(self, lines: Lines, total: int, width: int) -> None:
        coefficients: list[list[float]] = []
        self._rows: list[list[tuple[int, float]]] = []
        for number, line in lines:
            parts = line.split()
            if not parts:
                continue
            try:
                if len(self._rows) == total:
                    raise ModelFileError("there are more support vectors than total_sv says.")
                if len(parts) < width:
                    raise ModelFileError("too short.")
                coefficients.append([_finite(text, "a coefficient") for text in parts[:width]])
                row = [_feature(text) for text in parts[width:]]
                if any(after <= before for (before, _), (after, _) in pairwise(row)):
                    raise ModelFileError("indices must ascend.")
            except ModelFileError as error:
                raise ModelFileError(f"line {number}: {error}") from error
            self._rows.append(row)
        if len(self._rows) != total:
            found = len(self._rows)
            raise ModelFileError(f"total_sv is {total}, but there are {found} support vectors: the file is cut off.")
        self.coefficients = np.array(coefficients).T

    def vectors(self, n_features: int | None) -> sp.csr_array:
        indices = np.array([index for row in self._rows for index, _ in row], dtype=np.int32)
        values = np.array([value for row in self._rows for _, value in row], dtype=np.float64)
        if (indices == 0).any():
            raise ModelFileError("a feature has the index 0; they are counted from 1 on.")
        largest = int(indices.max(initial=1))
        if n_features is not None and n_features < largest:
            raise ModelFileError(f"n_features is {n_features}, but there is a feature number {largest}.")
        shape = (len(self._rows), largest if n_features is None else n_features)
        return sp.csr_array((values, indices - 1, offsets_of(len(row) for row in self._rows)), shape=shape)

    def training_objects(self, n_features: int | None) -> tuple[npt.NDArray[np.intp], int]:
        """For a precomputed kernel: the numbers of the training objects, from 0, and how many there are."""
        firsts = [row[0] if row else (1, 0.0) for row in self._rows]
        if any(index != 0 or value != round(value) or value < 1 for index, value in firsts):
            raise ModelFileError("with a precomputed kernel each support vector is 0:number, numbers from 1 on.")
        index = np.array([int(value) - 1 for _, value in firsts], dtype=np.intp)
        n = int(index.max()) + 1 if n_features is None else n_features
        if not index.max() < n <= MAX_FEATURES:
            raise ModelFileError(f"there are {n} training objects, but one has the number {index.max() + 1}.")
        return index, n


def _feature(text: str) -> tuple[int, float]:
    index, colon, value = text.partition(":")
    if not colon or not index.isascii() or not index.isdigit() or len(index) > 10 or int(index) > MAX_FEATURES:
        raise ModelFileError(f"{text[:30]!r} is not a feature of the form index:value.")
    return int(index), _finite(value, f"feature {index}")
