"""The cross-validator: every setting on every fold, grouped by kernel, spread over all cores.

`KernelSearchCV`, `compare`, `mercer compare` and `mercer fit` all train and score their machines here, so their numbers
agree to the last digit on the same folds.
"""

from __future__ import annotations

import contextvars
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn import config_context, get_config

from mercer import _deadline
from mercer._progress import Reporter, reporting
from mercer._types import Float64, Floating
from mercer.errors import InputError, TimeLimitError
from mercer.gram import budget
from mercer.gram.executors import Executor, Threads, default_threads, elsewhere
from mercer.gram.make import gram_of
from mercer.kernels.weighing import weighing
from mercer.selection.blocks import Shared
from mercer.selection.fold_work import Arrived, Clock, FoldTask, FoldWork, Shipment
from mercer.selection.groups import Group, Grouping, by_source
from mercer.selection.pipelines import PipelineSteps
from mercer.selection.racing import hopeful
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import Setting
from mercer.solvers.drive import Stopped
from mercer.training.folds import Split
from mercer.training.kernel_estimator import weights_of_kernel

_GRACE = 0.5
"""Seconds to wait for results from a cluster after time has run out: fits there end by themselves."""
_TIMED = 1000
"""Number of objects whose kernel values are timed: more would delay the message for which they are timed. Chosen."""


@final
@dataclass(frozen=True, eq=False)
class HeldOut:
    """The results of machines for the test objects of each split."""

    splits: Sequence[Split]
    n: int
    """The number of objects."""
    parts: list[list[dict[str, Any]]]
    """By setting and split: the values of each method to keep."""

    def values(self, method: str, number: int, *, partly: bool = False) -> Any:
        """The value of a method for each object, from the fold that held it out; each must be held out once.

        With `partly`, objects that no fold held out are left out.
        """
        times = np.bincount(np.concatenate([test for _, test in self.splits]), minlength=self.n)
        wrong = times > 1 if partly else times != 1
        if wrong.any():
            where = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"Object {where} is held out {times[where]} times, but must be held out once. Use KFold or a variant."
            )
        if not all(method in part for part in self.parts[number]):
            raise InputError(f"Setting {number} was not tried on all folds.")
        values = [part[method] for part in self.parts[number]]
        found = np.empty((self.n, *values[0].shape[1:]), dtype=np.result_type(*values))
        for (_, test), part in zip(self.splits, values, strict=True):
            found[test] = part
        return found[times == 1] if partly else found


