"""Conformance suites for kernels, losses, solvers and estimators: Mercer's own, and yours.

Each suite has a generator of named checks, whose list suits ``pytest.mark.parametrize``, and a function that runs them
all::

    from mercer.testing import check_kernel

    check_kernel(MyKernel(width=3), my_objects)

A failed check raises AssertionError and says which promise was broken, and where.
"""

from mercer.testing.checks import Check as Check
from mercer.testing.estimators import check_structured_estimator as check_structured_estimator
from mercer.testing.estimators import structured_estimator_checks as structured_estimator_checks
from mercer.testing.kernels import check_kernel as check_kernel
from mercer.testing.kernels import kernel_checks as kernel_checks
from mercer.testing.losses import check_loss as check_loss
from mercer.testing.losses import loss_checks as loss_checks
from mercer.testing.samples import objects_for as objects_for
from mercer.testing.solvers import check_solver as check_solver
from mercer.testing.solvers import kkt_violation as kkt_violation
from mercer.testing.solvers import solver_checks as solver_checks

__all__ = [
    "Check",
    "check_kernel",
    "check_loss",
    "check_solver",
    "check_structured_estimator",
    "kernel_checks",
    "kkt_violation",
    "loss_checks",
    "objects_for",
    "solver_checks",
    "structured_estimator_checks",
]


def __dir__() -> list[str]:
    return __all__
