"""The work of a search: every setting on every fold, grouped by kernel, spread over all cores."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone

from mercer._progress import Reporter
from mercer._types import Indices
from mercer.errors import MercerError
from mercer.gram import budget
from mercer.gram.executors import Executor
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.selection.blocks import Afresh, Block, Shared, Source, depends_on_data, precision
from mercer.selection.judging import Judge
from mercer.selection.piped import Fold, Piped
from mercer.selection.racing import hopeful
from mercer.selection.settings import Setting, in_order
from mercer.solvers.drive import Stopped
from mercer.training.kernel_estimator import gram_precision, share_fits
from mercer.training.warm_start import WarmStart

Split = tuple[Indices, Indices]


@final
@dataclass(frozen=True, eq=False)
class Group:
    """Settings with one kernel, and where its values come from; without a source each fit is on its own."""

    settings: list[Setting]
    kernel: Kernel | None
    source: Source | Piped | None


@final
class Work:
    """Runs the fits of a search and keeps their results."""

    def __init__(
        self,
        settings: Sequence[Setting],
        splits: Sequence[Split],
        judge: Judge,
        executor: Executor,
        threads: int,
        report: Reporter,
        time_limit: float | None,
        *,
        warm: bool,
    ) -> None:
        self._splits = splits
        self._judge = judge
        self._executor = executor
        self._threads = threads
        self._report = report
        self._warm = warm
        self._largest = max(len(train) for train, _ in splits)
        self._parsed: dict[type[Objects], Objects] = {}
        self.results: list[list[dict[str, Any] | None]] = [[None] * len(splits) for _ in settings]
        self.held_out: list[list[dict[str, Any]]] = [[{} for _ in splits] for _ in settings]
        self.groups = self._grouped(settings)
        self._stop = threading.Event()
        self._deadline = np.inf if time_limit is None else time.monotonic() + time_limit
        self._done = 0
        self._counting = threading.Lock()

    # ------------------------------------------------------------------------------------------------------- grouping

    def _grouped(self, settings: Sequence[Setting]) -> list[Group]:
        kernels: dict[Any, list[Setting]] = {}
        for setting in settings:
            key = (
                (setting.before, setting.kernel, gram_precision(setting.machine))
                if self._shares(setting)
                else setting.number
            )
            kernels.setdefault(key, []).append(setting)
        sources: dict[Any, Source | Piped | None] = {}
        groups = []
        for members in kernels.values():
            first = members[0]
            source = None
            if self._shares(first):
                source = self._source(first, sources) if first.before is None else self._piped(first, sources)
            groups.append(Group(in_order(members), first.kernel, source))
        return groups

    def _shares(self, setting: Setting) -> bool:
        alone = self._judge.looks_at_predictions_alone and self._judge.meant_for(setting.prefix)
        return setting.kernel is not None and alone

    def _piped(self, setting: Setting, known: dict[Any, Source | Piped | None]) -> Piped | None:
        if setting.before not in known:
            memory = getattr(setting.machine, "memory", "auto")
            piped = Piped(setting.estimator, setting.steps_before(), self._judge, memory)
            n = max(len(train) + len(test) for train, test in self._splits)
            known[setting.before] = piped if piped.fits(n, self._largest, self._threads) else None
        found = known[setting.before]
        assert not isinstance(found, Source)
        return found

    def _source(self, setting: Setting, known: dict[Any, Source | Piped | None]) -> Source | None:
        kernel, asked = setting.kernel, gram_precision(setting.machine)
        if kernel is None:
            return None
        memory = getattr(setting.machine, "memory", "auto")
        try:
            objects = self._objects(kernel)
            if depends_on_data(kernel.measure):
                return Afresh(objects, asked, memory)
            dtype = precision(kernel, objects, self._largest, asked)
            key = (kernel.measure, dtype)
            if key not in known:
                source = Shared(kernel, objects, dtype, memory, self._executor)
                fits = source.bytes(self._largest, self._threads) <= budget.stored_bytes(memory)
                known[key] = source if fits else None
            found = known[key]
            assert not isinstance(found, Piped)
            return found
        except MercerError:  # answered by the fits, each for itself
            return None

    def _objects(self, kernel: Kernel) -> Objects:
        if kernel.domain not in self._parsed:
            self._parsed[kernel.domain] = kernel.coerce(self._judge.X)
        return self._parsed[kernel.domain]

    # -------------------------------------------------------------------------------------------------------- running

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() >= self._deadline

    def exhaust(self) -> None:
        """Fit and score every setting on every fold."""
        self._run(range(len(self._splits)), lambda setting: True, keep=False)

    def race(self, metric: str) -> None:
        """Fold after fold, without the settings that have fallen too far behind."""
        alive = np.ones(len(self.results), dtype=bool)
        sources = {group.source for group in self.groups if isinstance(group.source, Shared)}
        needed = sum(source.bytes(self._largest, self._threads) for source in sources)
        keep = all(needed <= budget.stored_bytes(source.memory) for source in sources)
        for split in range(len(self._splits)):
            self._run([split], lambda setting: bool(alive[setting.number]), keep=keep)
            if self.out_of_time:
                return
            numbers = np.flatnonzero(alive)
            alive[numbers[~hopeful(self._scores(numbers, split + 1, metric))]] = False
            self._done = (split + 1) * len(self.results)  # what was dropped is done

    def _scores(self, numbers: Indices, splits: int, metric: str) -> Any:
        found = [[self.results[number][split] for split in range(splits)] for number in numbers]
        values = [[np.nan if result is None else result["test_scores"] for result in row] for row in found]
        pick = [[value.get(metric, np.nan) if isinstance(value, dict) else value for value in row] for row in values]
        return np.asarray(pick, dtype=np.float64)

    def _run(self, splits: Sequence[int], active: Callable[[Setting], bool], *, keep: bool) -> None:
        for source, members in _by_source(self.groups):
            if self.out_of_time:
                return
            together = [members] if isinstance(source, Piped) else [[group] for group in members]
            tasks = [(groups, split) for groups in together for split in splits]
            try:
                if isinstance(source, Shared):
                    source.store()
                self._spread(tasks, active)
            finally:
                if isinstance(source, Shared) and not keep:
                    source.release()

    def _spread(self, tasks: Sequence[tuple[list[Group], int]], active: Callable[[Setting], bool]) -> None:
        config, context = get_config(), contextvars.copy_context()

        def job(task: tuple[list[Group], int]) -> None:
            try:
                with config_context(**config):
                    self._folds(*task, active)
            except Stopped:
                if not self.out_of_time:
                    raise

        alarm = None
        if np.isfinite(self._deadline):
            alarm = threading.Timer(max(0.0, self._deadline - time.monotonic()), self._stop.set)
            alarm.daemon = True
            alarm.start()
        try:
            # Each job in a copy of this context, so that bars of single fits stay hidden below that of the search.
            self._executor.each(lambda task: context.copy().run(job, task), tasks, self._stop)
        finally:
            if alarm is not None:
                alarm.cancel()
                alarm.join()

    def _folds(self, groups: list[Group], split: int, active: Callable[[Setting], bool]) -> None:
        """One fold of some groups; those of a pipeline have the steps before the machine in common."""
        fold = None
        source = groups[0].source
        if isinstance(source, Piped) and any(active(setting) for group in groups for setting in group.settings):
            try:
                fold = source.fold(*self._splits[split])
            except Exception:  # steps of any kind fail in any way; answered by the fits, each for itself
                fold = None
        for group in groups:
            settings = [setting for setting in group.settings if active(setting)]
            if settings and not self._stop.is_set():
                self._fold(settings, self._block(group, split, fold), split)

    def _block(self, group: Group, split: int, fold: Fold | None) -> Block | None:
        if group.kernel is None:
            return None
        try:
            if isinstance(group.source, Source):
                return group.source.block(group.kernel, *self._splits[split])
            return None if fold is None else fold.block(group.kernel, gram_precision(group.settings[0].machine))
        except MercerError:  # answered by the fits, each for itself
            return None

    def _fold(self, settings: list[Setting], block: Block | None, split: int) -> None:
        train, test = self._splits[split]
        sharing = WarmStart(self._stop, self._warm)
        for setting in settings:
            if self._stop.is_set():
                return
            if block is None:
                model, prefix = clone(setting.estimator), ""
                known, new = self._judge.parts(model, train, test)
            else:
                model, prefix, known, new = setting.on_held(), setting.prefix, block.train, block.test
            share_fits(model, sharing)
            result, kept = self._judge.verdict(model, known, new, train, test, prefix)
            with self._counting:
                self.results[setting.number][split] = result
                self.held_out[setting.number][split] = kept
                self._done += 1
                self._report(self._done / (len(self.results) * len(self._splits)))


def _by_source(groups: Iterable[Group]) -> Iterator[tuple[Shared | Piped | None, list[Group]]]:
    """Groups that share a stored matrix, or the steps of a pipeline, together; all others at once."""
    together: dict[Shared | Piped | None, list[Group]] = {}
    for group in groups:
        source = group.source if isinstance(group.source, Shared | Piped) else None
        together.setdefault(source, []).append(group)
    yield from together.items()
