"""The search for objects that show that a function is not a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError
from mercer.theory.arguments import kernel_of
from mercer.theory.mercer import MercerCheck, check_mercer, whole_matrix
from mercer.theory.showing import Report

Sampler = Callable[[np.random.Generator, int], Any] | Sequence[Any]


@final
@dataclass(frozen=True, eq=False)
class KernelHunt(Report):
    """The result of `certify_kernel`.

    `verdict` is "proven", "not refuted", "indefinite", "asymmetric" or "not finite".
    """

    verdict: str
    reason: str
    trials: int
    """The number of samples examined."""
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
        return {**super().to_dict(), "objects": [repr(item) for item in self.objects], "refuted": self.refuted}

    def rows(self) -> list[tuple[str, str]]:
        rows = [("samples", f"{self.trials:,}")]
        rows += [(f"object {number}", repr(item)) for number, item in enumerate(self.objects)]
        if self.vector is not None:
            rows.append(("weights", ", ".join(f"{weight:.4g}" for weight in self.vector)))
        if self.value is not None:
            rows.append(("v'Kv", f"{self.value:.4g}"))
        return rows


def certify_kernel(
    kernel: Any, sampler: Sampler, *, trials: int = 200, size: int = 12, random_state: int = 0
) -> KernelHunt:
    """Draw random sets of up to `size` objects and look for a Gram matrix that is not positive semi-definite.

    `sampler(rng, n)` returns n objects; or it is a list to draw from. The first counterexample is reduced to as few
    objects as possible. Finding none proves nothing; the closure rules do, if they apply.

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
        found = check_mercer(K)
        ids = _culprits(found)
        if not ids:
            continue
        block = K[np.ix_(ids, ids)]
        refuted = KernelHunt(
            found.verdict, "k(x, z) and k(z, x) differ.", number + 1, tuple(_item(raw, i) for i in ids), block,
            derivation=chosen.derivation(),
        )  # fmt: skip
        if found.verdict == "not finite":
            return replace(refuted, reason=f"A value between two objects is {block[~np.isfinite(block)][0]}.")
        if found.witness is not None:
            many = "One object has" if len(ids) == 1 else f"{len(ids)} objects have"
            reason = f"{many} a Gram matrix with the eigenvalue {found.witness.value:.4g}."
            return replace(refuted, reason=reason, vector=found.witness.vector, value=found.witness.value)
        return refuted
    if chosen.psd:
        reason = "The closure rules prove it for any objects, and no sample contradicts it."
        return KernelHunt("proven", reason, trials, derivation=chosen.derivation())
    reason = "No counterexample was found, which proves nothing; no closure rule covers this kernel."
    return KernelHunt("not refuted", reason, trials, derivation=chosen.derivation())


def _culprits(found: MercerCheck) -> list[int]:
    """The objects that show that a matrix is not a Gram matrix; empty if there are none."""
    if found.witness is not None:
        return list(found.witness.objects)
    return sorted(set(found.where or ())) if found.verdict in ("not finite", "asymmetric") else []


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
