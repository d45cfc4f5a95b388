"""Kernel machines by the gradient descent of the lectures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from mercer import _check
from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.gram.contract import Gram
from mercer.lectures.exact import Aim
from mercer.lectures.gradient_descent import GradientDescent
from mercer.lectures.traced_classifier import TRACED_KERNEL, TracedKernelClassifier, checked_variant
from mercer.losses.logistic import Logistic
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.training.choices import Variant
from mercer.training.parameters import KernelParameters
from mercer.training.storing import ArrayField, Field

_CONSTANT_RATE = 0.01
"""The step that the slides print; data on a large scale need a smaller one, or descent diverges."""
_FIRST_TRIED = 2.0
"""The first step of a line search: too long costs halvings, too short one more step, before curvature is known."""


@dataclass(kw_only=True, eq=False, repr=False)
class GradientKernelMachine(KernelParameters, TracedKernelClassifier):
    """Gradient descent on z and b, with f(x) = sum_i z_i k(x_i, x) + b, as on the slides.

    ``objective="softmax"`` minimises sum_i log(1 + exp(-y_i f(x_i))) + lam/2 z'Kz, the smooth perceptron;
    ``objective="svm"`` minimises 1/2 z'Kz + C sum_i log(1 + exp(1 - y_i f(x_i))), the smooth support vector machine.
    For work rather than for study use `KernelLogisticRegression` and `KernelMachineClassifier("smooth_hinge")`, which
    reach the same minimum in a few steps and certify it.

    Parameters
    ----------
    objective : ``"softmax"`` or ``"svm"``.
    variant : ``"corrected"``, each step by a line search; ``"constant"``, z <- z - eta dE/dz with a fixed eta; or
        ``"printed"``, which is the same for the softmax, while the slide of the support vector machine has no eta: a
        step of 1, which diverges.
    lam : the factor of the penalty, for the softmax.
    C : the factor of the losses, for the support vector machine.
    kernel, gamma, degree, coef0, memory, psd : as in `SVC`.
    steps : the largest number of steps.
    learning_rate : eta itself (constant steps; None for 0.01), or the first step tried by the line search (None for 2).
    tol : training ends once the gradient is shorter than `tol` times the one at the start.
    time_limit : the largest number of seconds; None for no limit.

    Attributes
    ----------
    z_ : the coefficients, one column per machine.
    traces_ : the objective after each step, for each machine; `trace_` for two classes.
    certificate_ : how far the objective is above its exact minimum.
    trace_ : the only trace, of two classes.
    classes_ : the labels, sorted.
    support_ : positions of the objects with a coefficient among the training objects.
    dual_coef_, intercept_ : their coefficients and the constants, a row for each machine.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import GradientKernelMachine
    >>> model = GradientKernelMachine(objective="svm", C=10.0).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> model.predict([[0, 0], [0, 1]])
    array([0, 1])
    """

    objective: Literal["softmax", "svm"] = "softmax"
    variant: Variant = "corrected"
    lam: float = 1.0
    C: float = 1.0
    steps: int = 1000
    learning_rate: float | None = None
    tol: float = 1e-6
    time_limit: float | None = None

    _per_object = "z_"
    _fields: ClassVar[Mapping[str, Field]] = {**TRACED_KERNEL, "z_": ArrayField("f", "objects", "outputs")}

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.choice(owner, "objective", self.objective, ("softmax", "svm"))
        printed = checked_variant(self) == "printed"
        _check.real(owner, "lam", self.lam, low=0, high_open=True)
        _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True)
        _check.integer(owner, "steps", self.steps, low=1)
        _check.real(owner, "tol", self.tol, low=0, high_open=True)
        if self.learning_rate is not None:
            _check.real(owner, "learning_rate", self.learning_rate, low=0, low_open=True, high_open=True)
            if printed and self.objective == "svm":
                raise ParameterError(
                    f'{owner} with objective="svm" and variant="printed" makes steps of 1: the slide has no learning '
                    'rate. Use variant="constant" for steps of `learning_rate`.'
                )

    def _aim(self, n: int) -> Aim:
        if self.objective == "svm":
            return Aim(SmoothHinge(), float(self.C))
        lam = float(self.lam)
        return Aim(Logistic(), 1.0 / lam, factor=lam) if lam > 0 else Aim(Logistic(), None)

    def _algorithm(self, data: Gram, signs: Float64) -> GradientDescent:
        softmax = self.objective == "softmax"
        corrected = checked_variant(self) == "corrected"
        without_rate = self.variant == "printed" and not softmax
        rate = self.learning_rate or (_FIRST_TRIED if corrected else 1.0 if without_rate else _CONSTANT_RATE)
        return GradientDescent(
            data,
            signs,
            loss=Logistic() if softmax else SmoothHinge(),
            ridge=float(self.lam) if softmax else 1.0,
            C=1.0 if softmax else float(self.C),
            steps=int(self.steps),
            tol=float(self.tol),
            rate=rate,
            constant=not corrected,
        )
