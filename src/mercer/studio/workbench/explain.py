"""What spoke for a prediction: letters, words, nodes or columns, with what each adds to the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.jobs.trained import TrainedModel
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.storage import load
from mercer.studio import fields

_MOST_PARTS = 400
"""Parts of an object that are coloured: more are not looked at one by one."""


def explain(told: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """For each object its parts and their shares in the first output; None if the kernel cannot be taken apart.

    Of two classes, `sides`, a negative share speaks for the first and a positive one for the second.
    """
    model = load(str(told["model"]))
    most = fields.whole(told, "most", 50, low=1, high=500)
    if not isinstance(model, TrainedModel) or not hasattr(model.estimator, "explain"):
        return None
    try:
        data = read(str(told["path"]), Options(require_target=False, require_labels=False))
        found = model.estimator.explain(model.objects(data.take(np.arange(min(len(data), most)))))
    except (MercerError, KeyError):
        return None
    labels = [] if model.classes is None else [str(label) for label in model.classes]
    return [
        {
            "sides": labels if len(labels) == 2 else [],
            "parts": [str(part) for part in one.parts[:_MOST_PARTS]],
            "shares": [float(share) for share in np.asarray(one.contributions)[:_MOST_PARTS, 0]],
            "letters": all(isinstance(part, str) and len(part) == 1 for part in one.parts),
        }
        for one in found
    ]
