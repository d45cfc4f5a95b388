"""The answers of a model about new objects, as plain values for the command line, JSON and CSV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.jobs import calibration
from mercer.jobs.threshold import Threshold
from mercer.jobs.trained import Reason, TrainedModel

LOGARITHMS = "to the logarithm"
"""What contributions add to, where it is not the prediction itself."""


@final
@dataclass(frozen=True)
class Columns:
    """What is reported for each object besides its prediction."""

    reasons: int = 0
    """The number of support objects named as reasons."""
    decisions: bool = False
    top: int = 0
    """The number of most probable classes to name, instead of the probabilities of all."""
    threshold: str | None = None
    """The probability from which a class is predicted: a number for the second class of two, ``class=number``, or
    ``class=cost:cost``; None for the threshold that the model was trained with, if any."""
    interval: int | None = None
    """The level, in per cent, of an interval around each predicted number."""

    def check(self, model: TrainedModel) -> None:
        """Refuse columns that the model cannot provide."""
        chances = model.task == "classification" and model.calibration.size
        if (self.top or self.threshold is not None) and not chances:
            raise ParameterError("--top and --threshold need a model that gives the probabilities of classes.")
        if self.threshold is not None:
            self.cut(model, self.threshold)
        if self.interval is not None:
            self.margin(model)

    def cut(self, model: TrainedModel, text: str) -> Threshold:
        """The probability from which a class is predicted."""
        assert model.classes is not None
        return Threshold.parse(text, [str(label) for label in model.classes])

    def margin(self, model: TrainedModel) -> float:
        """Half the width of an interval around a predicted number, on the learnt scale."""
        known = model.about.get("errors") or {}
        if str(self.interval) not in known:
            if not known:
                raise ParameterError("--interval needs a model of numbers, trained by this version or a later one.")
            raise ParameterError(f"--interval takes one of {', '.join(known)} (per cent), not {self.interval}.")
        return float(known[str(self.interval)])

    def around(self, model: TrainedModel, prediction: float) -> tuple[float, float]:
        """The ends of an interval around a predicted number, from the size of errors on the learnt scale."""
        margin, link = self.margin(model), model.link
        if not prediction > 0 or not link.name:
            return prediction - margin, prediction + margin
        middle = link(np.array([prediction]))
        return float(link.inverse(middle - margin)[0]), float(link.inverse(middle + margin)[0])


def answers(model: TrainedModel, part: Any, names: list[str], columns: Columns) -> list[dict[str, Any]]:
    """The answers of the model about prepared objects with these names."""
    across = model.similarities(part)
    predicted, values = model.predictions_from(part, across)
    chances = None
    if values is not None and model.calibration.size:
        chances = calibration.probabilities(model.calibration, values)
        if columns.threshold is not None:
            assert model.classes is not None
            predicted = columns.cut(model, columns.threshold).predicted(model.classes, chances)
    unlike = model.unlike_training(part, across)
    why = model.reasons(across, predicted, columns.reasons) if columns.reasons else [[] for _ in names]
    because = model.because(part, predicted, columns.reasons) if columns.reasons else []
    found = []
    for place, name in enumerate(names):
        told: dict[str, Any] = {"object": name, "prediction": plain(predicted[place])}
        if chances is not None:
            told |= _chances(model, chances[place], columns.top)
        if columns.interval is not None:
            told |= dict(zip(("low", "high"), columns.around(model, told["prediction"]), strict=True))
        if columns.decisions and values is not None:
            told["decisions"] = [float(value) for value in values[place]]
        told["unlike_training"] = bool(unlike[place])
        if columns.reasons:
            told |= _reasons(why[place], because[place])
            if model.link.name:
                told["contributions"] = LOGARITHMS
        found.append(told)
    return found


def _reasons(objects: list[Reason], columns: list[Reason]) -> dict[str, Any]:
    """The support objects, and the columns if there are any, that contributed most."""
    told = {"reasons": [{"object": one.name, "contribution": one.contribution} for one in objects]}
    if columns:
        told["columns"] = [{"column": one.name, "contribution": one.contribution} for one in columns]
    return told


def _chances(model: TrainedModel, chances: Float64, top: int) -> dict[str, Any]:
    """The probability of every class, or the most probable ones first."""
    assert model.classes is not None
    if not top:
        return {"probabilities": {str(label): float(c) for label, c in zip(model.classes, chances, strict=True)}}
    order = np.argsort(-chances, kind="stable")[:top]
    return {"top": [{"label": str(model.classes[one]), "probability": float(chances[one])} for one in order]}


def plain(value: Any) -> Any:
    """A NumPy value as a Python value."""
    return value.item() if isinstance(value, np.generic) else value
