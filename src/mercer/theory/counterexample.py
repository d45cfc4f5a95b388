"""The hunt for objects that show a function not to be a kernel."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError
from mercer.theory.arguments import kernel_of
from mercer.theory.mercer import ASYMMETRY, allowance, whole_matrix
from mercer.theory.showing import html_table, plain, text_table
from mercer.theory.witness import Witness, fewest

Sampler = Callable[[np.random.Generator, int], Any] | Sequence[Any]


@final
@dataclass(frozen=True, eq=False)
class KernelHunt:
    """The answer of `certify_kernel`.

    `verdict` is "proven", "not refuted", "indefinite", "asymmetric" or "not finite".
    """

    verdict: str
    reason: str
    trials: int
    """Samples that were looked at."""
    objects: tuple[Any, ...] = ()
    """The counterexample, as the sampler gave it."""
    matrix: Float64 | None = None
    vector: Float64 | None = None
    """v with v'Kv = `value` < 0."""
    value: float | None = None
    derivation: str = ""

    @property
    def refuted(self) -> bool:
        return self.verdict not in ("proven", "not refuted")

    def __bool__(self) -> bool:
        return not self.refuted

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, strings, lists and dicts; objects by their repr."""
        found: dict[str, Any] = plain(self)
        return {**found, "objects": [repr(item) for item in self.objects], "refuted": self.refuted}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("samples", f"{self.trials:,}")]
        rows += [(f"object {number}", repr(item)) for number, item in enumerate(self.objects)]
        if self.vector is not None:
            rows.append(("weights", ", ".join(f"{weight:.4g}" for weight in self.vector)))
        if self.value is not None:
            rows.append(("v'Kv", f"{self.value:.4g}"))
        return rows

    def __str__(self) -> str:
        said = f"{self.verdict}: {self.reason}\n{text_table(self._rows())}"
        return f"{said}\n\n{self.derivation}" if self.derivation else said

    def _repr_html_(self) -> str:
        import html

        return f"<div><b>{html.escape(self.verdict)}</b>: {html.escape(self.reason)}{html_table(self._rows())}</div>"


def certify_kernel(
    kernel: Any, sampler: Sampler, *, trials: int = 200, size: int = 12, random_state: int = 0
) -> KernelHunt:
    """Draw random sets of up to `size` objects and look for a Gram matrix that is not positive semi-definite.

    `sampler(rng, n)` gives n objects, or it is a list to draw from. The first counterexample is shrunk to the fewest of
    its objects. Finding none proves nothing: the closure rules, where they apply, do.

    >>> from mercer import kernels
    >>> distance = kernels.FromFunction(lambda a, b: -abs(a - b), objects="items")
    >>> found = certify_kernel(distance, lambda rng, n: rng.integers(0, 10, n).tolist())
    >>> found.verdict, len(found.objects)
    ('indefinite', 2)
    >>> certify_kernel(kernels.RBF(1.0), lambda rng, n: rng.normal(size=(n, 2)), trials=20).verdict
    'proven'
    """
    owner = "certify_kernel"
    chosen = kernel_of(owner, kernel)
    trials = _check.integer(owner, "trials", trials, low=1)
    size = _check.integer(owner, "size", size, low=2, high=200)
    rng = np.random.default_rng(random_state)
    draw = _drawing(sampler)
    for number in range(trials):
        raw = draw(rng, 2 + number % (size - 1))
        parsed = chosen.coerce(raw)
        K = whole_matrix(chosen.fit(parsed), parsed)
        found = _refutation(K)
        if found is not None:
            verdict, reason, witness = found
            objects = tuple(_item(raw, i) for i in witness.objects)
            value = witness.value if verdict == "indefinite" else None
            vector = witness.vector if verdict == "indefinite" else None
            return KernelHunt(verdict, reason, number + 1, objects, witness.matrix, vector, value, chosen.derivation())
    if chosen.psd:
        reason = "The closure rules prove it for any objects, and no sample says otherwise."
        return KernelHunt("proven", reason, trials, derivation=chosen.derivation())
    reason = "No counterexample was found, which proves nothing; no closure rule covers this kernel."
    return KernelHunt("not refuted", reason, trials, derivation=chosen.derivation())


def _refutation(K: Float64) -> tuple[str, str, Witness] | None:
    if not np.isfinite(K).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
        return "not finite", f"A value between two objects is {K[row, column]}.", _of(K, sorted({row, column}))
    gap = np.abs(K - K.T)
    if gap.max() > ASYMMETRY * np.abs(K).max():
        pair = sorted(int(i) for i in np.unravel_index(int(gap.argmax()), K.shape))
        return "asymmetric", "k(x, z) and k(z, x) differ.", _of(K, pair)
    K = (K + K.T) / 2
    tolerance, _ = allowance(np.diagonal(K), len(K), float(np.abs(K).sum(axis=1).max()), None)
    witness = fewest(K, tolerance)
    if witness is None:
        return None
    many = "One object has" if len(witness.objects) == 1 else f"{len(witness.objects)} objects have"
    return "indefinite", f"{many} a Gram matrix with the eigenvalue {witness.value:.4g}.", witness


def _of(K: Float64, chosen: list[int]) -> Witness:
    return Witness(tuple(chosen), np.zeros(len(chosen)), 0.0, K[np.ix_(chosen, chosen)])


def _drawing(sampler: Any) -> Callable[[np.random.Generator, int], Any]:
    if callable(sampler):
        return lambda rng, n: sampler(rng, n)
    if isinstance(sampler, str) or not hasattr(sampler, "__len__"):
        raise _check.fail("certify_kernel", "sampler", "a function of (rng, n), or a list of objects", sampler)
    if not len(sampler):
        raise InputError("certify_kernel has no objects to draw from: the list is empty.")

    def draw(rng: np.random.Generator, n: int) -> Any:
        ids = rng.choice(len(sampler), size=min(n, len(sampler)), replace=False)
        return sampler[ids] if isinstance(sampler, np.ndarray) else [sampler[int(i)] for i in ids]

    return draw


def _item(raw: Any, position: int) -> Any:
    found = raw[position]
    return found.tolist() if isinstance(found, np.ndarray) else found
