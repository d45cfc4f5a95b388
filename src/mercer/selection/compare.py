"""Several kernels on the same objects and labels, side by side: alignment, cross-validated score, and cost."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring

from mercer import _check
from mercer._progress import reporting
from mercer._types import Float64
from mercer.errors import InputError, MercerError
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.kernels.memory import calls
from mercer.selection.learner import Learner
from mercer.selection.trials import Experiment, KernelTrials, try_kernels
from mercer.theory.arguments import kernel_of
from mercer.theory.diagnosing.targets import Target, target_of
from mercer.theory.showing import html_table, plain
from mercer.training.folds import Split, make_folds


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """One kernel of a comparison."""

    name: str
    kernel: str
    score: float
    """The mean over the folds, with the best penalty of those tried; -inf if it `failed`."""
    spread: float
    """The standard deviation over the folds."""
    scores: Float64
    C: float
    """The penalty: C, or alpha of a ridge machine."""
    alignment: float
    """The centred alignment with the labels."""
    seconds: float
    """Seconds for the Gram matrix, and for training and testing on all folds."""
    gram_seconds: float
    entries: int
    """The number of kernel values computed."""
    psd: bool
    """Whether the closure rules prove that it is a kernel."""
    shared: bool
    """Whether one stored matrix served all folds; false if all values depend on the training objects."""
    notes: tuple[str, ...] = ()
    failed: str = ""

    @classmethod
    def of(cls, name: str, found: KernelTrials) -> Compared:
        """A kernel with its best penalty."""
        best = found.best
        return cls(
            name, str(found.kernel), best.score, float(best.fold_scores.std()), best.fold_scores, best.penalty,
            found.alignment, best.seconds, found.gram_seconds, found.entries, found.kernel.psd, found.shared,
            found.warned,
        )  # fmt: skip

    @classmethod
    def failure(cls, name: str, kernel: Kernel, error: MercerError) -> Compared:
        """A kernel that cannot be used on these objects."""
        unknown = (-np.inf, 0.0, np.zeros(0), 0.0, 0.0, 0.0, 0.0, 0)
        return cls(name, str(kernel), *unknown, kernel.psd, shared=False, failed=str(error))


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

    @property
    def _head(self) -> tuple[str, ...]:
        return ("", "kernel", f"{self.scoring}, {self.folds} folds", "alignment", "C", "time")

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
        cells = [self._head, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells
        )

    def _repr_html_(self) -> str:
        notes = "".join(
            f"<li>{html.escape(row.name)}: {html.escape(note)}</li>" for row in self.rows for note in row.notes
        )
        return f"<div>{html_table(self._cells(), head=self._head)}{f'<ul>{notes}</ul>' if notes else ''}</div>"


def compare(
    kernels: Any,
    objects: Any,
    y: Any,
    *,
    estimator: Any = None,
    C: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    memory: float | str = "auto",
) -> Comparison:
    """Rank kernels by the cross-validated score of a machine, with the alignment and the cost of each.

    A kernel's values are computed once and shared by all folds and penalties, unless they depend on the training
    objects. All kernels see the same folds. A kernel that fails is ranked last, with its error.

    Parameters
    ----------
    kernels : a list of kernels, as objects or expressions, or a dict of named ones.
    estimator : the machine to train; by default `SVC` for classes and `KernelRidge` for numbers (`SVR` from 10,000
        objects on).
    C : the penalties to try: `C` of the machine, or `alpha` of a ridge machine. By default a few powers of ten, scaled
        by the mean diagonal of each kernel, so the scale of a kernel does not matter.
    cv, scoring : as in scikit-learn; a number of folds is shuffled, always in the same way.
    memory : for stored matrices: ``"auto"`` or a number of MiB.

    >>> from mercer import kernels
    >>> words = ["gattaca", "gattica", "gatta", "gattacca", "ccgcg", "cgcgc", "cgccg", "gcgcc"]
    >>> found = compare([kernels.Spectrum(2), kernels.Spectrum(6)], words, [1, 1, 1, 1, 0, 0, 0, 0], cv=2)
    >>> found.best.kernel, found.best.score
    ('spectrum(p=2)', 1.0)
    """
    named = _named(kernels)
    parsed = {kernel.domain: _coerced(kernel, objects) for kernel in named.values()}
    n = len(next(iter(parsed.values())))
    target = target_of(y, n)
    if len(np.unique(target.codes)) < 2:
        raise InputError("All objects have the same label: there is nothing to compare kernels by.")
    labels = np.asarray(y) if target.classes is not None or estimator is not None else target.values
    learner = _learner(estimator, target, labels, memory)
    splits = folds_of(cv, labels, target, classifier=is_classifier(learner.template))
    experiment = Experiment(
        next(iter(parsed.values())) if len(parsed) == 1 else objects,
        labels,
        splits,
        learner,
        check_scoring(learner.template, scoring=scoring),
        None if C is None else _penalties(C),
        target.codes if target.classes is not None else target.values,
    )
    with reporting("Comparing kernels") as report, calls.once():
        tried = try_kernels(experiment, list(named.values()), report=report)
    names = {kernel: name for name, kernel in named.items()}
    rows = [Compared.of(names[found.kernel], found) for found in tried.kernels]
    rows += [Compared.failure(names[kernel], kernel, error) for kernel, error in tried.failures]
    rows.sort(key=lambda row: (-row.score, row.seconds))
    default = "accuracy" if target.classes is not None else "R^2"
    return Comparison(tuple(rows), scoring if isinstance(scoring, str) else default, len(splits))


def _learner(estimator: Any, target: Target, labels: Any, memory: float | str) -> Learner:
    """The given machine, or the default one for the task."""
    task = "regression" if target.classes is None else "classification"
    learner = Learner.for_task(task, labels) if estimator is None else Learner(estimator)
    if memory != "auto":
        learner = dataclasses.replace(learner, template=clone(learner.template).set_params(memory=memory))
    return learner


def _penalties(C: Any) -> tuple[float, ...]:
    found = np.atleast_1d(np.asarray(C, dtype=np.float64))
    if found.ndim != 1 or not len(found) or not (np.isfinite(found) & (found > 0)).all():
        raise _check.fail("compare", "C", "one or more positive numbers", C)
    return tuple(found.tolist())


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


def folds_of(cv: Any, labels: Any, target: Target, *, classifier: bool) -> list[Split]:
    """The splits that `cv` stands for; a number of folds is shuffled, always in the same way."""
    if target.classes is not None and isinstance(cv, int) and not isinstance(cv, bool):
        counts = np.bincount(target.codes)
        rarest = int(counts[counts > 0].min())
        if rarest < cv:
            label = target.classes[int(np.where(counts > 0, counts, counts.max() + 1).argmin())]
            raise InputError(
                f"{cv} folds need {cv} objects of every class; class {label.item()!r} has {rarest}. Lower cv."
            )
    return make_folds(cv, labels, labels, classifier=classifier, random_state=0)
