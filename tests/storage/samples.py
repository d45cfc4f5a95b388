"""Small fitted models of every kind, and a container writer that is free to lie."""

import functools
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import SVC, kernels

RANDOM = np.random.default_rng(0)
X = np.round(RANDOM.normal(size=(40, 3)), 3)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
WORDS = ["".join(RANDOM.choice(list("ACGT"), size=length)) for length in RANDOM.integers(3, 12, size=40)]
TABLE = {"word": WORDS, "a": X[:, 0].tolist(), "b": X[:, 1].tolist()}
GRAM = X @ X.T
MIXED = kernels.on("word", kernels.Spectrum(2)) + 0.5 * kernels.on(["a", "b"], kernels.RBF(gamma="scale"))

Case = tuple[Any, Any, Any]

CASES: dict[str, Callable[[], Case]] = {
    "dense": lambda: (SVC(C=10.0), X, Y),
    "single precision": lambda: (SVC(), X.astype(np.float32), Y),
    "hard margin": lambda: (SVC(C=np.inf, kernel="linear"), X, (X[:, 0] > 0).astype(int)),
    "three classes": lambda: (SVC(kernel="poly", degree=2, coef0=1.0), X, THREE),
    "labels are strings": lambda: (SVC(), X, np.array(["no", "yes"])[Y]),
    "labels are str objects": lambda: (SVC(), X, np.array(["no", "yes"], dtype=object)[Y]),
    "labels are bools": lambda: (SVC(), X, Y.astype(bool)),
    "labels are floats": lambda: (SVC(), X, Y * 2.0 - 1.0),
    "labels are small integers": lambda: (SVC(), X, Y.astype(np.int8)),
    "class weights": lambda: (SVC(class_weight={0: 1.0, 1: 3.0}), X, Y),
    "sparse": lambda: (SVC(kernel="linear"), sp.csr_array(np.where(X > 0.5, X, 0.0)), Y),
    "composite": lambda: (
        SVC(kernel=kernels.Linear() + 2.0 * kernels.normalise(kernels.Polynomial(degree=2)) * kernels.RBF()),
        X,
        Y,
    ),
    "over another kernel": lambda: (SVC(kernel=kernels.RBF(gamma="median", over=kernels.Polynomial(degree=2))), X, Y),
    "strings": lambda: (SVC(kernel=kernels.normalise(kernels.Spectrum(2))), WORDS, Y),
    "table": lambda: (SVC(kernel=MIXED), TABLE, THREE),
    "precomputed": lambda: (SVC(kernel="precomputed"), GRAM, Y),
}


@functools.cache
def fitted(name: str) -> tuple[Any, Any]:
    """A fitted model, and objects to try it on."""
    model, objects, labels = CASES[name]()
    return model.fit(objects, labels), objects


def rewritten(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The same file with its members changed, checksums of the zip and all."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_header(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The same file with its header changed in place (or replaced by what `change` returns)."""

    def edit(members: dict[str, bytes]) -> None:
        header = json.loads(members["header.json"])
        replaced = change(header)
        content = header if replaced is None else replaced
        members["header.json"] = content if isinstance(content, bytes) else json.dumps(content).encode()

    return rewritten(data, edit)


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def zip_end(n_members: int, size: int, offset: int) -> bytes:
    """The last record of a zip, saying what it is told to say."""
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n_members, n_members, size, offset, 0)
