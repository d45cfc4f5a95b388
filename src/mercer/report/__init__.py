"""The report of a training: one HTML file that needs no network, opens from disk, and holds nothing that runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.jobs.fitting import Outcome

__all__ = ["render", "write"]


def render(outcome: Outcome) -> str:
    """The report as HTML."""
    from mercer.report.page import page
    from mercer.report.sections import sections

    return page(f"Mercer report: {outcome.problem.data.name}", sections(outcome))


def write(outcome: Outcome, path: str | os.PathLike[str]) -> None:
    """Write the report to a file, whole or not at all."""
    from mercer.storage.atomic import replacing

    text = render(outcome).encode("utf-8", "backslashreplace")
    with replacing(path) as stream:
        stream.write(text)
