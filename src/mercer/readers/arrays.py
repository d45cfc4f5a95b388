"""NumPy files: never pickles, and never more than the file can hold."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._parsing import disturbed, undisturbed
from mercer.errors import DataFileError
from mercer.readers.columns import column_called
from mercer.readers.data import Data
from mercer.readers.gram_files import gram_of, is_gram
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason, some
from mercer.readers.source import Source, binary
from mercer.readers.tables import check_width

_MATRICES = ("X", "x", "data", "features", "arr_0")
_LABELS = ("y", "Y", "target", "labels", "label", "arr_1")
_GRAMS = ("K", "gram", "kernel")
_SAVE = "Save it with numpy.savez(path, X=..., y=...)."


def read_npy(source: Source, options: Options) -> Data:
    """One matrix; its labels are one of its columns, or come from a separate file."""
    return _data(source.name, "npy", array_of(source.name, source.content), None, options)


def read_npz(source: Source, options: Options) -> Data:
    """A matrix `X` and labels `y`, a sparse matrix as SciPy writes it, or a Gram matrix `K`."""
    members = _members(source, options)
    labels = _first(members, _LABELS)
    if {"indices", "indptr", "data", "shape"} <= members.keys():
        return _data(source.name, "npz", _sparse(source.name, members), labels, options)
    gram = _first(members, _GRAMS)
    if gram is not None or options.format == "gram":
        gram = gram if gram is not None else next(iter(members.values()))
        ids = [str(item) for item in members["ids"].ravel().tolist()] if _has_names(members) else None
        return gram_of(source.name, gram, options, ids=ids, labels=_as_text(source.name, labels, gram.shape[:1]))
    matrix = _first(members, _MATRICES)
    if matrix is None:
        names = some([quoted(name) for name in members], 10)
        raise problem(source.name, f"none of its arrays is called X: {names}", hint=_SAVE)
    return _data(source.name, "npz", matrix, labels, options)


def _has_names(members: Mapping[str, npt.NDArray[Any]]) -> bool:
    return "ids" in members and members["ids"].dtype.kind != "V"


def _first(members: Mapping[str, npt.NDArray[Any]], names: tuple[str, ...]) -> npt.NDArray[Any] | None:
    return next((members[name] for name in names if name in members), None)


@undisturbed
def array_of(name: str, content: bytes) -> npt.NDArray[Any]:
    """An array from the bytes of an npy file, whose header must not promise more than there is."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(stream)
        if dtype.hasobject:
            what = "it holds Python objects (a pickle), which are never loaded"
            raise problem(name, what, hint="Save plain numbers or fixed-width strings.")
        needed = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
        if needed > len(content):
            what = f"its header promises {needed:,} bytes, but the file has {len(content):,}"
            raise problem(name, what, hint="Is it cut off? Save it again.")
        stream.seek(0)
        array: npt.NDArray[Any] = np.load(stream, allow_pickle=False)
    except DataFileError:
        raise
    except Exception as error:  # NumPy raises all kinds of errors, even those of Python's tokenizer
        if disturbed(error):
            raise
        what = f"not a NumPy file that can be read: {reason(error)}"
        raise problem(name, what, hint="Is it damaged? Save it again with numpy.save.") from error
    if array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.ascontiguousarray(array).view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
        if (codes > sys.maxunicode).any():
            raise problem(
                name, "its text holds numbers that stand for no character", hint="Is it damaged? Save it again."
            )
    return array


def _members(source: Source, options: Options) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            items = archive.infolist()
            if sum(item.file_size for item in items) > options.max_bytes:
                raise problem(source.name, "too large when unpacked", hint="Raise the cap with --max-mb.")
            if not any(item.filename.endswith(".npy") for item in items):
                raise binary(source.name, source.content)
            found = {}
            for item in items:
                key = item.filename.removesuffix(".npy")
                with archive.open(item) as stream:
                    content = stream.read(options.max_bytes + 1)
                found[key] = array_of(f"{source.name}/{quoted(key)[1:-1]}", content)
    except DataFileError:
        raise
    except Exception as error:  # zipfile raises many kinds of errors, including those of its decompressors
        what = f"not an npz file that can be read: {reason(error)}"
        raise problem(source.name, what, hint="Is it damaged? Save it again with numpy.savez.") from error
    return found


def _sparse(name: str, members: Mapping[str, npt.NDArray[Any]]) -> sp.csr_array:
    hint = "Save it as CSR: scipy.sparse.save_npz(path, X.tocsr())."
    kind = str(members["format"].astype(np.str_)).strip("b'\"") if "format" in members else "csr"
    if kind not in ("csr", "csc"):
        raise problem(name, f"a sparse matrix in the format {quoted(kind)}", hint=hint)
    try:
        shape = (int(members["shape"][0]), int(members["shape"][1]))
        parts = (members["data"], members["indices"], members["indptr"])
        matrix: Any = (sp.csr_array if kind == "csr" else sp.csc_array)(parts, shape=shape)
        matrix.check_format(full_check=True)
        return sp.csr_array(matrix)
    except (ValueError, TypeError, IndexError) as error:
        raise problem(
            name, f"the parts of the sparse matrix do not fit together: {reason(error)}", hint=hint
        ) from error


def _data(name: str, format_: str, matrix: Any, labels: Any, options: Options) -> Data:
    """Strings, vectors, or a Gram matrix, by the shape and type of an array."""
    if matrix.ndim == 1 and matrix.dtype.kind == "U":
        text = [str(item) for item in matrix.tolist()]
        return Data(name, format_, "strings", text, _as_text(name, labels, (len(text),)), "label")
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        what = f"a matrix of numbers is needed; this is {matrix.dtype} of shape {matrix.shape}"
        raise problem(name, what, hint="Save one row of numbers per object.")
    check_width(name, matrix.shape[1], options, table=False)
    if options.format == "gram" or (options.format is None and labels is None and is_gram(matrix)):
        return gram_of(name, matrix, options, labels=_as_text(name, labels, matrix.shape[:1]))
    target = "label"
    if labels is None and options.labels is None and options.target is not None and not sp.issparse(matrix):
        numbers = {str(place + 1): None for place in range(matrix.shape[1])}
        target = column_called(options.target, numbers, name, "--target")
        labels, matrix = matrix[:, int(target) - 1], np.delete(matrix, int(target) - 1, axis=1)
    return Data(name, format_, "vectors", matrix, _as_text(name, labels, matrix.shape[:1]), target)


def _as_text(name: str, labels: Any, shape: tuple[int, ...]) -> npt.NDArray[np.str_] | None:
    """Labels as they would be written in a file."""
    if labels is None:
        return None
    if labels.shape != shape:
        raise problem(name, f"labels of shape {labels.shape} for {shape} objects", hint=_SAVE)
    return np.array([str(item) for item in labels.tolist()], dtype=np.str_)
