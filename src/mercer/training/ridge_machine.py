"""What machines of the squared loss share: one direct solution for all outputs, penalties, certificate, model files."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.losses.squared import Squared
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import direct, normal_equations
from mercer.training.certificate import Certificate, certify
from mercer.training.on_features import training_gram
from mercer.training.psd import Repair, certified, guard
from mercer.training.storing import StoredMachine

_ZERO = "To interpolate, use a small one such as 1e-10."


class RidgeMachine(StoredMachine):
    """Minimises sum_i w_i (y_i - f(x_i))^2 + alpha |w|^2 for every column of targets."""

    _precision = np.float64
    _stored_arrays: ClassVar[dict[str, str]] = {"_alpha": "f", "_weights": "f"}

    alpha: Any
    fit_intercept: bool
    memory: float | str
    psd: str

    def _fit_columns(
        self, kernel: Kernel, objects: Objects, targets: Float64, weights: Float64, alpha: Float64, began: float
    ) -> None:
        fitted = kernel.fit(objects)
        gram = training_gram(self, fitted, objects, [Squared()], memory=self.memory, dtype=np.float64)
        guarded = guard(type(self).__name__, kernel, gram, self.psd)
        if gram.factor is None:
            found = direct.solve(guarded.gram.exact(), targets, alpha, weights, intercept=bool(self.fit_intercept))
        else:
            found = normal_equations.solve(gram.factor, targets, alpha, weights, intercept=bool(self.fit_intercept))
        self.kernel_ = fitted
        self._alpha = alpha
        self._weights = weights
        self._repair = Repair.of(guarded, found.coefficients)
        self.expansion_ = Expansion(fitted, objects, guarded.expanded(found.coefficients), found.intercept)
        outputs = guarded.gram.matvec(found.coefficients)
        proofs = self._proofs(targets, weights, found.coefficients, outputs)
        self.certificate_ = Certificate.together(proofs, gram.entries_computed, time.monotonic() - began)

    def _alphas(self, n_outputs: int) -> Float64:
        owner = type(self).__name__
        if np.ndim(self.alpha) == 0:
            value = _check.real(owner, "alpha", self.alpha, low=0, low_open=True, high_open=True, remedy=_ZERO)
            return np.full(n_outputs, value)
        values = np.asarray(self.alpha, dtype=np.float64)
        if values.shape != (n_outputs,) or not np.isfinite(values).all() or (values <= 0).any():
            raise _check.fail(
                owner, "alpha", f"a number > 0, or {n_outputs} of them, one per output", self.alpha, _ZERO
            )
        return values

    def _proofs(
        self, targets: Float64, weights: Float64, coefficients: Float64, outputs: Float64
    ) -> tuple[Certificate, ...]:
        parts = []
        for column in range(targets.shape[1]):
            # In the common form C sum_i w_i loss + 1/2 |w|^2, alpha is 1 / C.
            scale = weights / self._alpha[column]
            parts.append(
                certify(
                    LossProblem(Squared(), targets[:, column], scale), coefficients[:, column], outputs[:, column],
                    float(self.expansion_.intercept[column]), iterations=1, dtype="float64",
                )
            )  # fmt: skip
        return tuple(parts)

    def _verified(self, objects: Objects, targets: Float64, weights: Float64, began: float) -> Certificate:
        """The certificate from the training data, and the fitted expansion alone."""
        check_is_fitted(self)
        gram = gram_of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        products = gram.matvec(self.expansion_.coefficients)
        full, outputs = certified(self._repair, self.expansion_.coefficients, products, slice(None))
        proofs = self._proofs(targets, weights, full, outputs)
        return Certificate.together(proofs, gram.entries_computed, time.monotonic() - began)

    def _refuse_inconsistent(self) -> None:
        rows, outputs = self.expansion_.coefficients.shape
        if self._alpha.shape != (outputs,) or self._weights.shape != (rows,):
            raise ModelFileError("penalties, weights and coefficients do not fit together.")
