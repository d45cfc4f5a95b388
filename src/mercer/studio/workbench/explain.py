"""What predictions rest on: letters, words, nodes, atoms or columns, with what each adds to the decision."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.jobs.trained import TrainedModel
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.storage import load
from mercer.studio import fields
from mercer.studio.workbench.leaning import Leaning
from mercer.studio.workbench.parts import parts_of

_SECONDS = 4.0
"""Seconds for explaining predictions, in their order: nobody waits longer to see the predictions themselves."""


def explain(told: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The parts of each object and their shares; for the first objects only if time runs out, None if unknown.

    A negative share counts for the first of the two `sides`, a positive one for the second.
    """
    model = load(str(told["model"]))
    most = fields.whole(told, "most", 50, low=1, high=500)
    if not isinstance(model, TrainedModel):
        return None
    began, found = time.monotonic(), []
    try:
        data = read(str(told["path"]), model.preparation.reading(Options(require_target=False, require_labels=False)))
        for row in range(min(len(data), most)):
            one = data.take(np.array([row]))
            lean = Leaning.of(model, one)
            found.append({"sides": lean.sides, **parts_of(lean, one)})
            if time.monotonic() - began > _SECONDS:
                break
    except (MercerError, KeyError):
        return found or None
    return found
