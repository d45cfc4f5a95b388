"""The cross-validator: every setting on every fold, grouped by kernel, spread over all cores.

`KernelSearchCV`, `compare`, `mercer compare` and `mercer fit` all train and score their machines here, so their numbers
agree to the last digit on the same folds.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone

from mercer import _deadline
from mercer._progress import Reporter, reporting
from mercer._types import Float64, Floating
from mercer.errors import InputError, MercerError, TimeLimitError
from mercer.gram import budget
from mercer.gram.executors import Threads, default_threads
from mercer.gram.make import gram_of
from mercer.selection.blocks import Block, Shared, Source
from mercer.selection.groups import Group, Grouping, by_source
from mercer.selection.pipelines import Fold, PipelineSteps
from mercer.selection.racing import hopeful
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import Setting
from mercer.solvers.drive import Stopped
from mercer.training.folds import Split
from mercer.training.kernel_estimator import gram_precision, share_fits
from mercer.training.warm_start import WarmStart


@final
@dataclass(frozen=True, eq=False)
class HeldOut:
    """What machines gave for the test objects of each split."""

    splits: Sequence[Split]
    n: int
    """The number of objects."""
    parts: list[list[dict[str, Any]]]
    """By setting and split: the values of each method that was to be kept."""

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

    `results` holds what scikit-learn's searches tabulate, by setting and split; None where the time did not suffice.
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
    ) -> None:
        self.splits = splits
        self._scorer = scorer
        self._threads = threads or default_threads()
        self._executor = Threads(self._threads)
        self._warm_start = warm_start
        self.results: list[list[dict[str, Any] | None]] = [[None] * len(splits) for _ in settings]
        self.held_out = HeldOut(splits, len(scorer), [[{} for _ in splits] for _ in settings])
        self._grouping = Grouping(splits, scorer, self._executor, self._threads)
        self.groups = self._grouping.groups(settings)
        self._stop = threading.Event()
        self._deadline = np.inf if time_limit is None else time.monotonic() + time_limit
        self.late: TimeLimitError | None = None
        """What was under way when time was over, where that was the computation of kernel values."""
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

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() >= self._deadline

    def _in_time(self) -> contextlib.AbstractContextManager[None]:
        """Kernel values are computed until time is over; fits are told to stop, since half a score is none."""
        return _deadline.limited(self._deadline - time.monotonic())

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
        return self

    def matrix(self, setting: Setting) -> Floating:
        """The Gram matrix of all objects, from stored values where `run` kept them."""
        kernel = setting.kernel
        assert kernel is not None
        objects = self._grouping.objects(kernel)
        source = next(group.source for group in self.groups if setting in group.settings)
        if not isinstance(source, Shared):
            return gram_of(kernel.fit(objects), objects, memory=setting.memory).dense()
        every = np.arange(len(objects))
        found = source.block(kernel, every, every[:0]).train.matrix
        assert found is not None
        return found

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
            if self.out_of_time:
                return
            numbers = np.flatnonzero(alive)
            scores = np.array([self.scores(int(number), metric)[: split + 1] for number in numbers])
            alive[numbers[~hopeful(scores)]] = False
            self._done = (split + 1) * len(self.results)  # what was dropped is done

    def _run(self, splits: Sequence[int], active: Callable[[Setting], bool], *, keep: bool) -> None:
        for source, members in by_source(self.groups):
            if self.out_of_time:
                return
            together = [members] if isinstance(source, PipelineSteps) else [[group] for group in members]
            tasks = [(groups, split) for groups in together for split in splits]
            try:
                if isinstance(source, Shared):
                    with self._in_time():
                        source.store()
                self._spread(tasks, active)
            except TimeLimitError as error:
                self.late = error
                return
            finally:
                if isinstance(source, Shared) and not keep:
                    source.release()

    def _spread(self, tasks: Sequence[tuple[list[Group], int]], active: Callable[[Setting], bool]) -> None:
        config, context = get_config(), contextvars.copy_context()

        def job(task: tuple[list[Group], int]) -> None:
            try:
                with config_context(**config):
                    self._fold(*task, active)
            except (Stopped, TimeLimitError) as stopped:
                if not self.out_of_time:
                    raise
                self.late = stopped if isinstance(stopped, TimeLimitError) else self.late

        alarm = None
        if np.isfinite(self._deadline):
            alarm = threading.Timer(max(0.0, self._deadline - time.monotonic()), self._stop.set)
            alarm.daemon = True
            alarm.start()
        try:
            # Each job runs in a copy of this context: progress bars of single fits stay hidden.
            self._executor.each(lambda task: context.copy().run(job, task), tasks, self._stop)
        finally:
            if alarm is not None:
                alarm.cancel()
                alarm.join()

    def _fold(self, groups: list[Group], split: int, active: Callable[[Setting], bool]) -> None:
        """One fold of some groups; those of a pipeline share the steps before the machine."""
        fold = None
        source = groups[0].source
        if isinstance(source, PipelineSteps) and any(active(setting) for group in groups for setting in group.settings):
            try:
                fold = source.fold(*self.splits[split])
            except Exception:  # steps of any kind fail in any way; reported by the fits, each for itself
                fold = None
        for group in groups:
            settings = [setting for setting in group.settings if active(setting)]
            if settings and not self._stop.is_set():
                self._fit(settings, self._block(group, split, fold), split)

    def _block(self, group: Group, split: int, fold: Fold | None) -> Block | None:
        if group.kernel is None:
            return None
        try:
            with self._in_time():
                if isinstance(group.source, Source):
                    return group.source.block(group.kernel, *self.splits[split])
                return None if fold is None else fold.block(group.kernel, gram_precision(group.settings[0].machine))
        except TimeLimitError:
            raise
        except MercerError:  # reported by the fits, each for itself
            return None

    def _fit(self, settings: list[Setting], block: Block | None, split: int) -> None:
        sharing = WarmStart(self._stop, self._warm_start and len(settings) > 1)  # the first has nothing to start from
        for setting in settings:
            if self._stop.is_set():
                return
            if block is None:
                model, prefix = clone(setting.estimator), ""
                parts = self._scorer.parts(model, self.splits[split])
            else:
                (model, *both), prefix = setting.on_block(block), setting.prefix
                parts = both[0], both[1]
            share_fits(model, sharing)
            result, kept = self._scorer.fit_and_score(model, parts, self.splits[split], prefix)
            with self._counting:
                self.results[setting.number][split] = result
                self.held_out.parts[setting.number][split] = kept
                self._done += 1
                if self._report is not None:
                    self._report(self._done / (len(self.results) * len(self.splits)))