@final
class CrossValidation:
    """Fits and scores settings on folds, and keeps the results.

    `results` has what scikit-learn's searches tabulate, by setting and split; None if time ran out.
    """

    def __init__(
        self,
        settings: Sequence[Setting],
        splits: Sequence[Split],
        scorer: FoldScorer,
        *,
        threads: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = True,
        workers: int | None = None,
    ) -> None:
        """`workers` is the number of fits on a cluster at a time; None for as many as possible, 0 for none."""
        self.splits = splits
        self._threads = threads or default_threads()
        self._executor = Threads(self._threads)
        self._workers = workers
        self._elsewhere = None if workers == 0 else elsewhere()
        self.results: list[list[dict[str, Any] | None]] = [[None] * len(splits) for _ in settings]
        self.held_out = HeldOut(splits, len(scorer), [[{} for _ in splits] for _ in settings])
        self._grouping = Grouping(splits, scorer, self._executor, self._threads)
        self.groups = self._grouping.groups(settings)
        self._work = FoldWork(splits, scorer, warm_start)
        self._clock = Clock(np.inf if time_limit is None else time.monotonic() + time_limit)
        self._patience = max(_GRACE, 0.0 if time_limit is None else 0.5 * time_limit)
        """Seconds to wait if there are no results at all: the time reserved for the final fit, which needs one."""
        self._shipment: Shipment | None = None
        self.late: TimeLimitError | None = None
        """The computation of kernel values that was interrupted when time ran out, if any."""
        self._done = 0
        self._counting = threading.Lock()
        self._report: Reporter | None = None

    # -------------------------------------------------------------------------------------------------------- results

    @property
    def finished(self) -> list[int]:
        """The numbers of the settings that were tried on all folds."""
        return [number for number, row in enumerate(self.results) if all(result is not None for result in row)]

    def scores(self, number: int, metric: str = "") -> Float64:
        """The score of a setting on each fold; `metric` is one of several, by its name."""
        values = [np.nan if result is None else result["test_scores"] for result in self.results[number]]
        picked = [value.get(metric, np.nan) if isinstance(value, dict) else value for value in values]
        return np.asarray(picked, dtype=np.float64)

    # -------------------------------------------------------------------------------------------------------- running

    def run(self, race: str | None = None, *, keep: bool = False) -> CrossValidation:
        """Fit and score every setting on every fold.

        `race` is the name of a metric ("" for the only one): settings that fall too far behind are dropped fold after
        fold. With `keep`, stored matrices stay until `release`.
        """
        with reporting("Search") as self._report:
            if race is None:
                self._run(range(len(self.splits)), lambda setting: True, keep=keep)
            else:
                self._race(race)
            if keep and self._elsewhere is not None:
                for source in {group.source for group in self.groups if isinstance(group.source, Shared)}:
                    with self._clock.in_time():
                        source.store()
        return self

    def matrix(self, setting: Setting) -> Floating:
        """The Gram matrix of all objects, from stored values if `run` kept them."""
        kernel = setting.kernel
        assert kernel is not None
        objects = self._grouping.objects(kernel)
        source = next(group.source for group in self.groups if setting in group.settings)
        every = np.arange(len(objects))
        with weighing(weights_of_kernel(setting.machine, self._work.scorer.weights(every, setting.prefix))):
            if not isinstance(source, Shared):
                return gram_of(kernel.fit(objects), objects, memory=setting.memory).dense()
            found = source.block(kernel, every, every[:0]).train.matrix
        assert found is not None
        return found

    def seconds_at_least(self, spent: float) -> float:
        """A low estimate of the time for all fits, if none has ended yet, from kernel values of a few objects."""
        fits, (first, *_) = sum(map(len, self.results)), self.groups[0].settings
        return fits * max(spent / min(self._threads, fits), 0.0 if first.prefix else self._seconds_of_values())

    def _seconds_of_values(self) -> float:
        """About how long the kernel values of one fit take; zero without a kernel."""
        kernel = self.groups[0].kernel
        if kernel is None:
            return 0.0
        objects, n = self._grouping.objects(kernel), self._grouping.largest
        some = objects.take(np.linspace(0, len(objects) - 1, min(n, _TIMED), dtype=np.intp))
        with _deadline.unlimited():
            return gram_of(kernel.fit(some), some).seconds * (n / len(some)) ** 2

    def release(self) -> None:
        """Free the memory of stored matrices."""
        for group in self.groups:
            if isinstance(group.source, Shared):
                group.source.release()

    def _race(self, metric: str) -> None:
        alive = np.ones(len(self.results), dtype=bool)
        sources = {group.source for group in self.groups if isinstance(group.source, Shared)}
        needed = sum(source.bytes(self._grouping.largest, self._threads) for source in sources)
        keep = all(budget.holds(source.memory, needed) for source in sources)
        for split in range(len(self.splits)):
            self._run([split], lambda setting: bool(alive[setting.number]), keep=keep)
            if self._clock.out_of_time:
                return
            numbers = np.flatnonzero(alive)
            scores = np.array([self.scores(int(number), metric)[: split + 1] for number in numbers])
            alive[numbers[~hopeful(scores)]] = False
            self._done = (split + 1) * len(self.results)  # dropped settings are finished

    def _run(self, splits: Sequence[int], active: Callable[[Setting], bool], *, keep: bool) -> None:
        if self._elsewhere is not None:
            self._run_elsewhere(self._elsewhere, splits, active, keep=keep)
            return
        for source, members in by_source(self.groups):
            if self._clock.out_of_time:
                return
            try:
                if isinstance(source, Shared):
                    with self._clock.in_time():
                        source.store()
                self._spread([(groups, split) for groups in _together(source, members) for split in splits], active)
            except TimeLimitError as error:
                self.late = error
                return
            finally:
                if isinstance(source, Shared) and not keep:
                    source.release()

    def _spread(self, tasks: Sequence[tuple[list[Group], int]], active: Callable[[Setting], bool]) -> None:
        config, context = get_config(), contextvars.copy_context()

        def job(task: tuple[list[Group], int]) -> None:
            groups, split = task
            wanted = [replace(group, settings=[one for one in group.settings if active(one)]) for group in groups]
            try:
                with config_context(**config):
                    self._work.fit(wanted, split, self._clock, self._take)
            except (Stopped, TimeLimitError) as stopped:
                if not self._clock.out_of_time:
                    raise
                self.late = stopped if isinstance(stopped, TimeLimitError) else self.late

        with self._clock.alarm():
            # Each job runs in a copy of this context: progress bars of single fits stay hidden.
            self._executor.each(lambda task: context.copy().run(job, task), tasks, self._clock.stop)

    def _run_elsewhere(
        self, cluster: Executor, splits: Sequence[int], active: Callable[[Setting], bool], *, keep: bool
    ) -> None:
        """The same on a cluster."""
        tasks, shared = self._tasks(splits, active)
        self._shipment = self._shipment or Shipment(self._work, tuple(self.groups), get_config())
        try:
            for place, arrived in cluster.results(
                self._shipment,
                tasks,
                shared,
                watch=self._check_time,
                more=lambda: not self._clock.out_of_time,
                at_once=self._workers,
                keep=keep,
            ):
                self._unpack(arrived, self.groups[tasks[place].groups[0]].source)
        except TimeLimitError as error:
            if not self._clock.out_of_time:
                raise
            self.late = error

    def _check_time(self) -> None:
        """Stop waiting for the cluster soon after time has run out."""
        if time.monotonic() >= self._clock.deadline + (_GRACE if self._done else self._patience):
            raise TimeLimitError("No worker finished a fit in time. Raise time_limit, or train on less.")

    def _tasks(
        self, splits: Sequence[int], active: Callable[[Setting], bool]
    ) -> tuple[list[FoldTask], list[int | None]]:
        """The tasks, each with a key of the matrix that it shares with others, if any."""
        places = {group: place for place, group in enumerate(self.groups)}
        wanted = frozenset(one.number for group in self.groups for one in group.settings if active(one))
        until = time.time() + self._clock.deadline - time.monotonic()
        tasks: list[FoldTask] = []
        shared: list[int | None] = []
        for source, members in by_source(self.groups):
            for groups in _together(source, members):
                if any(one.number in wanted for group in groups for one in group.settings):
                    chosen = tuple(places[group] for group in groups)
                    tasks += [FoldTask(chosen, split, wanted, until) for split in splits]
                    shared += [places[members[0]] if isinstance(source, Shared) else None] * len(splits)
        return tasks, shared

    def _unpack(self, arrived: Arrived, source: Any) -> None:
        """Record the results of a fold from another machine."""
        for fit in arrived.fits:
            self._take(*fit)
        for message, kind in arrived.warned:
            warnings.warn(message, kind, stacklevel=6)
        if isinstance(source, Shared):
            source.entries, source.seconds = arrived.entries, arrived.seconds
        if isinstance(arrived.late, TimeLimitError):
            self.late = arrived.late

    def _take(self, number: int, split: int, result: dict[str, Any], kept: dict[str, Any]) -> None:
        with self._counting:
            self.results[number][split] = result
            self.held_out.parts[number][split] = kept
            self._done += 1
            if self._report is not None:
                self._report(self._done / (len(self.results) * len(self.splits)))


def _together(source: Shared | PipelineSteps | None, members: list[Group]) -> list[list[Group]]:
    """The groups that one task fits: those of a pipeline share its steps, all others are separate."""
    return [members] if isinstance(source, PipelineSteps) else [[group] for group in members]
