"""Model files of classifiers with a machine for each pair of classes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._stored import Stored, checked_array, checked_value
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.training.certificate import Certificate
from mercer.training.explanation import Explaining
from mercer.training.psd import Repair, stored_repair


class StoredPairs(Explaining):
    """Takes a fitted classifier apart, and puts it together again, checking that the parts fit."""

    probability: bool
    temperature_: float
    classes_: Any
    class_weight_: Float64
    support_: Any
    shape_fit_: tuple[int, ...]
    fit_status_: int
    n_iter_: Any
    certificate_: Certificate
    _n_support: Any
    _penalty_scales: Float64
    _repair: Repair | None = None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Answer bad parameters."""

    @abstractmethod
    def _set_expansion(self, expansion: Expansion) -> None:
        """Set the expansion, and what is derived from it."""

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        arrays = {
            "classes_": self.classes_,
            "class_weight_": self.class_weight_,
            "support_": self.support_,
            "n_support_": self._n_support,
            "n_iter_": self.n_iter_,
            "penalty_scales": self._penalty_scales,
            "certificate_": self.certificate_.to_array(),
        }
        values: dict[str, Any] = {
            "shape_fit_": self.shape_fit_,
            "fit_status_": self.fit_status_,
            "dtype": self.certificate_.dtype,
        }
        if self.probability:
            values["temperature_"] = self.temperature_
        for more_values, more_arrays in (self._seen_features(), stored_repair(self._repair)):
            values |= more_values
            arrays |= more_arrays
        return Stored(self.get_params(deep=False), values, arrays, self.expansion_)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        values, arrays, expansion = stored.values, stored.arrays, stored.expansion
        model = cls(**stored.params)
        model._check_parameters()
        labels = arrays["classes_"]
        n_pairs = len(labels) * (len(labels) - 1) // 2
        if expansion is None or labels.ndim != 1 or len(labels) < 2 or expansion.coefficients.shape[1] != n_pairs:
            raise ModelFileError(f"it has {labels.shape} classes, but not one machine for each pair of them.")
        n_support = len(expansion.support)
        checked_array(arrays, "class_weight_", "f", labels.shape)
        checked_array(arrays, "n_iter_", "i", (n_pairs,))
        positions = checked_array(arrays, "support_", "i", (n_support,))
        counts = checked_array(arrays, "n_support_", "i", labels.shape)
        if (positions < 0).any() or (counts < 0).any() or int(counts.sum()) != n_support:
            raise ModelFileError(f"it has {n_support} support objects, but other numbers of them by class.")
        model.classes_ = labels
        model.class_weight_ = arrays["class_weight_"]
        model.support_ = positions
        model._n_support = counts
        model.n_iter_ = arrays["n_iter_"]
        model.shape_fit_ = checked_value(values, "shape_fit_", tuple)
        model.fit_status_ = checked_value(values, "fit_status_", int)
        proof = checked_array(arrays, "certificate_", "f", (n_pairs if n_pairs == 1 else n_pairs + 1, 7))
        model.certificate_ = Certificate.from_array(proof, checked_value(values, "dtype", str))
        # Files of earlier versions have no scales: they hold C-forms, whose scales are one.
        earlier = {"penalty_scales": np.ones(n_pairs), **arrays}
        model._penalty_scales = checked_array(earlier, "penalty_scales", "f", (n_pairs,))
        if model.probability:
            model.temperature_ = _temperature(checked_value(values, "temperature_", float))
        model._repair = Repair.restored(stored)
        model.kernel_ = expansion.kernel
        model._set_expansion(expansion)
        model._restore_seen_features(values, arrays)
        return model


def _temperature(value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise ModelFileError(f"its temperature must be positive, but is {value}.")
    return value
