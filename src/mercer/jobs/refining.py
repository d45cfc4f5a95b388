"""The second round of a search: kernels based on the best of the first round, and kernels learnt from targets."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from mercer._cached import cached_property
from mercer._types import Indices
from mercer.jobs.problem import Problem
from mercer.jobs.relevance import Relevance
from mercer.kernels.base import Kernel
from mercer.selection.learner import rounded, typical_scale
from mercer.selection.trials import Experiment, KernelTrials, Making

_SUMMED = 3
"""The most kernels in a sum of the best."""


@final
@dataclass(frozen=True)
class Recipe:
    """A sum of kernels, one of which may learn from targets how much each column matters."""

    fixed: tuple[Kernel, ...] = ()
    learns: bool = False

    def on(self, experiment: Experiment, relevance: Relevance | None) -> tuple[Kernel, Making | None]:
        """The kernel for all objects of an experiment, and how to create it for a part of them if it learns."""
        scales = [rounded(1.0 / typical_scale(kernel, experiment.objects)) for kernel in self.fixed]
        alone = len(self.fixed) + self.learns == 1
        parts = [kernel if alone or by == 1.0 else by * kernel for kernel, by in zip(self.fixed, scales, strict=True)]
        if not self.learns:
            return _added(parts), None
        assert relevance is not None

        def making(rows: Indices) -> Kernel:
            return _added([relevance.kernel(rows), *parts])

        return making(np.arange(len(experiment.y))), making


def _added(parts: Sequence[Kernel]) -> Kernel:
    whole: Kernel = functools.reduce(operator.add, parts)
    return whole


def learning(
    problem: Problem, experiment: Experiment, found: Sequence[KernelTrials], known: Mapping[Kernel, Recipe]
) -> list[Recipe]:
    """A kernel that learns how much each column matters, if there are columns to choose from."""
    del found, known
    return [Recipe(learns=True)] if Relevance.suits(experiment.objects, problem.preparation) else []


def sums_of_best(
    problem: Problem, experiment: Experiment, found: Sequence[KernelTrials], known: Mapping[Kernel, Recipe]
) -> list[Recipe]:
    """The sums of the best two and the best three kernels, which may complement each other."""
    del experiment
    if problem.preparation.kind not in ("table", "vectors"):
        return []
    best = sorted(found, key=lambda one: -one.best.score)[:_SUMMED]
    recipes = [known.get(one.kernel, Recipe((one.kernel,))) for one in best]
    return [_joined(recipes[:many]) for many in range(2, len(recipes) + 1)]


@final
class Maker:
    """Creates the kernels of recipes for an experiment; what they learn from targets is learnt once for all of them."""

    def __init__(self, problem: Problem, experiment: Experiment) -> None:
        self._problem, self.experiment = problem, experiment

    @cached_property
    def _relevance(self) -> Relevance:
        problem, experiment = self._problem, self.experiment
        return Relevance(experiment.objects, problem.preparation, experiment.y, problem.task)

    def kernels(self, recipes: Sequence[Recipe]) -> tuple[Experiment, tuple[Kernel, ...]]:
        """The kernels, and an experiment that can create those that learn."""
        made = [recipe.on(self.experiment, self._relevance if recipe.learns else None) for recipe in recipes]
        learnt = {kernel: making for kernel, making in made if making is not None}
        return replace(self.experiment, made=learnt), tuple(kernel for kernel, _ in made)


def _joined(recipes: Sequence[Recipe]) -> Recipe:
    fixed = tuple(kernel for recipe in recipes for kernel in recipe.fixed)
    return Recipe(fixed, any(recipe.learns for recipe in recipes))
