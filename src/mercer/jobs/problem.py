"""What is to be learnt from a file: the task, the prepared objects, and the kernels to try."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._types import Float64, Indices
from mercer.errors import InputError, ParameterError
from mercer.jobs.candidates import candidates, on_columns
from mercer.jobs.link import PLAIN, Link
from mercer.jobs.metrics import Function, Metric, metric_for
from mercer.jobs.preparation import Preparation, gaps_filled
from mercer.jobs.sizing import FINALISTS, search_size
from mercer.jobs.threshold import Threshold
from mercer.kernels.base import Kernel
from mercer.kernels.text.expression import parse
from mercer.readers.data import Data
from mercer.readers.problems import quoted, some
from mercer.selection.learner import LARGEST_RIDGE, Learner

_MOST_CLASSES = 100
"""More different labels than this, or fewer than two objects each, look like a wrong column: an error is better than
hours of training."""
_MACHINES_SHARE = 2
"""Half of the memory is for what machines keep, the rest for the objects themselves."""
_FEW_VALUES = 20
"""Whole numbers are classes up to this many different values: ratings and codes usually are, counts usually are not.
`--task` overrides a wrong guess."""


@final
@dataclass(frozen=True)
class Plan:
    """The user's choices about training."""

    kernel: str = "auto"
    task: str = "auto"
    C: float | None = None
    folds: int = 5
    seed: int = 0
    scale: bool = True
    impute: bool = True
    """Whether missing values are filled; otherwise they are an error."""
    balanced: bool = False
    time_limit: float | None = None
    search_size: int | None = None
    """The largest number of objects to compare kernels on; None for as many as can be afforded."""
    metric: str | Function = "auto"
    """The metric for choosing kernels and judging models: a name, or a function of (y, predicted), larger for better.
    """
    memory: float | None = None
    """MiB that the data, their matrices and features may take; None for half of what is free. Files that need more are
    read in pieces."""
    threshold: str | None = None
    """The probability from which one of two classes is predicted: ``class=0.3``, or by the costs of errors,
    ``class=5:1``."""


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """The content of a file, ready for training."""

    data: Data
    learner: Learner
    y: npt.NDArray[Any]
    preparation: Preparation
    objects: Any
    kernels: tuple[Kernel, ...]
    plan: Plan
    """Includes the size of the search."""
    notes: tuple[str, ...]
    link: Link = PLAIN
    """The scale on which numbers are learnt."""

    @property
    def task(self) -> str:
        return self.learner.task

    def learnt(self, rows: Indices) -> npt.NDArray[Any]:
        """The targets of a machine: classes, or numbers on the scale of the problem."""
        return self.y[rows] if self.task == "classification" else self.link(self.y[rows])

    @property
    def search_size(self) -> int:
        """The largest number of objects in a search."""
        return self.plan.search_size or len(self.y)

    @cached_property
    def metric(self) -> Metric:
        """The metric by which models are judged."""
        return metric_for(self.plan.metric, self.task, self.y, balanced=self.plan.balanced)

    @cached_property
    def threshold(self) -> Threshold | None:
        """The probability from which one of two classes is predicted; None to use the prediction of the machine."""
        if self.plan.threshold is None:
            return None
        if self.task != "classification":
            raise ParameterError("--threshold is for classes, but this is regression.")
        return Threshold.parse(self.plan.threshold, [str(label) for label in np.unique(self.y)])

    @property
    def needs_chances(self) -> bool:
        """Whether held-out objects need probabilities."""
        return self.metric.needs == "chances" or self.threshold is not None

    @cached_property
    def weights(self) -> Float64:
        """How much each object counts."""
        return np.ones(len(self.y)) if self.data.weights is None else self.data.weights


