"""The fits of one fold: settings that share kernel values, one after another, on this machine or on another."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from sklearn import config_context
from sklearn.base import clone

from mercer import _deadline
from mercer.errors import MercerError, TimeLimitError
from mercer.kernels.weighing import weighing
from mercer.selection.blocks import Block, Shared, Source
from mercer.selection.groups import Group
from mercer.selection.pipelines import Fold, PipelineSteps
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import Setting
from mercer.solvers.drive import Stopped
from mercer.training.folds import Split
from mercer.training.kernel_estimator import gram_precision, share_fits, weights_of_kernel
from mercer.training.warm_start import WarmStart

Take = Callable[[int, int, dict[str, Any], dict[str, Any]], None]
"""A callback for a fit: the numbers of its setting and split, its row in the table, and the values to keep."""


@final
@dataclass(frozen=True, eq=False)
class Clock:
    """The deadline of a search, and the event that tells its fits to stop."""

    deadline: float
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() >= self.deadline

    def in_time(self) -> contextlib.AbstractContextManager[None]:
        """Compute kernel values until time runs out, and then stop fits, since a partial score is useless."""
        return _deadline.limited(self.deadline - time.monotonic())

    @contextlib.contextmanager
    def alarm(self) -> Iterator[None]:
        """Set the event when time runs out."""
        if self.deadline == float("inf"):
            yield
            return
        if self.out_of_time:
            self.stop.set()
        alarm = threading.Timer(max(0.0, self.deadline - time.monotonic()), self.stop.set)
        alarm.daemon = True
        alarm.start()
        try:
            yield
        finally:
            alarm.cancel()
            alarm.join()


@final
@dataclass(frozen=True, eq=False)
class FoldWork:
    """Everything that fits on folds need."""

    splits: Sequence[Split]
    scorer: FoldScorer
    warm_start: bool

    def fit(self, groups: Sequence[Group], split: int, clock: Clock, take: Take) -> None:
        """One fold of some groups; those of a pipeline share the steps before the machine."""
        fold = None
        source = groups[0].source
        if isinstance(source, PipelineSteps) and any(group.settings for group in groups):
            try:
                fold = source.fold(*self.splits[split])
            except Exception:  # steps can fail in any way; each fit reports it
                fold = None
        for group in groups:
            if group.settings and not clock.stop.is_set():
                self._fit(group.settings, self._block(group, split, fold, clock), split, clock, take)

    def _block(self, group: Group, split: int, fold: Fold | None, clock: Clock) -> Block | None:
        if group.kernel is None:
            return None
        try:
            first = group.settings[0]
            weights = self.scorer.weights(self.splits[split][0], first.prefix)
            with clock.in_time(), weighing(weights_of_kernel(first.machine, weights)):
                if isinstance(group.source, Source):
                    return group.source.block(group.kernel, *self.splits[split])
                return None if fold is None else fold.block(group.kernel, gram_precision(group.settings[0].machine))
        except TimeLimitError:
            raise
        except MercerError:  # reported by the fits, each for itself
            return None

    def _fit(self, settings: list[Setting], block: Block | None, split: int, clock: Clock, take: Take) -> None:
        sharing = WarmStart(clock.stop, self.warm_start and len(settings) > 1)  # the first has nothing to start from
        for setting in settings:
            if clock.stop.is_set():
                return
            if block is None:
                model, prefix = clone(setting.estimator), ""
                parts = self.scorer.parts(model, self.splits[split])
            else:
                (model, *both), prefix = setting.on_block(block), setting.prefix
                parts = both[0], both[1]
            share_fits(model, sharing)
            take(setting.number, split, *self.scorer.fit_and_score(model, parts, self.splits[split], prefix))


@final
@dataclass(frozen=True)
class FoldTask:
    """One fold of some groups, by their positions in a `Shipment`, and the settings that are still in the race."""

    groups: tuple[int, ...]
    split: int
    settings: frozenset[int]
    until: float
    """The deadline in seconds since the epoch, on which machines of a cluster agree to about a second."""


@final
@dataclass(frozen=True, eq=False)
class Arrived:
    """The results of a fold on another machine: fits as arguments of `Take`, warnings, and whether time ran out."""

    fits: list[tuple[int, int, dict[str, Any], dict[str, Any]]]
    warned: list[tuple[str, type[Warning]]]
    late: TimeLimitError | Stopped | None = None
    entries: int = 0
    """The number of kernel values of the matrix that folds share, and the seconds they took."""
    seconds: float = 0.0


@final
@dataclass(frozen=True, eq=False)
class Shipment:
    """Everything that folds need on another machine, sent there once."""

    work: FoldWork
    groups: tuple[Group, ...]
    config: Mapping[str, Any]
    """scikit-learn's configuration."""

    def prepared(self, task: FoldTask) -> Shared:
        """What the folds of one source share: its matrix, computed once for all of them."""
        source = self.groups[task.groups[0]].source
        assert isinstance(source, Shared)
        own = dataclasses.replace(source)
        with _deadline.limited(task.until - time.time()):
            own.store()
        return own

    def __call__(self, task: FoldTask, shared: Shared | None, stop: threading.Event) -> Arrived:
        """Fit one fold, until time runs out or `stop` is set."""
        clock = Clock(time.monotonic() + task.until - time.time(), stop)
        fits: list[Any] = []
        late: TimeLimitError | Stopped | None = None
        groups = [self._group(place, task, shared) for place in task.groups]
        with warnings.catch_warnings(record=True) as caught, config_context(**self.config), clock.alarm():
            warnings.simplefilter("always")
            try:
                self.work.fit(groups, task.split, clock, lambda *fit: fits.append(fit))
            except (Stopped, TimeLimitError) as stopped:
                if not clock.out_of_time:
                    raise
                late = stopped
        warned = list(dict.fromkeys((str(one.message), one.category) for one in caught))
        told = (0, 0.0) if shared is None else (shared.entries, shared.seconds)
        return Arrived(fits, warned, late, *told)

    def _group(self, place: int, task: FoldTask, shared: Shared | None) -> Group:
        group = self.groups[place]
        wanted = [setting for setting in group.settings if setting.number in task.settings]
        return dataclasses.replace(group, settings=wanted, source=group.source if shared is None else shared)
