"""Attributes that scikit-learn's machines with one set of support objects have."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._types import Indices
from mercer.gram.expansion import Expansion
from mercer.inputs.vectors import Vectors


class SupportAttributes:
    """Attributes of a fitted machine that follow from its expansion."""

    expansion_: Expansion
    support_: Indices

    def _linear_weights(self) -> Any:
        raise NotImplementedError

    @property
    def support_vectors_(self) -> Any:
        """Rows of the support objects, if objects are vectors."""
        check_is_fitted(self)
        support = self.expansion_.support
        return support.values if isinstance(support, Vectors) else np.empty((0, 0))

    @property
    def n_support_(self) -> Any:
        """The number of support objects."""
        check_is_fitted(self)
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel only."""
        return self._linear_weights()
