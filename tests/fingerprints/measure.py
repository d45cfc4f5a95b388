"""Turns models, arrays and model files into a few numbers each.

A fingerprint is a flat dict from a name to a list of numbers or to a text. Names that begin with ``~`` are for
bit-for-bit comparisons only: they hold hashes and details that may change within a solver's tolerance.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import mercer
from mercer._registry import MODELS

Fingerprint = dict[str, list[float] | str]

OUTPUTS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
COEFFICIENTS = ("dual_coef_", "coef_", "eigenvectors_")
LEARNT = (
    "intercept_", "offset_", "radius_", "epsilon_", "alpha_", "scores_", "best_score_", "temperature_", "weights_",
    "eigenvalues_", "explained_variance_ratio_", "correlations_", "separation_", "priors_", "means_", "inertia_",
    "labels_", "embedding_", "counts_", "converged_", "class_weight_",
)  # fmt: skip
CERTIFIED = ("primal", "dual", "kkt_violation", "margin", "explained", "explainable", "total")


def sketch(name: str, array: Any, entries: int = 5) -> Fingerprint:
    """The norm, the sum, a weighted sum and a few entries of an array; all of them where there are few."""
    values = array.toarray() if sp.issparse(array) else np.asarray(array)
    exact = hashlib.sha256(f"{values.dtype} {values.shape}".encode() + np.ascontiguousarray(values).tobytes())
    flat = values.astype(np.float64).ravel()
    if flat.size > entries + 3:
        chosen = flat[np.linspace(0, flat.size - 1, entries).astype(int)]
        root = np.sqrt(flat.size)  # sums are brought to the scale of entries
        sums = [np.linalg.norm(flat) / root, flat.sum() / root, flat @ np.cos(np.arange(flat.size)) / root]
        flat = np.concatenate([sums, chosen])
    return {name: [float(value) for value in flat], f"~{name}": exact.hexdigest()[:16]}


def of_model(model: Any, new: Any, *, file: bool = True, coefficients: bool = True) -> Fingerprint:
    """What a fitted model learnt, what it says about new objects, its certificate, and its model file."""
    found: Fingerprint = {}
    for name in (*(COEFFICIENTS if coefficients else ()), *LEARNT):
        value = getattr(model, name, None)
        if isinstance(value, np.ndarray | list | tuple | float | int | sp.sparray):
            found |= sketch(name, _numbers(model, value))
    said = outputs(model, new)
    for name, values in said.items():
        found |= sketch(name, values)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        found |= {name: [float(getattr(certificate, name))] for name in CERTIFIED if hasattr(certificate, name)}
        found["~iterations"] = str(getattr(certificate, "iterations", ""))
    if file and type(model).__name__ in MODELS:
        found |= of_file(model, new, said)
    return found


def outputs(model: Any, new: Any) -> dict[str, np.ndarray]:
    """Everything that the model says about new objects, as numbers."""
    tried = [name for name in OUTPUTS if callable(getattr(model, name, None))]
    return {name: _numbers(model, getattr(model, name)(new)) for name in tried}


def _numbers(model: Any, values: Any) -> Any:
    """Classes as their positions among the model's classes; a list of blocks in one piece."""
    if isinstance(values, list | tuple) and len({np.shape(value) for value in values}) > 1:
        values = np.concatenate([np.ravel(value) for value in values])
    if sp.issparse(values) or np.asarray(values).dtype.kind in "fiub":
        return values
    return np.searchsorted(model.classes_, values)


def of_file(model: Any, new: Any, said: dict[str, np.ndarray]) -> Fingerprint:
    """Whether the model comes back from a file as it was, and how that file is laid out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        mercer.save(model, path)
        again = outputs(mercer.load(path), new)
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
    # BLAS rounds a product by where its arrays lie in memory: the last bits may differ.
    same = all(
        np.allclose(values, again[name], rtol=1e-12, atol=1e-12, equal_nan=True) for name, values in said.items()
    )
    layout = structure(header)
    return {
        "file comes back": "same" if same else "different",
        "file structure": hashlib.sha256(layout.encode()).hexdigest()[:12],
        "~file structure": layout,
        "~file shapes": json.dumps({name: member["shape"] for name, member in header["members"].items()}),
    }


def structure(header: dict[str, Any]) -> str:
    """The names in a model file's header, and the type and number of dimensions of its arrays, in one line.

    Lengths are left out, because the number of support vectors may change within a solver's tolerance.
    """
    members = {name: f"{member['dtype']} {len(member['shape'])}d" for name, member in header["members"].items()}
    told = {name: value for name, value in header.items() if name not in ("members", "mercer")}
    return json.dumps(_names(told) | {"members": members}, sort_keys=True, separators=(",", ":"))


def _names(value: Any) -> Any:
    """The same tree with texts and keys kept and numbers left out."""
    if isinstance(value, dict):
        return {name: _names(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_names(part) for part in value]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value
