"""Several kernels on the same objects and labels, side by side: alignment, cross-validated score, and cost."""

from __future__ import annotations

import html
import json
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from mercer import _check
from mercer._progress import reporting
from mercer._types import Float64
from mercer.errors import InputError, MercerError
from mercer.estimators.kernel_ridge import KernelRidge
from mercer.estimators.svc import SVC
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.theory.alignment import centred, kernel_target_alignment
from mercer.theory.arguments import kernel_of
from mercer.theory.diagnosing.targets import Target, target_of
from mercer.theory.showing import html_table, plain

Fold = tuple[Float64, Float64, npt.NDArray[np.intp], npt.NDArray[np.intp]]

_PENALTIES = (0.1, 1.0, 10.0, 100.0)


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """One kernel of a comparison."""

    name: str
    kernel: str
    score: float
    """The mean over the folds, at the best C of those tried; -inf where it `failed`."""
    spread: float
    """The standard deviation over the folds."""
    scores: Float64
    C: float
    alignment: float
    """Centred, with the labels."""
    seconds: float
    """For the Gram matrix, and for training and testing on all folds."""
    gram_seconds: float
    entries: int
    """Kernel values computed."""
    psd: bool
    """Whether the closure rules prove it to be a kernel."""
    shared: bool
    """Whether one Gram matrix served all folds: not where the kernel depends on the training objects."""
    notes: tuple[str, ...] = ()
    failed: str = ""


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Kernels ranked by their score, the best first; `str` is a table."""

    rows: tuple[Compared, ...]
    scoring: str
    folds: int

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    def __getitem__(self, rank: int) -> Compared:
        return self.rows[rank]

    @property
    def best(self) -> Compared:
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, strings, lists and dicts."""
        found: dict[str, Any] = plain(self)
        return found

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                str(rank),
                row.name,
                f"failed: {row.failed}" if row.failed else f"{row.score:.3f} ± {row.spread:.3f}",
                "" if row.failed else f"{row.alignment:.3f}",
                "" if row.failed else f"{row.C:.3g}",
                f"{row.seconds:.2f} s",
            )
            for rank, row in enumerate(self.rows, 1)
        ]

    def __str__(self) -> str:
        head = ("", "kernel", f"{self.scoring}, {self.folds} folds", "alignment", "C", "time")
        cells = [head, *self._cells()]
        widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells
        )

    def _repr_html_(self) -> str:
        head = ("", "kernel", f"{self.scoring}, {self.folds} folds", "alignment", "C", "time")
        notes = "".join(
            f"<li>{html.escape(row.name)}: {html.escape(note)}</li>" for row in self.rows for note in row.notes
        )
        return f"<div>{html_table(self._cells(), head=head)}{f'<ul>{notes}</ul>' if notes else ''}</div>"


def compare(
    kernels: Any,
    objects: Any,
    y: Any,
    *,
    estimator: Any = None,
    C: Any = _PENALTIES,
    cv: Any = 5,
    scoring: Any = None,
    memory: float | str = "auto",
) -> Comparison:
    """Rank kernels by the cross-validated score of a machine, with the alignment and the cost of each.

    `kernels` is a list of kernel objects and expressions, or a dict of named ones. The machine is an `SVC` for classes
    and `KernelRidge` for numbers, or `estimator`. Each `C` is tried, in units in which objects vary by 1 around their
    mean, so that kernels of different scales are treated alike (alpha = 1 / C for ridge machines), and the best one is
    kept. A kernel that does not depend on the training objects is computed once and shared by all folds and penalties.
    All kernels see the same folds. A kernel that fails is ranked last, with its error.

    >>> from mercer import kernels
    >>> words = ["gattaca", "gattica", "gatta", "gattacca", "ccgcg", "cgcgc", "cgccg", "gcgcc"]
    >>> found = compare([kernels.Spectrum(2), kernels.Spectrum(6)], words, [1, 1, 1, 1, 0, 0, 0, 0], cv=2)
    >>> found.best.kernel, found.best.score
    ('spectrum(p=2)', 1.0)
    """
    asked = _named(kernels)
    parsed = {name: (kernel, _coerced(kernel, objects)) for name, kernel in asked.items()}
    n = len(next(iter(parsed.values()))[1])
    target = target_of(y, n)
    penalties = np.atleast_1d(np.asarray(C, dtype=np.float64))
    if penalties.ndim != 1 or not len(penalties) or not (np.isfinite(penalties) & (penalties > 0)).all():
        raise _check.fail("compare", "C", "one or more positive numbers", C)
    if len(np.unique(target.codes)) < 2:
        raise InputError("All objects have the same label: there is nothing to compare kernels by.")
    machine = (
        estimator if estimator is not None else (SVC(psd="ignore") if target.classes is not None else KernelRidge())
    )
    labels = np.asarray(y) if target.classes is not None or estimator is not None else target.values
    splits = splits_of(cv, labels, target, machine)
    scorer = check_scoring(machine, scoring=scoring)
    rows = []
    with reporting("Comparing kernels") as report:
        for number, (name, (kernel, batch)) in enumerate(parsed.items()):
            report(number / len(parsed), name)
            rows.append(_compared(name, kernel, batch, labels, target, splits, machine, penalties, scorer, memory))
    rows.sort(key=lambda row: (-row.score, row.seconds))
    default = "accuracy" if target.classes is not None else "R^2"
    return Comparison(tuple(rows), scoring if isinstance(scoring, str) else default, len(splits))


