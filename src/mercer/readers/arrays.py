"""NumPy files: never pickles, and never more than the file can hold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import DataFileError
from mercer.readers.data import Data
from mercer.readers.labels import from_sidecar, typed
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source, binary

_MATRICES = ("X", "x", "data", "features", "arr_0")
_LABELS = ("y", "Y", "target", "labels", "label", "arr_1")
_GRAMS = ("K", "gram", "kernel")


def read_npy(source: Source, options: Options) -> Data:
    """One matrix; its labels come from a file of their own, or are one of its columns."""
    matrix = array_of(source.name, source.content)
    return _vectors(source.name, "npy", matrix, None, options)


def read_npz(source: Source, options: Options) -> Data:
    """A matrix `X` and labels `y`, a sparse matrix as SciPy writes it, or a Gram matrix `K`."""
    members = _members(source, options)
    if {"indices", "indptr", "data", "shape"} <= members.keys():
        return _vectors(source.name, "npz", _sparse(source.name, members, options), members.get("y"), options)
    gram = next((key for key in _GRAMS if key in members), None)
    labels = next((members[key] for key in _LABELS if key in members), None)
    if gram is not None or options.format == "gram":
        from mercer.readers.gram_files import gram_of

        matrix = members[gram] if gram is not None else next(iter(members.values()))
        ids = None if "ids" not in members else [str(item) for item in members["ids"].tolist()]
        return gram_of(source.name, matrix, ids, labels, options)
    key = next((key for key in _MATRICES if key in members), None)
    if key is None:
        shown = ", ".join(quoted(name) for name in list(members)[:10])
        raise problem(
            source.name,
            f"none of its arrays is called X: {shown}",
            hint="Save it with numpy.savez(path, X=..., y=...).",
        )
    return _vectors(source.name, "npz", members[key], labels, options)


def array_of(name: str, content: bytes) -> npt.NDArray[Any]:
    """An array from the bytes of an npy file; its header must not promise more than there is."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(stream)
        if dtype.hasobject:
            raise problem(
                name,
                "it holds Python objects (a pickle), which are never loaded",
                hint="Save plain numbers or fixed-width strings.",
            )
        needed = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
        if needed > len(content):
            raise problem(name, f"its header promises {needed:,} bytes, but the file has {len(content):,}")
        stream.seek(0)
        array: npt.NDArray[Any] = np.load(stream, allow_pickle=False)
    except DataFileError:
        raise
    except Exception as error:  # NumPy lets every kind of error through, from Python's own tokenizer on
        raise problem(name, f"no NumPy file that can be read: {' '.join(str(error).split())[:200]}") from error
    return array


def _members(source: Source, options: Options) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            if sum(item.file_size for item in archive.infolist()) > options.max_bytes:
                raise problem(source.name, "too large when unpacked", hint="Raise the cap with --max-mb.")
            if not any(item.filename.endswith(".npy") for item in archive.infolist()):
                raise binary(source.name, source.content)
            found = {}
            for item in archive.infolist():
                key = item.filename.removesuffix(".npy")
                with archive.open(item) as stream:
                    content = stream.read(options.max_bytes + 1)
                found[key] = array_of(f"{source.name}/{quoted(key)[1:-1]}", content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        raise problem(source.name, f"no npz file that can be read: {error}") from error
    if not found:
        raise problem(source.name, "the file holds no arrays")
    return found


def _sparse(name: str, members: Mapping[str, npt.NDArray[Any]], options: Options) -> sp.csr_array:
    kind = str(members["format"].astype(np.str_)) if "format" in members else "csr"
    kind = kind.strip("b'\"")
    if kind not in ("csr", "csc"):
        raise problem(
            name,
            f"a sparse matrix in the format {quoted(kind)}",
            hint="Save it as CSR: scipy.sparse.save_npz(path, X.tocsr()).",
        )
    try:
        shape = (int(members["shape"][0]), int(members["shape"][1]))
        parts = (members["data"], members["indices"], members["indptr"])
        matrix: Any = (sp.csr_array if kind == "csr" else sp.csc_array)(parts, shape=shape)
        matrix.check_format(full_check=True)
        return sp.csr_array(matrix)
    except (ValueError, TypeError, IndexError) as error:
        raise problem(name, f"no sparse matrix that fits together: {error}") from error


def _vectors(name: str, format_: str, matrix: Any, labels: Any, options: Options) -> Data:
    from mercer.readers.gram_files import gram_of, is_gram

    if matrix.ndim == 1 and matrix.dtype.kind in "UO":
        text = [str(item) for item in matrix.tolist()]
        return Data(name, format_, "strings", text, _labels(name, labels, len(text), options))
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise problem(name, f"a matrix of numbers is needed, this is {matrix.dtype} of shape {matrix.shape}")
    if matrix.shape[1] > options.max_features:
        raise problem(
            name,
            f"{matrix.shape[1]:,} columns, more than {options.max_features:,}",
            hint="Raise the cap with --max-features.",
        )
    if options.format == "gram" or (options.format is None and labels is None and is_gram(matrix)):
        return gram_of(name, matrix, None, labels, options)
    notes: tuple[str, ...] = ()
    target = None
    if labels is None and options.labels is None and options.target is not None and not sp.issparse(matrix):
        from mercer.readers.tables import column_called

        target = column_called(
            options.target, {str(place + 1): None for place in range(matrix.shape[1])}, name, "--target"
        )
        place = int(target) - 1
        labels, matrix = matrix[:, place], np.delete(matrix, place, axis=1)
    return Data(name, format_, "vectors", matrix, _labels(name, labels, matrix.shape[0], options), target, notes=notes)


def _labels(name: str, labels: Any, n: int, options: Options) -> npt.NDArray[Any] | None:
    if options.labels is not None:
        return typed(from_sidecar(options.labels, None, n, options)[0], options.labels)
    if labels is None:
        if options.require_target and options.require_labels:
            raise problem(
                name, "no labels", hint="Give them with --labels FILE, one per line, or as the array y of an npz file."
            )
        return None
    if labels.shape != (n,):
        raise problem(name, f"labels of shape {labels.shape} for {n:,} objects")
    return typed([str(item) for item in labels.tolist()], name)