def prepare(data: Data, plan: Plan, expressions: Sequence[str] = ()) -> Problem:
    """Prepare a file for training; without expressions, the kernels are those that suit its content."""
    data, task, y, notes = _learnt_from(data, plan)
    quantile = metric_for(plan.metric, task, y, balanced=plan.balanced).quantile
    learner = Learner.for_task(task, y, balanced=plan.balanced, quantile=quantile)
    if plan.memory is not None:
        learner.template.set_params(memory=plan.memory / _MACHINES_SHARE)
    if task == "regression" and quantile is None and learner.penalty == "C":
        notes.append(
            f"More than {LARGEST_RIDGE:,} objects: numbers are learnt by support vector regression, because least "
            "squares would take too long."
        )
    preparation = Preparation.learn(data, scale=plan.scale, impute=plan.impute)
    notes += [sentence for sentence in [gaps_filled(data)] if sentence]
    if preparation.standardised:
        notes.append("Numbers are standardised to mean 0 and deviation 1 (--no-scale leaves them as they are).")
    objects = preparation(data)
    kernels = [on_columns(parse(text), preparation) for text in expressions] or candidates(objects, preparation)
    if plan.search_size is None:
        many = min(len(kernels), FINALISTS)
        fits = many * (len(learner.grid) if plan.C is None else 1) * plan.folds
        size = search_size(data, objects, kernels=many, fits=fits, learner=learner, time_limit=plan.time_limit)
        plan = dataclasses.replace(plan, search_size=size)
    problem = Problem(data, learner, y, preparation, objects, tuple(kernels), plan, tuple(notes))
    if problem.threshold is not None:  # refused before hours of training, not after
        note = f"The class {str(np.unique(y)[problem.threshold.place])!r} is predicted from a probability of "
        notes.append(f"{note}{problem.threshold.least:.3g} on (--threshold).")
    return dataclasses.replace(problem, notes=tuple(notes))


def _learnt_from(data: Data, plan: Plan) -> tuple[Data, str, npt.NDArray[Any], list[str]]:
    """The objects that can be learnt from, the task, their targets, and what a user should know."""
    if data.labels is None:
        raise InputError(f"{data.name} has no labels to learn from.")
    found: list[str] = []
    task = task_of(data.labels, plan.task, found)
    if task == "regression":
        return data, task, np.asarray(data.labels, dtype=np.float64), [*data.notes, *found]
    left = without_single(data)
    return left, task, np.asarray(left.labels), [*left.notes, *found]


def without_single(data: Data) -> Data:
    """The objects without those that are the only one of their class: none is left to learn from if one is tried on.

    With fewer than two other classes, nothing is left out: the error about the class says more.
    """
    assert data.labels is not None
    classes, codes, counts = np.unique(data.labels, return_inverse=True, return_counts=True)
    single = counts < 2
    if not single.any() or (~single).sum() < 2:
        return data
    names = some([quoted(str(label)) for label in classes[single]], 5)
    one, each = ("class that has", "") if single.sum() == 1 else ("classes that have", " each")
    note = f"Left out: the {one} one object{each}, {names}. Two are needed to learn from one and try the other."
    left = data.take(np.flatnonzero(~single[codes]))
    return dataclasses.replace(left, notes=(*data.notes, note), detail={**data.detail, "single": int(single.sum())})


def task_of(labels: npt.NDArray[Any], asked: str, notes: list[str]) -> str:
    """Classification or regression: text and few different whole numbers are classes."""
    if asked == "regression" and labels.dtype.kind not in "if":
        raise InputError(f"Regression needs numbers, but the labels are text, such as {str(labels[0])!r}.")
    if asked != "auto":
        return asked
    distinct = len(np.unique(labels))
    few = distinct <= max(2, min(_FEW_VALUES, len(labels) // 3))
    if labels.dtype.kind == "U" or (labels.dtype.kind == "i" and few):
        if distinct > max(2, min(_MOST_CLASSES, len(labels) // 2)):
            raise InputError(
                f"The target has {distinct:,} different labels in {len(labels):,} objects, which cannot be learnt. "
                "Is it the right column?"
            )
        return "classification"
    notes.append(f"The target has {distinct:,} different numbers: this is regression (unless --task classification).")
    return "regression"