def _compared(
    name: str, kernel: Kernel, batch: Objects, labels: Any, target: Target, splits: list[Any], machine: Any,
    penalties: Float64, scorer: Any, memory: float | str,
) -> Compared:  # fmt: skip
    began = time.perf_counter()
    shared = not kernel.data_dependent
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            gram = gram_of(kernel.fit(batch), batch, memory=memory)
            K = gram.exact()
            entries, gram_seconds = gram.entries_computed, time.perf_counter() - began
            scores = np.empty((len(penalties), len(splits)))
            used = np.empty(len(penalties))
            for number, (train, test) in enumerate(splits):
                inside, across = (K[np.ix_(train, train)], K[np.ix_(test, train)]) if shared else (
                    _refitted(kernel, batch.take(train), batch.take(test), memory)
                )  # fmt: skip
                entries += 0 if shared else inside.size + across.size
                variation = float(np.trace(centred(inside))) / len(train)
                for place, penalty in enumerate(penalties):
                    used[place] = penalty / variation if variation > 0 else penalty
                    model = _trained(machine, used[place], inside, labels[train])
                    scores[place, number] = scorer(model, across, labels[test])
        except MercerError as error:
            return Compared(name, str(kernel), -np.inf, 0.0, np.zeros(0), 0.0, 0.0, time.perf_counter() - began, 0.0, 0,
                            kernel.psd, shared, failed=str(error))  # fmt: skip
    best = int(scores.mean(axis=1).argmax())
    y = target.codes if target.classes is not None else target.values
    return Compared(
        name, str(kernel), float(scores[best].mean()), float(scores[best].std()), scores[best], float(used[best]),
        kernel_target_alignment(K, y), time.perf_counter() - began, gram_seconds, int(entries), kernel.psd, shared,
        tuple(dict.fromkeys(str(one.message) for one in caught)),
    )  # fmt: skip


def _trained(machine: Any, penalty: float, inside: Float64, labels: Any) -> Any:
    model = clone(machine).set_params(kernel="precomputed")
    known = model.get_params(deep=False)
    model.set_params(**({"C": penalty} if "C" in known else {"alpha": 1.0 / penalty} if "alpha" in known else {}))
    return model.fit(inside, labels)


def _refitted(kernel: Kernel, train: Objects, test: Objects, memory: float | str) -> tuple[Float64, Float64]:
    fitted = kernel.fit(train)
    return gram_of(fitted, train, memory=memory).exact(), gram_of(fitted, test, train, memory=memory).exact()


def _named(kernels: Any) -> dict[str, Kernel]:
    if isinstance(kernels, Kernel | str):
        kernels = [kernels]
    pairs = kernels.items() if isinstance(kernels, Mapping) else ((None, kernel) for kernel in kernels)
    found: dict[str, Kernel] = {}
    for name, asked in pairs:
        kernel = kernel_of("compare", asked)
        label = str(kernel) if name is None else str(name)
        if label in found:
            raise InputError(f"The kernel {label} is listed twice. Name kernels with a dict to tell them apart.")
        found[label] = kernel
    if not found:
        raise InputError("compare needs one kernel or more; the list is empty.")
    return found


def _coerced(kernel: Kernel, objects: Any) -> Objects:
    return objects if isinstance(objects, Objects) and isinstance(objects, kernel.domain) else kernel.coerce(objects)


def splits_of(cv: Any, labels: Any, target: Target, machine: Any) -> list[Any]:
    """Pairs of training and test indices; a number of folds is shuffled, always alike."""
    if target.classes is not None and isinstance(cv, int) and not isinstance(cv, bool):
        counts = np.bincount(target.codes)
        rarest = int(counts[counts > 0].min())
        if rarest < cv:
            label = target.classes[int(np.where(counts > 0, counts, counts.max() + 1).argmin())]
            raise InputError(
                f"{cv} folds need {cv} objects of every class; class {label.item()!r} has {rarest}. Lower cv."
            )
    splitter = check_cv(cv, labels, classifier=is_classifier(machine))
    if isinstance(cv, int) and hasattr(splitter, "shuffle"):
        splitter = type(splitter)(cv, shuffle=True, random_state=0)  # files are often sorted by class or by target
    return list(splitter.split(np.empty((len(labels), 1)), labels))
