"""Is it a kernel? A proof by closure rules, a counterexample, or the honest third answer: unknown."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.errors import MercerError
from mercer.kernels.base import Kernel
from mercer.kernels.text.expression import parse
from mercer.studio import fields
from mercer.studio.lab import formula
from mercer.testing.samples import objects_for
from mercer.theory.mercer import check_mercer, whole_matrix
from mercer.theory.showing import plain

_SECONDS = 2.5
"""Seconds to look for a counterexample: half of what a page waits."""
_TRIES = 400
"""The most random sets of points that are tried."""
_UNSEEN = 0.1
"""Penalty on counterexamples that cannot be drawn because their points have three coordinates."""
_ENOUGH = 40
"""Sets after which the clearest counterexample so far is shown: the first is often barely one."""


def is_kernel(told: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for a formula, or for the text of a kernel."""
    text = fields.text(told, "formula", longest=1000)
    try:
        kernel = parse(text)
    except MercerError:
        return _of_formula(text)
    return _of_kernel(kernel)


def _of_formula(text: str) -> dict[str, Any]:
    tree = formula.read(text)
    proof = formula.proof(tree)
    if proof is not None:
        return _answer("proven", "The closure rules prove it, for any objects.", proof=proof)
    rng = np.random.default_rng(0)
    began, tries = time.monotonic(), 0
    clearest, worst = None, 0.0
    while tries < _TRIES and time.monotonic() - began < _SECONDS and (clearest is None or tries < _ENOUGH):
        points = np.round(rng.normal(size=(2 + tries % 7, 1 + tries % 3)) * rng.choice([0.5, 1.0, 3.0]), 2)
        points[points == 0] = 0.01  # a vector of length 0 would refute by a division alone
        tries += 1
        found = check_mercer(formula.value(tree, points))
        if not found.psd:
            share = 1.0 if found.witness is None else -found.witness.value / max(abs(found.largest or 0.0), 1e-300)
            share *= 1.0 if points.shape[1] <= 2 else _UNSEEN
            if share > worst:
                clearest, worst = (found, points), share
    if clearest is not None:
        return _refuted(*clearest, tree, tries)
    return _answer("not refuted", f"No counterexample among {tries} sets of points, which proves nothing.", tries=tries)


def _refuted(found: Any, points: Float64, tree: Any, tries: int) -> dict[str, Any]:
    ids = list(found.witness.objects) if found.witness is not None else sorted(set(found.where or range(len(points))))
    chosen = points[ids]
    vector = [] if found.witness is None else plain(found.witness.vector)
    matrix = plain(formula.value(tree, chosen))
    said = {"not finite": "A value is not finite.", "asymmetric": "k(x, z) and k(z, x) differ."}.get(
        found.verdict, "No feature space has these inner products: some combination of them has a negative square."
    )
    value = None if found.witness is None else plain(float(found.witness.value))
    return _answer("refuted", said, points=chosen.tolist(), matrix=matrix, vector=vector, value=value, tries=tries)


def _of_kernel(kernel: Kernel) -> dict[str, Any]:
    proof = kernel.derivation().splitlines()
    if kernel.psd:
        return _answer("proven", "The closure rules prove it, for any objects.", proof=proof)
    try:
        samples = list(objects_for(kernel).values())
    except (MercerError, LookupError) as error:
        reason = f"No closure rule covers it, and there are no objects to look for a counterexample with: {error}"
        return _answer("not refuted", reason, proof=proof)
    rng = np.random.default_rng(0)
    began, tries = time.monotonic(), 0
    while tries < _TRIES and time.monotonic() - began < _SECONDS:
        sample = samples[tries % len(samples)]
        part = sample.take(rng.choice(len(sample), size=min(2 + tries % 9, len(sample)), replace=False))
        tries += 1
        K = whole_matrix(kernel.fit(part), part)
        found = check_mercer(K)
        if found.witness is not None:
            ids = list(found.witness.objects)
            more = {"matrix": plain(K[np.ix_(ids, ids)]), "vector": plain(found.witness.vector)}
            return _answer("refuted", found.reason, proof=proof, value=plain(found.witness.value), tries=tries, **more)
    return _answer(
        "not refuted", f"No counterexample among {tries} sets of objects, which proves nothing.", proof=proof
    )


def _answer(verdict: str, reason: str, **more: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {"proof": [], "points": [], "matrix": None, "vector": [], "value": None, "tries": 0}
    return {"verdict": verdict, "reason": reason, **blank, **more}
