"""Leave-one-out residuals by blocks against machines that never saw the object."""

import numpy as np
import pytest

from mercer.gram.block_rows import BlockRows
from mercer.inputs.vectors import Vectors
from mercer.solvers.drive import Limits
from mercer.solvers.ridge.block_path import leave_one_out

RNG = np.random.default_rng(0)
ROWS, Y, WEIGHTS = RNG.normal(size=(25, 3)) + 1.0, RNG.normal(size=(25, 2)), RNG.uniform(0.5, 2.0, size=25)
ALPHAS = np.array([0.01, 1.0, 30.0])


@pytest.mark.parametrize("intercept", [False, True])
def test_each_object_is_predicted_by_a_machine_that_never_saw_it(intercept):
    rows = BlockRows(Vectors(ROWS), lambda part: part.values.astype(np.float32), 3)
    rows.step = 10
    found = leave_one_out(rows, Y, WEIGHTS, ALPHAS, intercept=intercept, limits=Limits())
    for number, alpha in enumerate(ALPHAS):
        for i in range(25):
            X, y, w = (np.delete(part, i, axis=0) for part in (ROWS, Y, WEIGHTS))
            middle = (w @ X / w.sum(), w @ y / w.sum()) if intercept else (np.zeros(3), np.zeros(2))
            X, y = X - middle[0], y - middle[1]
            v = np.linalg.solve(X.T @ (w[:, None] * X) + alpha * np.eye(3), X.T @ (w[:, None] * y))
            wanted = Y[i] - middle[1] - (ROWS[i] - middle[0]) @ v
            np.testing.assert_allclose(found[i, :, number], wanted, rtol=2e-5, atol=1e-6)
