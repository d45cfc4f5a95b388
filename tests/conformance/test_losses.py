"""Every registered loss keeps its promises."""

import numpy as np
import pytest

from mercer._registry import LOSSES
from mercer.losses.hinge import Hinge
from mercer.testing import loss_checks

EXAMPLES = [
    pytest.param(check, id=f"{name}-{number}-{check}")
    for name, entry in LOSSES.items()
    for number, loss in enumerate(entry.load().examples())
    for check in loss_checks(loss)
]


@pytest.mark.parametrize("check", EXAMPLES)
def test_conformance(check):
    check()


def test_hinge_at_its_kink_and_around():
    y, f = np.array([1.0, 1.0, 1.0, -1.0]), np.array([0.5, 1.0, 1.5, 0.25])
    assert Hinge().value(y, f).tolist() == [0.5, 0.0, 0.0, 1.25]
    assert Hinge().slope(y, f).tolist() == [-1.0, 0.0, 0.0, 1.0]
    assert Hinge().curvature(y, f).tolist() == [0.0] * 4


def test_dual_of_hinge():
    box = Hinge().dual(np.array([1.0, -1.0]), np.array([2.0, 3.0]))
    assert (box.linear.tolist(), box.lower.tolist(), box.upper.tolist()) == ([-1, 1], [0, -3], [2, 0])
