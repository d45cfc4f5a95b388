"""Newton's method with conjugate gradients."""

import numpy as np
import pytest

from mercer.losses.logistic import Logistic
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.solution import Status
from mercer.solvers.weights import newton_cg
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, SMOOTH, check, optimum, problem


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_finds_the_optimum(loss, intercept_scale):
    for sparse in (False, True):
        p = problem(loss, intercept_scale, sparse=sparse)
        check(p, newton_cg.solve(p, tol=1e-10), optimum(p), 1e-7)


def test_more_features_than_rows():
    p = problem(Logistic(), 1.0, n=30, d=80, sparse=True)
    assert newton_cg.solve(p, tol=1e-9).status is Status.CONVERGED


def test_a_step_can_be_interrupted_between_two_products():
    limits, chunks = Limits(), []

    def stop_within_the_first_step(chunk):
        chunks.append(chunk.iterations)
        if len(chunks) == 3:
            limits.stop.set()

    p = problem(Logistic(), 1.0, n=400, d=60, sparse=True)
    with pytest.raises(Stopped):
        newton_cg.solve(p, tol=1e-12, limits=limits, on_chunk=stop_within_the_first_step)
    assert len(chunks) == 3
    assert chunks[-1] <= 1  # not even two steps in as many chunks: each is a product


def test_out_of_time_within_a_step_the_part_that_is_known_is_taken():
    p = problem(Logistic(), 1.0, n=400, d=60, sparse=True)
    found = newton_cg.solve(p, tol=1e-12, limits=Limits(time_limit=0.0))
    assert found.status is Status.OUT_OF_TIME
    assert found.primal < p.C.sum() * np.log(2.0)
    assert found.lower_bound <= found.primal
