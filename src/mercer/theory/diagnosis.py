"""Is this kernel any good? One call, answered in words and numbers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check, _deadline
from mercer._types import Float64, Indices
from mercer.errors import InputError, MercerError, MercerWarning, TimeLimitError
from mercer.inputs.base import Objects
from mercer.kernels.base import ANY_TILE, FittedKernel, Kernel
from mercer.kernels.precomputed import Precomputed
from mercer.theory.arguments import in_time, is_matrix, kernel_of, matrix_of
from mercer.theory.diagnosing.columns import Columns, columns_of
from mercer.theory.diagnosing.cost import Computed, cost_of
from mercer.theory.diagnosing.findings import Finding, Measurements, findings_of
from mercer.theory.diagnosing.objects import unusual_objects
from mercer.theory.diagnosing.record import Diagnosis
from mercer.theory.diagnosing.spectrum import shape_of
from mercer.theory.diagnosing.targets import Target, labels_of, target_of
from mercer.theory.diagnosing.verdict import verdict_of
from mercer.theory.diagnosing.width import widths_of
from mercer.theory.geometry import cosines
from mercer.theory.mercer import check_mercer, misshapen, whole_matrix
from mercer.theory.seriation import seriation

_RAISE = "Raise time_limit, or lower sample."
_PICTURE = 64
"""Rows and columns of the picture: a larger one makes the HTML longer, a smaller one hides small classes."""


@in_time
def diagnose(
    kernel: Any,
    objects: Any = None,
    y: Any = None,
    *,
    sample: int = 600,
    random_state: int = 0,
    time_limit: float | None = None,
) -> Diagnosis:
    """Diagnose whether the kernel suits these objects and their labels.

    `kernel` is a kernel object, an expression, or a function of two batches; or a Gram matrix, without objects. If
    there are many objects, a random `sample` of them is examined. Without labels, only the matrix itself is judged.
    Objects that the kernel cannot read raise an error; a matrix that is empty, constant, diagonal, indefinite, not
    finite, or that cannot be computed is reported. `time_limit` is in seconds: after it, the remaining checks are left
    out, which is reported.

    >>> import numpy as np
    >>> good = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]])
    >>> diagnose(good, y=[1, 1, 2, 2, 2]).verdict, diagnose(np.eye(5), y=[1, 1, 2, 2, 2]).verdict
    ('good', 'diagonal')
    """
    del time_limit  # enforced by the decorator
    sample = _check.integer("diagnose", "sample", sample, low=2)
    hopeless = _hopeless(kernel, objects)
    if hopeless is not None:
        return hopeless
    chosen, parsed = _parsed(kernel, objects)
    n = len(parsed)
    target = None if y is None else target_of(y, n)
    rng = np.random.default_rng(random_state)
    part = _Sample.of(parsed, target, sample, rng)
    about: dict[str, Any] = {"kernel": str(chosen), "kind": parsed.kind, "n": n, "examined": len(part.ids)}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = chosen.fit(parsed)
            began = time.perf_counter()
            K = whole_matrix(fitted, part.objects)
            took = time.perf_counter() - began
    except TimeLimitError:
        raise
    except MercerError as error:  # the objects are valid, but the kernel cannot compare them
        return Diagnosis("broken", str(error), "Use a kernel that can be computed on these objects.", **about)
    found = check_mercer(K)
    if found.verdict in ("not finite", "asymmetric"):
        return Diagnosis("broken", found.reason, "Use a function that is symmetric and finite.", mercer=found, **about)
    K = (K + K.T) / 2
    computed = Computed(K, took, part.target) if _is_expensive(fitted, part.objects) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)  # reported once, below
        seen = Measurements(
            shape_of(K),
            found,
            None if part.target is None else labels_of(K, part.target, rng),
            unusual_objects(K, part.target, part.ids),
            _in_time(lambda: columns_of(chosen, part.objects, part.target, rng)),
            widths_of(chosen, part.objects, part.target),
            None if chosen.is_precomputed else cost_of(fitted, parsed, target, rng, computed),
            len(part.ids),
            part.target is not None and not part.target.varies,
        )
    said = dict.fromkeys(str(one.message) for one in caught)
    findings = (*findings_of(seen), *(Finding("warning of the kernel", "warning", message) for message in said))
    if _deadline.left() <= 0:
        findings = (*findings, Finding("time limit", "warning", "Time ran out before all checks were done.", _RAISE))
    verdict, reason, step = verdict_of(seen, findings)
    return Diagnosis(
        verdict, reason, step, findings=findings, shape=seen.shape, labels=seen.labels, standing=seen.standing,
        columns=seen.columns, widths=seen.widths, cost=seen.cost, mercer=found,
        picture=_picture(K, part.target), **about,
    )  # fmt: skip


def _is_expensive(fitted: FittedKernel, objects: Objects) -> bool:
    """Whether values are so expensive that none should be computed twice."""
    features = fitted.features(objects.take(np.arange(1)))
    return fitted.tile_entries(features, features) < ANY_TILE


def _in_time(look: Callable[[], Columns | None]) -> Columns | None:
    """The result of a check that is left out when time has run out."""
    try:
        return look() if _deadline.left() > 0 else None
    except TimeLimitError:
        return None


@final
@dataclass(frozen=True, eq=False)
class _Sample:
    """The objects that are examined, with their labels and their positions in the data."""

    objects: Objects
    target: Target | None
    ids: Indices

    @classmethod
    def of(cls, objects: Objects, target: Target | None, size: int, rng: np.random.Generator) -> _Sample:
        n = len(objects)
        if n <= size:
            return cls(objects, target, np.arange(n))
        ids = np.sort(rng.choice(n, size=size, replace=False))
        return cls(objects.take(ids), None if target is None else target.take(ids), ids)


def _hopeless(kernel: Any, objects: Any) -> Diagnosis | None:
    """The diagnosis if there are no objects, or the matrix is clearly not a Gram matrix."""
    matrix = is_matrix(kernel)
    shown = "precomputed()" if matrix else str(kernel_of("diagnose", kernel))
    given = kernel if matrix else objects
    if given is not None and _count(given) == 0:
        about: dict[str, Any] = {"kernel": shown, "kind": "objects", "n": 0, "examined": 0}
        return Diagnosis("broken", "There are no objects.", "Pass the objects that the kernel is to compare.", **about)
    if matrix and objects is None:
        found = misshapen(matrix_of("diagnose", kernel))[0]
        if found is not None:
            about = {"kernel": shown, "kind": "Gram matrix", "n": found.n, "examined": found.n}
            step = "Pass a square matrix of finite numbers with K[i, j] = K[j, i]."
            return Diagnosis("broken", f"The matrix is {found.verdict}. {found.reason}", step, mercer=found, **about)
    return None


def _count(objects: Any) -> int:
    """The number of objects, or of rows of a table."""
    if isinstance(objects, Mapping):
        return len(next(iter(objects.values()), ()))
    if getattr(objects, "shape", ()):
        return int(objects.shape[0])
    return len(objects) if isinstance(objects, list | tuple | Objects) else 1


def _parsed(kernel: Any, objects: Any) -> tuple[Kernel, Objects]:
    if is_matrix(kernel):
        if objects is not None:
            raise InputError("A matrix already stands for its objects: pass diagnose(matrix, y=labels).")
        chosen: Kernel = Precomputed()
        return chosen, chosen.coerce(matrix_of("diagnose", kernel))
    chosen = kernel_of("diagnose", kernel)
    if objects is None:
        raise InputError("diagnose needs the objects that the kernel is to be judged on: pass a list of them.")
    return chosen, objects if isinstance(objects, Objects) else chosen.coerce(objects)


def _picture(K: Float64, target: Target | None) -> Float64:
    """Averages over blocks of neighbouring objects."""
    groups = None if target is None or target.classes is None else target.codes
    order = seriation(K, groups)
    C = cosines(K)[np.ix_(order, order)]
    bounds = np.linspace(0, len(C), min(len(C), _PICTURE) + 1).astype(np.intp)
    sizes = np.diff(bounds)
    sums = np.add.reduceat(np.add.reduceat(C, bounds[:-1], axis=0), bounds[:-1], axis=1)
    return np.asarray(sums / np.outer(sizes, sizes))
