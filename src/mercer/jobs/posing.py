"""What is to be learnt from a file: the task, the objects as kernels take them, and the kernels to try."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InputError
from mercer.jobs.candidates import candidates, lifted
from mercer.jobs.machines import DIRECTLY, Learner
from mercer.jobs.preparation import Preparation
from mercer.jobs.search import Memory, Search, search
from mercer.jobs.sizing import search_size
from mercer.kernels.base import Kernel
from mercer.kernels.text.expression import parse
from mercer.readers.data import Data

_MOST_CLASSES = 100
_FEW_VALUES = 20


@final
@dataclass(frozen=True)
class Plan:
    """What a user may choose about training."""

    kernel: str = "auto"
    task: str = "auto"
    C: float | None = None
    folds: int = 5
    seed: int = 0
    scale: bool = True
    impute: bool = False
    balanced: bool = False
    time_limit: float | None = None
    search_size: int | None = None
    """On how many objects at most kernels are compared; None for as many as can be afforded."""


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A file, understood."""

    data: Data
    learner: Learner
    y: npt.NDArray[Any]
    preparation: Preparation
    objects: Any
    kernels: tuple[Kernel, ...]
    plan: Plan
    """With the size of the search, whoever chose it."""
    notes: tuple[str, ...]

    @property
    def task(self) -> str:
        return self.learner.task

    @property
    def searched_on(self) -> int:
        """How many objects a search looks at, at most."""
        return self.plan.search_size or len(self.y)

    def search(
        self, deadline: float | None, tick: Callable[[float, str], None], memory: Memory | None = None
    ) -> Search:
        """Try all kernels."""
        return search(
            self.objects,
            self.y,
            self.kernels,
            learner=self.learner,
            folds=self.plan.folds,
            seed=self.plan.seed,
            most=self.searched_on,
            deadline=deadline,
            penalty=self.plan.C,
            tick=tick,
            memory=memory,
        )


def pose(data: Data, plan: Plan, expressions: Sequence[str] = ()) -> Problem:
    """Understand a file; without expressions the kernels are those that suit its content."""
    if data.labels is None:
        raise InputError(f"{data.name} has no labels to learn from.")
    notes = list(data.notes)
    task = task_of(data.labels, plan.task, notes)
    y = data.labels if task == "classification" else np.asarray(data.labels, dtype=np.float64)
    learner = Learner.of(task, y, plan.balanced)
    if learner.name == "SVR":
        notes.append(
            f"More than {DIRECTLY:,} objects: numbers are learnt by support vector regression, where least squares "
            "would take long."
        )
    preparation = Preparation.learn(data, scale=plan.scale, impute=plan.impute)
    if preparation.standardised:
        notes.append("Numbers are standardised: mean 0, deviation 1 (--no-scale leaves them as they are).")
    objects = preparation(data)
    kernels = [lifted(parse(text), preparation) for text in expressions] or candidates(objects, preparation)
    if plan.search_size is None:
        fits = len(kernels) * len(learner.grid(plan.C)) * plan.folds
        size = search_size(data, objects, kernels=len(kernels), fits=fits, learner=learner, time_limit=plan.time_limit)
        plan = dataclasses.replace(plan, search_size=size)
    return Problem(data, learner, y, preparation, objects, tuple(kernels), plan, tuple(notes))


def said_of(found: Search, n: int) -> list[str]:
    """What a user should know about a search among `n` objects."""
    notes = []
    if found.unfinished:
        notes.append("The time limit ended the search early: not every kernel was tried with every penalty.")
    if len(found.rows) < n:
        notes.append(
            f"Kernels were compared on {len(found.rows):,} of the {n:,} objects, drawn at random (--search-size)."
        )
    return notes + [f"Not tried: {kernel}. {why}" for kernel, why in found.skipped]


def task_of(labels: npt.NDArray[Any], asked: str, notes: list[str]) -> str:
    """Classes, or numbers to be predicted: text and few whole numbers are classes."""
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
    notes.append(
        f"The target has {distinct:,} different numbers: this is regression (--task classification says otherwise)."
    )
    return "regression"
