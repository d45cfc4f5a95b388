"""The part of a model that predicts: coefficients, support objects and classes.

The estimator around them, and with it scikit-learn, is loaded only if needed, so `mercer predict` starts much faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._registry import ESTIMATORS, MODELS
from mercer._stored import Stored, checked_array, checked_value, from_stored
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.training.voting import one_vs_rest_shape, votes

if TYPE_CHECKING:
    from mercer.gram.expansion import Expansion
    from mercer.selection.cell_view import CellView
    from mercer.training.certificate import Certificate

_PAIRS, _CELLS = "SVC", "Cells"
_NUMBERS = ("KernelRidge", "KernelRidgeCV", "SVR", "KernelQuantileRegressor")
"""Machines whose output is the prediction itself."""


@final
@dataclass(frozen=True, eq=False)
class Machine:
    """A trained estimator, complete or in stored form."""

    name: str
    """The name of its class."""
    expansion: Expansion
    """Support objects and coefficients; of machines in cells, those of all cells."""
    classes: npt.NDArray[Any] | None
    _stored: Stored | None = None
    _given: Any = field(default=None)
    cells: CellView | None = None
    """Which support objects belong together, of machines in cells."""

    @classmethod
    def of(cls, estimator: Any) -> Machine:
        """The machine of a trained estimator."""
        classes, name = getattr(estimator, "classes_", None), type(estimator).__name__
        if name != _CELLS:
            return cls(name, estimator.expansion_, classes, None, estimator)
        from mercer.selection.cell_view import CellView

        view = CellView.of(estimator)
        return cls(name, view.expansion, classes, None, estimator, view)

    @classmethod
    def stored(cls, name: str, stored: Stored) -> Machine:
        """A machine from a file; the parts for prediction are checked now, the others when they are used."""
        if name not in (*ESTIMATORS, _CELLS):
            raise ModelFileError(f"it asks for the estimator {name!r:.60}, which this version of mercer does not have.")
        if stored.expansion is None:
            raise ModelFileError("it has no support objects.")
        machine = cls(name, stored.expansion, stored.arrays.get("classes_"), stored)
        if not machine.is_plain:
            return cls.of(machine.estimator)
        machine.check()
        return machine

    @property
    def is_plain(self) -> bool:
        """Whether predictions follow from the outputs alone."""
        if self.name in _NUMBERS:
            return True
        params = {} if self._stored is None else self._stored.params
        usual = params.get("probability") is False and params.get("break_ties") is False
        return self.name == _PAIRS and usual and params.get("decision_function_shape") == "ovr"

    def check(self) -> None:
        """Refuse a machine whose parts do not belong together."""
        outputs = self.expansion.coefficients.shape[1]
        if self.classes is None:
            wrong = self.name == _PAIRS or outputs != 1
        else:
            many = len(self.classes) if self.classes.ndim == 1 else 0
            wrong = many < 2 or outputs != many * (many - 1) // 2
        if wrong:
            raise ModelFileError(f"it has {outputs} columns of coefficients, which do not fit its classes.")

    @cached_property
    def estimator(self) -> Any:
        """The estimator itself."""
        if self._given is not None:
            return self._given
        assert self._stored is not None
        return from_stored(MODELS[self.name].load(), self._stored)

    @property
    def certificate(self) -> Certificate:
        """How close the machine is to the optimum."""
        if self._stored is None:
            found: Certificate = self.estimator.certificate_
            return found
        from mercer.training.certificate import Certificate

        rows = self._stored.arrays.get("certificate_")
        if rows is None or not len(rows):
            raise ModelFileError("its certificate is missing.")
        table = checked_array(self._stored.arrays, "certificate_", "f", (len(rows), 7))
        return Certificate.from_array(table, checked_value(self._stored.values, "dtype", str))

    def similarities(self, objects: Any) -> Float64:
        """Kernel values between new objects and support objects, those of other cells as zero."""
        new = objects if isinstance(objects, Objects) else self.expansion.kernel.coerce(objects)
        if self.cells is not None:
            return self.cells.similarities(new)
        return gram_of(self.expansion.kernel, new, self.expansion.support, dtype=np.float64).exact()

    def outputs(self, objects: Any) -> Float64:
        """The values of the expansion for objects, one column per machine."""
        return self.expansion(self.expansion.kernel.coerce(objects))

    def predict(self, objects: Any) -> npt.NDArray[Any]:
        """The class or the number of each object."""
        if self._stored is None:
            return np.asarray(self.estimator.predict(objects))
        return self.said(self.outputs(objects))[0]

    def decisions(self, objects: Any) -> Float64:
        """Decision values: a column for two classes, else one per class."""
        if self._stored is None:
            values = np.asarray(self.estimator.decision_function(objects))
            return values[:, None] if values.ndim == 1 else values
        found = self.said(self.outputs(objects))[1]
        assert found is not None
        return found

    def said(self, outputs: Float64) -> tuple[npt.NDArray[Any], Float64 | None]:
        """Predictions and decision values from the outputs of machines for pairs of classes or for numbers."""
        if self.classes is None:
            return outputs[:, 0], None
        many = len(self.classes)
        if many == 2:
            return self.classes[np.where(outputs[:, 0] > 0, 0, 1)], -outputs[:, :1]
        return self.classes[votes(outputs, many)], one_vs_rest_shape(outputs, many)
