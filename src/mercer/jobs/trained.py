"""A trained model that knows how to read the files it was trained on: what `mercer fit` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._stored import Stored, checked_array, checked_value, opened, wrapped
from mercer._types import Float64
from mercer.errors import InputError, ModelFileError
from mercer.gram.expansion import Expansion
from mercer.inputs.vectors import Vectors
from mercer.jobs import calibration
from mercer.jobs.features import Feature
from mercer.jobs.link import Link
from mercer.jobs.machines import Machine
from mercer.jobs.preparation import Preparation
from mercer.jobs.threshold import Threshold
from mercer.readers.data import NUMBER, NUMERIC, Data
from mercer.readers.frames import columns_in
from mercer.training.explanation import explanations
from mercer.training.voting import pairs

_MARK = "job_"
_NUMBERS = ("fills", "centres", "scales", "units")
"""What a preparation learns about columns of numbers."""


@final
@dataclass(frozen=True, eq=False)
class Reason:
    """A support object, and what it adds to the decision for the predicted label."""

    name: str
    contribution: float


@final
@dataclass(frozen=True, eq=False)
class TrainedModel:
    """An estimator with the preparation of its objects, calibrated probabilities, and a record of its training.

    `predict` takes the same kind of data as the file: a mapping of columns or a data frame for tables, else lists.
    """

    machine: Machine
    preparation: Preparation
    calibration: Float64
    support_names: npt.NDArray[np.str_]
    novelty: float
    """99 % of the training objects are within this distance of their nearest support object."""
    about: Mapping[str, Any]
    """Task, target, kernel, score, command, versions: plain values."""

    @property
    def task(self) -> str:
        return str(self.about["task"])

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        return self.machine.classes if self.task == "classification" else None

    @property
    def estimator(self) -> Any:
        """The machine as an estimator."""
        return self.machine.estimator

    def objects(self, X: Any) -> Any:
        """The input of the kernel, from data that were read or from plain Python objects."""
        if isinstance(X, Data):
            return self.preparation(X)
        if self.preparation.kind == "table":
            return self.preparation.of_columns(columns_in(X))
        if self.preparation.kind == "vectors":
            X = Vectors.coerce(X).values
        return self.preparation(Data("X", "python", self.preparation.kind, X))

    @cached_property
    def threshold(self) -> Threshold | None:
        """The probability from which one of two classes is predicted; None to use the prediction of the machine."""
        text = self.about.get("threshold")
        if text is None or self.classes is None or not self.calibration.size:
            return None
        return Threshold.parse(str(text), [str(label) for label in self.classes])

    def predict(self, X: Any) -> Any:
        """The class or the number of each object."""
        objects = self.objects(X)
        if self.classes is None or not self._by_probability:
            return self._said(self.machine.predict(objects))
        return self._labels(self.decisions(objects))

    @property
    def _by_probability(self) -> bool:
        """Whether labels follow from probabilities. With `balanced`, which gives rare classes as much weight as
        frequent ones, labels are those of the machine: the most probable class would hardly ever be a rare one. So are
        those of three and more classes in cells, which know some of the classes each: their votes cannot be compared.
        """
        if not self.calibration.size:
            return False
        many = self.classes is not None and len(self.classes) > 2
        own = self.about.get("balanced", False) or (many and self.machine.cells is not None)
        return self.threshold is not None or not own

    def _labels(self, decisions: Float64) -> npt.NDArray[Any]:
        """The class according to the threshold, or the most probable one."""
        assert self.classes is not None
        chances = calibration.probabilities(self.calibration, decisions)
        if self.threshold is not None:
            return self.threshold.predicted(self.classes, chances)
        return np.asarray(self.classes[chances.argmax(axis=1)])

    @property
    def link(self) -> Link:
        """The scale on which the machine learnt numbers."""
        return Link.restored(self.about.get("link"), self.about.get("link_limits"))

    def _said(self, predicted: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return predicted if self.task == "classification" else self.link.inverse(predicted)

    def decisions(self, objects: Any) -> Float64:
        """Decision values: a column for two classes, else one per class."""
        return self.machine.decisions(objects)

    def predict_proba(self, X: Any) -> Float64:
        """Calibrated probabilities, one column per class; classifiers only."""
        if self.task != "classification" or not self.calibration.size:
            raise InputError(
                "This model has no probabilities: it predicts numbers, or a class was too rare to calibrate them."
            )
        return calibration.probabilities(self.calibration, self.decisions(self.objects(X)))

    def predictions_from(self, objects: Any, across: Float64) -> tuple[npt.NDArray[Any], Float64 | None]:
        """Predictions and decision values from known kernel values."""
        machine = self.machine
        predicted: npt.NDArray[Any]
        decisions: Float64 | None
        if machine.cells is not None and machine.classes is None:
            predicted, decisions = machine.predict(objects), None
        elif machine.classes is not None and machine.name != "SVC":
            predicted, decisions = machine.predict(objects), machine.decisions(objects)
        else:
            predicted, decisions = machine.said(across @ machine.expansion.coefficients + machine.expansion.intercept)
        if self._by_probability and decisions is not None:
            predicted = self._labels(decisions)
        return self._said(predicted), decisions

    @cached_property
    def _support_diagonal(self) -> Float64:
        fitted = self.machine.expansion.kernel
        return np.asarray(fitted.diagonal(fitted.features(self.machine.expansion.support)))

    def similarities(self, objects: Any) -> Float64:
        """Kernel values between new objects and support objects."""
        return self.machine.similarities(objects)

    def unlike_training(self, objects: Any, across: Float64) -> npt.NDArray[np.bool_]:
        """Which objects are farther from every support object than nearly all training objects."""
        if not np.isfinite(self.novelty):
            return np.zeros(len(across), dtype=bool)
        fitted = self.machine.expansion.kernel
        own = fitted.diagonal(fitted.features(objects))
        squared = own[:, None] + self._support_diagonal[None, :] - 2.0 * across
        return np.asarray(np.sqrt(np.maximum(squared.min(axis=1), 0.0)) > self.novelty * (1 + 1e-9))

    def reasons(self, across: Float64, predicted: Sequence[Any] | npt.NDArray[Any], most: int) -> list[list[Reason]]:
        """For each object the support objects that contributed most to its prediction."""
        coefficients = self._towards(predicted)
        found = []
        for row, weights in zip(across, coefficients, strict=True):
            shares = row * weights
            top = np.argsort(-shares, kind="stable")[:most]
            found.append(
                [Reason(str(self.support_names[place]), float(shares[place])) for place in top if shares[place] > 0]
            )
        return found

    def because(self, objects: Any, predicted: Sequence[Any] | npt.NDArray[Any], most: int) -> list[list[Reason]]:
        """For each object the columns that contributed most to its prediction, if the kernel compares columns.

        Contributions are exact Shapley values; there are none if the kernel does not separate columns.
        """
        machine = self.machine.expansion
        fitted = machine.kernel
        if fitted.kernel.column_products(fitted.state) is None:
            return [[] for _ in predicted]
        weights = machine.coefficients[:, :1] if self.task == "regression" else self._votes().T
        new, nothing = fitted.coerce(objects), np.zeros(weights.shape[1])
        cells = self.machine.cells
        every = [(np.arange(len(new)), np.arange(len(weights)))]
        found: list[Any] = [None] * len(new)
        for rows, support in every if cells is None else cells.parts(new):
            towards = Expansion(fitted, machine.support.take(support), weights[support], nothing)
            for row, one in zip(rows, explanations(towards, new.take(rows), by="columns"), strict=True):
                found[row] = one
        known = self.classes
        codes = [0] * len(found) if known is None else np.searchsorted(known, np.asarray(predicted))
        reasons = []
        for one, code in zip(found, codes, strict=True):
            shares = one.contributions[:, code]
            top = np.argsort(-np.abs(shares), kind="stable")[:most]
            reasons.append([Reason(str(one.parts[place]), float(shares[place])) for place in top])
        return reasons

    def support_labels(self) -> npt.NDArray[Any] | None:
        """The classes of the support objects: each one votes for its own class."""
        if self.task == "regression":
            return None
        assert self.machine.classes is not None
        return np.asarray(self.machine.classes[self._votes().argmax(axis=0)])

    def _towards(self, predicted: Sequence[Any] | npt.NDArray[Any]) -> Float64:
        """Coefficients of the support objects in the decision for each predicted label."""
        weights = self.machine.expansion.coefficients
        if self.task == "regression":
            return np.repeat(weights[:, :1].T, len(predicted), axis=0)
        assert self.machine.classes is not None
        codes = np.searchsorted(self.machine.classes, np.asarray(predicted))
        return np.asarray(self._votes()[codes])

    def _votes(self) -> Float64:
        """The contribution of each support object to the decision for each class."""
        weights = self.machine.expansion.coefficients
        assert self.machine.classes is not None
        many = len(self.machine.classes)
        rows = np.zeros((many, len(weights)))
        for column, (first, second) in enumerate(pairs(many)):
            rows[first] += weights[:, column]
            rows[second] -= weights[:, column]
        return rows

    # ---------------------------------------------------------------------------------------------------- model files

    def _to_stored(self) -> Stored:
        prepared = self.preparation
        about = {
            "about": dict(self.about),
            "kind": prepared.kind,
            "columns": [list(pair) for pair in prepared.columns],
            "impute": prepared.impute,
            "features": [[feature.column, feature.part] for feature in prepared.features],
            "styles": [list(pair) for pair in prepared.styles],
        }
        arrays = {name: getattr(prepared, name) for name in _NUMBERS}
        return wrapped(
            self.estimator,
            _MARK,
            {"about": json.dumps(about), "novelty": float(self.novelty)},
            {**arrays, "calibration": self.calibration, "support_names": self.support_names},
        )

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        name, inner, values, found = opened(stored, _MARK)
        machine = Machine.stored(name, inner)
        kept, about = _read_about(values)
        arrays: dict[str, Any] = {}
        for key in (*_NUMBERS, "calibration"):
            array = np.ones_like(found["fills"]) if key == "units" and _is_old(found) else found.get(key)
            if array is None or array.dtype.kind != "f" or not np.isfinite(array).all():
                raise ModelFileError(f"the array {key!r} is missing or not made of finite numbers.")
            arrays[key] = array
        calibrated = arrays.pop("calibration")
        if calibrated.ndim != 2:
            raise ModelFileError("the calibration is no matrix.")
        names = checked_array(found, "support_names", "U", (len(machine.expansion.support),))
        novelty = checked_value(values, "novelty", float)
        return cls(machine, _preparation(kept, arrays), calibrated, names, novelty, about)


def _preparation(kept: dict[str, Any], arrays: dict[str, Any]) -> Preparation:
    """The preparation, after checking that its parts are consistent."""
    numeric = [name for name, kind in kept["columns"] if kind in NUMERIC]
    lengths = {"fills": len(numeric), "units": len(numeric)} | dict.fromkeys(
        ("centres", "scales"), len(kept["features"])
    )
    known = all(one.column in numeric and Feature.is_part(one.part) for one in kept["features"])
    if kept["kind"] == "table" and not (known and all(arrays[name].shape == (n,) for name, n in lengths.items())):
        raise ModelFileError("the columns and their scales do not fit together.")
    if (arrays["scales"] <= 0).any() or (arrays["units"] <= 0).any():
        raise ModelFileError("the scales are out of range.")
    return Preparation(**kept, **arrays)


def _is_old(found: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Whether a file was written before columns had units."""
    return "units" not in found and "fills" in found


def _read_about(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parts of a preparation besides its arrays, and the record of the training."""
    try:
        found = json.loads(checked_value(values, "about", str))
        columns = tuple((str(key), str(kind)) for key, kind in found["columns"])
        plain = [[key, ""] for key, kind in columns if kind == NUMBER]
        kept = {
            "kind": str(found["kind"]),
            "columns": columns,
            "impute": bool(found["impute"]),
            "features": tuple(Feature(str(key), str(part)) for key, part in found.get("features", plain)),
            "styles": tuple((str(key), str(style)) for key, style in found.get("styles", ())),
        }
        about = dict(found["about"])
        str(about["task"])
        return kept, about
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"the record of its training cannot be read: {error}") from error
