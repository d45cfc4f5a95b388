"""Which way a model leans: one number per object, and the side that each sign stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.estimators.svc import SVC
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import Data
from mercer.training.voting import pairs


@final
@dataclass(frozen=True, eq=False)
class Leaning:
    """The outputs of a model as one number.

    That is the value of a regression, the decision between two classes, or, with more classes, the sum of the decisions
    of one class against the others.
    """

    model: TrainedModel
    wins: int | None
    """The class in question, if there are more than two."""

    @classmethod
    def of(cls, model: TrainedModel, one: Data) -> Leaning:
        """For one object; with more than two classes, about the predicted one."""
        if model.classes is None or len(model.classes) < 3:
            return cls(model, None)
        predicted = model.predict(one)[0]
        return cls(model, int(np.flatnonzero(model.classes == predicted)[0]))

    @property
    def sides(self) -> list[str]:
        """What a negative and a positive share stand for."""
        classes = self.model.classes
        if classes is None:
            return ["lower", "higher"]
        if self.wins is None:
            return [str(classes[0]), str(classes[-1])]
        return ["others", str(classes[self.wins])]

    def total(self, outputs: Float64) -> Float64:
        """One number from the outputs of `explain`, which has several with more than two classes."""
        if self.wins is None or self.model.classes is None:
            return np.asarray(outputs[:, 0])
        many = len(self.model.classes)
        if isinstance(self.model.estimator, SVC):
            signs = np.array([float(a == self.wins) - float(b == self.wins) for a, b in pairs(many)])
        else:
            signs = np.eye(many)[self.wins]
        return np.asarray(outputs @ signs)

    def __call__(self, data: Data) -> Float64:
        """The number of each object."""
        objects = self.model.objects(data)
        if self.wins is None and self.model.classes is not None:
            return np.asarray(self.model.decisions(objects)[:, 0])
        machine = self.model.machine
        if machine.cells is not None:  # intercepts differ from cell to cell
            return np.asarray(
                machine.predict(objects) if self.wins is None else machine.decisions(objects)[:, self.wins]
            )
        expansion = machine.expansion
        return self.total(self.model.similarities(objects) @ expansion.coefficients + expansion.intercept)
