"""Settings with a common kernel, and the source of its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from mercer.errors import MercerError
from mercer.gram import budget
from mercer.gram.executors import Threads
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.selection.blocks import PerFold, Shared, Source, depends_on_data, precision
from mercer.selection.pipelines import PipelineSteps
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import Setting, in_order
from mercer.training.folds import Split
from mercer.training.kernel_estimator import gram_precision


@final
@dataclass(frozen=True, eq=False)
class Group:
    """Settings with one kernel, and the source of its values; without a source every fit computes its own."""

    settings: list[Setting]
    kernel: Kernel | None
    source: Source | PipelineSteps | None


@final
@dataclass(frozen=True, eq=False)
class Grouping:
    """Determines which settings can share values, within the memory that their machines allow."""

    splits: Sequence[Split]
    scorer: FoldScorer
    executor: Threads
    threads: int
    _parsed: dict[type[Objects], Objects] = field(default_factory=dict)

    @property
    def largest(self) -> int:
        """The size of the largest training part."""
        return max(len(train) for train, _ in self.splits)

    def objects(self, kernel: Kernel) -> Objects:
        """All objects, parsed for a kernel."""
        if kernel.domain not in self._parsed:
            self._parsed[kernel.domain] = kernel.coerce(self.scorer.X)
        return self._parsed[kernel.domain]

    def groups(self, settings: Sequence[Setting]) -> list[Group]:
        """The settings by kernel; those that cannot share anything are groups of one."""
        kernels: dict[Any, list[Setting]] = {}
        for setting in settings:
            key = (
                (setting.before, setting.kernel, gram_precision(setting.machine))
                if self._shares(setting)
                else setting.number
            )
            kernels.setdefault(key, []).append(setting)
        stored: dict[Any, Shared | None] = {}
        steps: dict[Any, PipelineSteps | None] = {}
        groups = []
        for members in kernels.values():
            first = members[0]
            source: Source | PipelineSteps | None = None
            if self._shares(first):
                source = self._source(first, stored) if first.before is None else self._steps(first, steps)
            groups.append(Group(in_order(members), first.kernel, source))
        return groups

    def _shares(self, setting: Setting) -> bool:
        known = self.scorer.scores_predictions and self.scorer.fits_only(setting.prefix)
        return setting.kernel is not None and known

    def _steps(self, setting: Setting, known: dict[Any, PipelineSteps | None]) -> PipelineSteps | None:
        if setting.before not in known:
            steps = PipelineSteps(setting.estimator, setting.steps_before(), self.scorer, setting.memory)
            n = max(len(train) + len(test) for train, test in self.splits)
            known[setting.before] = steps if steps.fits(n, self.largest, self.threads) else None
        return known[setting.before]

    def _source(self, setting: Setting, known: dict[Any, Shared | None]) -> Source | None:
        kernel, asked, memory = setting.kernel, gram_precision(setting.machine), setting.memory
        assert kernel is not None
        try:
            objects = self.objects(kernel)
            if depends_on_data(kernel.measure):
                return PerFold(objects, asked, memory)
            dtype = precision(kernel, objects, self.largest, asked)
            key = (kernel.measure, dtype)
            if key not in known:
                source = Shared(kernel, objects, dtype, memory, self.executor)
                fits = budget.holds(memory, source.bytes(self.largest, self.threads))
                known[key] = source if fits else None
            return known[key]
        except MercerError:  # reported by the fits, each for itself
            return None


def by_source(groups: Iterable[Group]) -> Iterable[tuple[Shared | PipelineSteps | None, list[Group]]]:
    """Groups that share a stored matrix, or the steps of a pipeline, together; all others at once."""
    together: dict[Shared | PipelineSteps | None, list[Group]] = {}
    for group in groups:
        source = group.source if isinstance(group.source, Shared | PipelineSteps) else None
        together.setdefault(source, []).append(group)
    return together.items()
