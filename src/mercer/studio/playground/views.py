"""The linked views of a scene: Gram matrix, spectrum and kernel principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.errors import MercerError
from mercer.gram.make import gram_of
from mercer.studio.playground.packing import packed
from mercer.studio.playground.scene import Scene
from mercer.studio.refusal import Refusal
from mercer.theory.geometry import centred
from mercer.theory.seriation import seriation

_SHOWN = 40
"""The most eigenvalues that are drawn: the rest would be bars without height."""


def gram_matrix(scene: Scene) -> Float64:
    """The whole matrix, in float64 with its exact diagonal."""
    try:
        objects = scene.kernel.coerce(scene.inputs)
        return gram_of(scene.kernel.fit(objects), objects, dtype=np.float64).exact()
    except MercerError as error:
        raise Refusal.of(error, "kernel") from error


def views(scene: Scene, K: Float64) -> dict[str, Any]:
    """All views of one Gram matrix."""
    groups = scene.classes if scene.task == "classification" else np.zeros(len(K), dtype=np.int64)
    order = seriation(K, groups)
    eigenvalues = scipy.linalg.eigvalsh(K)[::-1]
    return {
        "gram": {"order": [int(row) for row in order], "values": packed(K[np.ix_(order, order)])},
        "spectrum": [float(value) for value in eigenvalues[:_SHOWN]],
        "smallest": float(eigenvalues[-1]),
        "psd": bool(scene.kernel.psd),
        "derivation": scene.kernel.derivation(),
        "sentence": _in_words(K, scene),
        **_components(K),
    }


def _components(K: Float64) -> dict[str, Any]:
    """Coordinates of the points along the three directions in which they vary most in feature space."""
    n = len(K)
    values, vectors = scipy.linalg.eigh(centred(K), subset_by_index=(max(0, n - 3), n - 1))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))]
    coordinates = np.zeros((n, 3))
    coordinates[:, : len(values)] = vectors * np.where(largest < 0, -1.0, 1.0) * np.sqrt(values)
    total = float(np.trace(centred(K)))
    shares = [float(value / total) if total > 0 else 0.0 for value in values]
    return {"components": coordinates.tolist(), "shares": shares}


def _in_words(K: Float64, scene: Scene) -> str:
    """Good or bad, as the lectures put it: blocks by class, or only a diagonal."""
    scale = np.sqrt(np.maximum(np.outer(np.diagonal(K), np.diagonal(K)), np.finfo(float).tiny))
    cosines = K / scale
    off = cosines[~np.eye(len(K), dtype=bool)]
    if len(off) and float(np.abs(off).mean()) < 0.02:
        return "Mostly diagonal: each point resembles only itself, and the machine can only memorise."
    if len(off) and float(off.min()) > 0.98:
        return "Nearly constant: every point resembles every other, and little can be told apart."
    if scene.task != "classification" or len(np.unique(scene.classes)) < 2:
        return "Neither diagonal nor constant: there is something to learn from."
    same = scene.classes[:, None] == scene.classes[None, :]
    np.fill_diagonal(same, False)
    inside = float(cosines[same].mean()) if same.any() else 0.0
    across = float(cosines[scene.classes[:, None] != scene.classes[None, :]].mean())
    if inside > across + 0.1:
        return f"Blocks: points of a class are alike (mean cosine {inside:.2f}), classes are not ({across:.2f})."
    return f"No blocks: points of a class (mean cosine {inside:.2f}) are hardly more alike than others ({across:.2f})."
