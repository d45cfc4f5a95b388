"""One answer of the playground: the machine, its certificate, the linked views and the Python of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.studio.playground.code import python
from mercer.studio.playground.machine import drawn, sentences, train
from mercer.studio.playground.scene import Scene
from mercer.studio.playground.views import gram_matrix, views


def picture(told: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the playground shows for a scene."""
    scene = Scene.read(told)
    answer: dict[str, Any] = {
        "missing": scene.missing(),
        "machine": None,
        "proof": None,
        "sentences": [],
        "notes": [],
        "views": views(scene, gram_matrix(scene)) if len(scene.points) else None,
        "text": str(scene.kernel),
        "python": "",
    }
    if answer["missing"]:
        return answer
    trained = train(scene)
    if trained.proof is None:
        answer["machine"] = drawn(scene, trained)
    else:
        both = np.asarray(trained.proof.positive) + np.asarray(trained.proof.negative)
        answer["proof"] = {"weights": both.tolist(), "distance": trained.proof.distance}
    answer["sentences"] = sentences(scene, trained, answer["machine"] or {})
    answer["notes"] = trained.notes
    answer["python"] = python(scene)
    return answer
