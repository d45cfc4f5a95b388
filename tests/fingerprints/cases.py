"""All cases by name, and how closely each of their numbers must come back."""

from __future__ import annotations

from collections.abc import Callable

from tests.fingerprints import kernel_cases, machines, selection_cases
from tests.fingerprints.measure import CERTIFIED, COEFFICIENTS, Fingerprint

CASES: dict[str, Callable[[], Fingerprint]] = {
    **dict(machines.cases()),
    **dict(selection_cases.cases()),
    **dict(kernel_cases.cases()),
}

DIRECT = 1e-5
"""Relative to the largest number of an array: what is stored has six digits."""
LOOSE = {"coefficients": 100.0, "large": 5 * machines.LARGE_TOL / DIRECT}
"""Many coefficients describe nearly the same function where the Gram matrix is nearly singular, so they may differ by
more than what is predicted; large machines are compared to within five times their solver's tolerance."""
LARGE = {machines.named(row) for row in machines.LARGE if row[1].startswith("large")}
VIOLATION, VIOLATED = 1e-6, 5.0
"""A violation of optimality may become smaller, and up to so many times larger, above what is nothing at all."""
LEARNT = {"kernel GaussianMixtureFisher": 100.0}
"""Kernels learnt by an iteration that stops at a tolerance of its own: processors differ in when that is."""
SIGNS = ("predict", "margin")
"""What is made of signs and of 1 / |w|: of a machine whose decision values are rounding alone, these are too."""
SHIFTS = ("intercept_", "offset_", "epsilon_")
"""Numbers in units of the decision function, which says how small a difference does not count."""


def tolerance(case: str, key: str) -> float:
    """How far a number may move, relative to the largest of its array."""
    factor = LOOSE["large"] if case in LARGE else LEARNT.get(case, 1.0)
    return DIRECT * factor * (LOOSE["coefficients"] if key in COEFFICIENTS else 1.0)


def unit(key: str) -> float:
    """The scale below which differences do not count."""
    if key.endswith(SHIFTS):
        return 1.0
    return 1e-3 if key.endswith(CERTIFIED) else 1e-6
