"""Kernels tried one after another, each with several penalties, on the folds that all of them share.

Each kernel has its own cross-validation: between two kernels finished work can be saved, the time limit is checked, and
a kernel that fails on these objects is left out.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer._progress import heard
from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.gram.executors import Threads
from mercer.kernels.base import Kernel
from mercer.selection.blocks import Shared
from mercer.selection.cross_validation import CrossValidation
from mercer.selection.learner import Learner
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import settings_of
from mercer.theory.alignment import kernel_target_alignment
from mercer.training.folds import Split

Making = Callable[[Indices], Kernel]
"""Creates a kernel from the objects that a machine is trained on."""


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """One kernel with one penalty: what it predicted for each object while that object was held out."""

    kernel: Kernel
    penalty: float
    """C, or alpha of a ridge regression."""
    fold_scores: Float64
    predicted: npt.NDArray[Any]
    decisions: Float64
    """Decision values: one column, or one per class if there are more than two."""
    seconds: float
    """Seconds for this kernel with all its penalties."""

    @property
    def score(self) -> float:
        return float(self.fold_scores.mean())


@final
@dataclass(frozen=True, eq=False)
class KernelTrials:
    """A kernel with all the penalties that were tried on every fold."""

    kernel: Kernel
    trials: tuple[Trial, ...]
    complete: bool = True
    """Whether there was time for all penalties."""
    alignment: float = 0.0
    entries: int = 0
    """The number of kernel values computed."""
    gram_seconds: float = 0.0
    shared: bool = False
    """Whether one stored matrix served all folds."""
    warned: tuple[str, ...] = ()

    @property
    def best(self) -> Trial:
        return max(self.trials, key=lambda trial: trial.score)


@final
@dataclass(frozen=True, eq=False)
class Experiment:
    """What every kernel is tried on: objects, targets, folds, a machine and a scorer."""

    objects: Any
    y: Any
    splits: Sequence[Split]
    learner: Learner
    scorer: Any
    penalties: tuple[float, ...] | None = None
    """The penalties to try; None for those of the learner."""
    aligned_with: Any = None
    """Labels for the alignment of the whole matrix; None for no alignment."""
    weights: Float64 | None = None
    """The weight of each object in training; None if all are equal."""
    judged: Callable[[npt.NDArray[Any], Float64], tuple[npt.NDArray[Any], Float64]] | None = None
    """Used instead of the scorer: computes the predictions to keep and the score of each fold from the predictions and
    decision values of held-out objects."""
    made: Mapping[Kernel, Making] = field(default_factory=dict)
    """How to create kernels that learn from targets. They are created again for each fold, from its training objects
    only: otherwise they would have seen the test objects."""

    def try_kernel(self, kernel: Kernel, time_limit: float | None = None, *, usual: bool = False) -> KernelTrials:
        """Cross-validate a kernel with each penalty; `usual` is the only one to try if there is no time for more."""
        if kernel in self.made:
            return self._try_made(kernel, time_limit, usual=usual)
        began = time.monotonic()
        name, methods = self.learner.penalty, self.learner.methods
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            penalties = self.penalties or self.learner.penalties(kernel, self.objects)
            penalties = penalties[min(1, len(penalties) - 1) :][:1] if usual else penalties
            candidates = [{name: penalty} if name else {} for penalty in penalties]
            settings = settings_of(self.learner.compared(kernel), candidates, self.objects)
            weights = {} if self.weights is None else {"sample_weight": self.weights}
            scorer = FoldScorer(self.objects, self.y, self.scorer, "raise", fit_params=weights, held_out=methods)
            validation = CrossValidation(settings, self.splits, scorer, time_limit=time_limit)
            validation.run(keep=self.aligned_with is not None)
            alignment = 0.0
            if self.aligned_with is not None and validation.late is None:
                alignment = kernel_target_alignment(validation.matrix(settings[0]), self.aligned_with)
                validation.release()
        seconds, finished = time.monotonic() - began, validation.finished
        source = validation.groups[0].source
        blocks = sum(len(train) * (len(train) + len(test)) for train, test in self.splits)
        return KernelTrials(
            kernel,
            tuple(self._trial(validation, number, kernel, penalties[number], seconds) for number in finished),
            len(finished) == len(penalties),
            alignment,
            source.entries if isinstance(source, Shared) else blocks,
            source.seconds if isinstance(source, Shared) else 0.0,
            isinstance(source, Shared),
            tuple(dict.fromkeys(str(one.message) for one in caught)),
        )

    def _try_made(self, kernel: Kernel, time_limit: float | None, *, usual: bool) -> KernelTrials:
        """Cross-validate a kernel that is created for each fold."""
        began = time.monotonic()
        penalties = self.penalties or self.learner.penalties(kernel, self.objects)
        parts, complete, warned = [], True, dict[str, None]()
        own = self._made_for_folds(kernel)
        for (train, test), made in zip(self.splits, own, strict=True):
            left = None if time_limit is None else time_limit - (time.monotonic() - began)
            if left is not None and left <= 0:
                return KernelTrials(kernel, (), complete=False)
            fold = dataclasses.replace(self, splits=[(train, test)], penalties=penalties, made={}, judged=_unscored)
            found = fold.try_kernel(made, left, usual=usual)
            parts.append({trial.penalty: trial for trial in found.trials})
            complete &= found.complete
            warned |= dict.fromkeys(found.warned)
        order = np.argsort(np.concatenate([np.sort(test) for _, test in self.splits]), kind="stable")
        seconds = time.monotonic() - began
        trials = []
        for penalty in penalties:
            if all(penalty in part for part in parts):
                predicted, decisions = (
                    np.concatenate([getattr(part[penalty], name) for part in parts])[order]
                    for name in ("predicted", "decisions")
                )
                assert self.judged is not None
                predicted, scores = self.judged(predicted, decisions)
                trials.append(Trial(kernel, penalty, scores, predicted, decisions, seconds))
        return KernelTrials(kernel, tuple(trials), complete, warned=tuple(warned))

    def _made_for_folds(self, kernel: Kernel) -> list[Kernel]:
        """The kernel of each fold; they are created side by side, since each is learnt in one thread."""
        found = [kernel] * len(self.splits)

        def make(place: int) -> None:
            found[place] = self.made[kernel](self.splits[place][0])

        Threads().each(make, range(len(self.splits)))
        return found

    def _trial(self, found: CrossValidation, number: int, kernel: Kernel, penalty: float, seconds: float) -> Trial:
        partly = self.judged is not None
        predicted = found.held_out.values("predict", number, partly=partly)
        decisions = np.asarray(found.held_out.values(self.learner.methods[-1], number, partly=partly))
        columns = decisions[:, None] if decisions.ndim == 1 else decisions
        scores = found.scores(number)
        if self.judged is not None:
            predicted, scores = self.judged(predicted, columns)
        return Trial(kernel, penalty, scores, predicted, columns, seconds)


def _unscored(predicted: npt.NDArray[Any], decisions: Float64) -> tuple[npt.NDArray[Any], Float64]:
    """The results to keep for a fold that is scored later, together with the others."""
    return predicted, np.zeros(1)


class Memory(Protocol):
    """Keeps the trials of finished kernels, so that a search can be resumed later."""

    def recall(self, kernel: Kernel) -> list[Trial] | None: ...

    def keep(self, kernel: Kernel, trials: list[Trial]) -> None: ...


@final
@dataclass(frozen=True, eq=False)
class Tried:
    """All kernels, in the order in which they were tried; `failures` are those that raised an error."""

    kernels: list[KernelTrials]
    failures: list[tuple[Kernel, MercerError]]
    complete: bool
    """Whether there was time for all of them."""


def try_kernels(
    experiment: Experiment,
    kernels: Sequence[Kernel],
    *,
    deadline: float | None = None,
    memory: Memory | None = None,
    report: Callable[[float, str], None] = lambda fraction, note: None,
) -> Tried:
    """Try each kernel with each penalty until the deadline; at least one trial is always made."""
    found: list[KernelTrials] = []
    failures: list[tuple[Kernel, MercerError]] = []
    for number, kernel in enumerate(kernels):

        def listen(fraction: float, number: int = number, kernel: Kernel = kernel) -> None:
            report((number + fraction) / len(kernels), str(kernel)[:40])

        left = None if deadline is None else deadline - time.monotonic()
        if found and left is not None and left <= 0:
            return Tried(found, failures, complete=False)
        recalled = None if memory is None else memory.recall(kernel)
        if recalled is not None:
            found.append(KernelTrials(kernel, tuple(recalled)))
            continue
        try:
            with heard(listen):
                tried = _within(experiment, kernel, left, needed=not found)
        except MercerError as error:
            failures.append((kernel, error))
            continue
        if tried.trials:
            found.append(tried)
        if tried.complete and memory is not None:
            memory.keep(kernel, list(tried.trials))
        listen(1.0)
    return Tried(found, failures, complete=all(one.complete for one in found))


def _within(experiment: Experiment, kernel: Kernel, seconds: float | None, *, needed: bool) -> KernelTrials:
    """Try a kernel as far as time allows; one that is `needed` gets at least the usual penalty."""
    tried = KernelTrials(kernel, (), complete=False)
    if seconds is None or seconds > 0:
        tried = experiment.try_kernel(kernel, seconds)
    if needed and not tried.trials:
        tried = dataclasses.replace(experiment.try_kernel(kernel, usual=True), complete=False)
    return tried
