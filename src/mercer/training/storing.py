"""Model files of kernel machines: which fitted attributes are written, and how they are checked when read back."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._stored import Stored, checked_value
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.training.certificate import Certificate
from mercer.training.explanation import Explaining
from mercer.training.psd import Repair, stored_repair


class StoredMachine(Explaining):
    """A machine whose fitted state is an expansion, a certificate, and the attributes that it lists here."""

    _stored_arrays: ClassVar[dict[str, str]] = {}
    """Learnt arrays by attribute name, with the kinds of numbers they may hold: 'f', 'i', 'fiUb' ..."""
    _stored_values: ClassVar[dict[str, type]] = {}
    """Learnt numbers and strings by attribute name, with their type."""

    expansion_: Expansion
    certificate_: Certificate
    _repair: Repair | None = None

    def _refuse_inconsistent(self) -> None:
        """Raise ModelFileError if attributes read from a file do not fit together."""

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        seen_values, seen_arrays = self._seen_features()
        repair_values, repair_arrays = stored_repair(self._repair)
        return Stored(
            params=self.get_params(deep=False),
            values={
                **{name: kind(getattr(self, name)) for name, kind in self._stored_values.items()},
                "dtype": self.certificate_.dtype,
                **seen_values,
                **repair_values,
            },
            arrays={
                **{name: np.asarray(getattr(self, name)) for name in self._stored_arrays},
                "certificate_": self.certificate_.to_array(),
                **seen_arrays,
                **repair_arrays,
            },
            expansion=self.expansion_,
        )

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        if stored.expansion is None:
            raise ModelFileError(f"a {cls.__name__} needs its support objects and coefficients, but there are none.")
        model = cls(**stored.params)
        model.expansion_ = stored.expansion
        model.kernel_ = stored.expansion.kernel
        model._repair = Repair.restored(stored)
        for name, kinds in cls._stored_arrays.items():
            array = stored.arrays.get(name)
            if array is None or array.dtype.kind not in kinds:
                raise ModelFileError(f"the array {name!r} of a {cls.__name__} is missing or of the wrong type.")
            setattr(model, name, array)
        for name, kind in cls._stored_values.items():
            setattr(model, name, checked_value(stored.values, name, kind))
        proof = stored.arrays.get("certificate_")
        if proof is None or proof.ndim != 2 or proof.shape[1] != 7 or not len(proof):
            raise ModelFileError("the certificate is missing or not a table of seven columns.")
        model.certificate_ = Certificate.from_array(proof, checked_value(stored.values, "dtype", str))
        model._restore_seen_features(stored.values, stored.arrays)
        model._refuse_inconsistent()
        return model
