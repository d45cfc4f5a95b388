"""Several targets of one table: a model for each, with its own kernel; other targets are never used as features."""

from __future__ import annotations

import dataclasses
import html
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

from mercer.errors import InputError
from mercer.jobs.fitting import Outcome
from mercer.readers.options import Options

_UNSAFE = re.compile(r"[^\w.-]+")
"""Characters to avoid in file names."""


def one_by_one(options: Options, targets: Sequence[str]) -> dict[str, Options]:
    """How to read the table for each target: the others are left out, since they are unknown for new rows, too."""
    twice = next((name for place, name in enumerate(targets) if name in targets[:place]), None)
    if twice is not None:
        raise InputError(f"The target {twice!r} is named twice.")
    return {
        target: dataclasses.replace(
            options, target=target, drop=(*options.drop, *(other for other in targets if other != target))
        )
        for target in targets
    }


def path_for(path: str, target: str) -> str:
    """The path of the model or report of a target: model.mercer becomes model-TARGET.mercer."""
    stem, suffix = os.path.splitext(path)
    return f"{stem}-{_UNSAFE.sub('_', target)}{suffix}"


@final
class Outcomes(Mapping[str, Outcome]):
    """The outcome of each target, by its name."""

    def __init__(self, outcomes: Mapping[str, Outcome]) -> None:
        self._outcomes = dict(outcomes)

    def __getitem__(self, target: str) -> Outcome:
        return self._outcomes[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def predict(self, X: Any) -> dict[str, Any]:
        """The predictions of the models for new rows, by target."""
        return {target: outcome.predict(X) for target, outcome in self.items()}

    def __str__(self) -> str:
        return "\n".join(f"{target}: {outcome.verdict}" for target, outcome in self.items())

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{html.escape(target)}</h4>{outcome._repr_html_()}" for target, outcome in self.items())
