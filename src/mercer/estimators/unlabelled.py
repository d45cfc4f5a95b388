"""What transformers and clusterings on any kernel share: objects in, a stored Gram matrix, model files out."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.estimators.kernelised import Kernelised
from mercer.gram.matrix import Gram
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel


class Unlabelled(Kernelised):
    """Parses training objects and computes their Gram matrix, once, within the budget."""

    memory: float | str

    def _training_gram(self, X: Any, *, at_least: int = 2) -> tuple[FittedKernel, Objects, Gram]:
        kernel = self._kernel()
        objects = kernel.coerce(X)
        if len(objects) < at_least:
            raise InputError(
                f"Found array with {len(objects)} sample(s), while a minimum of {at_least} is required by "
                f"{type(self).__name__}."
            )
        self._check_features(X, objects, reset=True)
        fitted = kernel.fit(objects)
        gram = Gram.of(fitted, objects, memory=self.memory)
        if gram.fits():  # else tiles are computed anew for each product
            gram.store()
        return fitted, objects, gram


def seed_of(random_state: Any) -> int:
    """A seed for NumPy's generators from whatever scikit-learn takes."""
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
