"""Every check is seen to fail: on a subject with one bug, by the check that looks for it and not by unrelated ones."""

import numpy as np
import pytest
import threadpoolctl

from mercer.solvers.box.smo import SMO
from mercer.testing import (
    check_kernel,
    check_loss,
    check_solver,
    check_structured_estimator,
    kernel_checks,
    loss_checks,
    objects_for,
    solver_checks,
    structured_estimator_checks,
)
from tests.conformance import planted_estimators, planted_kernels, planted_losses, planted_solvers
from tests.conformance.round_trips import PICKLE

STRINGS = ["ACGT" * (1 + i % 3) + "A" * (i % 5) + ("TT" * 4 if i % 2 else "") for i in range(18)]
LABELS = np.arange(18) % 2


def failing(checks):
    failed = set()
    for check in checks:
        try:
            check()
        except Exception:
            failed.add(check.name)
    return failed


def estimator_checks(estimator, X=STRINGS):
    return structured_estimator_checks(estimator, X, LABELS, round_trips=PICKLE)


def fresh_objects():
    return objects_for(planted_kernels.Good())["dense"]


def named(cases):
    return [pytest.param(*case, id=getattr(case[0], "__name__", type(case[0]).__name__)) for case in cases]


class TestKernels:
    def test_the_good_one(self):
        check_kernel(planted_kernels.Good(), fresh_objects(), round_trips=PICKLE)

    @pytest.mark.parametrize(("cls", "check", "others"), named(planted_kernels.KERNELS))
    def test_planted(self, cls, check, others):
        failed = failing(kernel_checks(cls(), fresh_objects(), round_trips=PICKLE))
        assert check in failed
        assert failed <= {check} | others

    def test_every_check_has_its_bug(self):
        names = {check.name for check in kernel_checks(planted_kernels.Good(), round_trips=PICKLE)}
        assert names == {check for _, check, _ in planted_kernels.KERNELS}

    def test_the_failure_lists_what_failed(self):
        with pytest.raises(AssertionError, match=r"fails 1 conformance check.*\n- kernel_positive_semidefinite: .*psd"):
            check_kernel(planted_kernels.Indefinite(), fresh_objects())


class TestLosses:
    @pytest.mark.parametrize("loss", [planted_losses.SquaredHinge(), planted_losses.EpsilonInsensitive()])
    def test_good_ones(self, loss):
        check_loss(loss)

    @pytest.mark.parametrize(("cls", "check", "others"), named(planted_losses.LOSSES))
    def test_planted(self, cls, check, others):
        failed = failing(loss_checks(cls()))
        assert check in failed
        assert failed <= {check} | others

    def test_every_check_has_its_bug(self):
        good = (planted_losses.SquaredHinge(), planted_losses.Multinomial())
        names = {check.name for loss in good for check in loss_checks(loss) if not check.name.startswith("record")}
        assert names == {check for _, check, _ in planted_losses.LOSSES}


class TestSolvers:
    def test_the_good_one(self):
        check_solver(SMO())

    @pytest.mark.parametrize(("solver", "check"), named(planted_solvers.SOLVERS))
    def test_planted(self, solver, check):
        with threadpoolctl.threadpool_limits():  # one of them leaves another limit behind, which ends here
            failed = failing(found for found in solver_checks(solver) if found.name.startswith(check))
        assert failed

    def test_every_check_has_its_bug(self):
        kinds = {check.name.removesuffix("_gaussian") for check in solver_checks(SMO()) if "gaussian" in check.name}
        assert kinds == {check for _, check in planted_solvers.SOLVERS}


class TestEstimators:
    def test_the_good_one(self):
        check_structured_estimator(planted_estimators.GoodEstimator(), STRINGS, LABELS, round_trips=PICKLE)
        check_structured_estimator(
            planted_estimators.GoodEstimator(), np.array(STRINGS, dtype=object), LABELS, round_trips=PICKLE
        )

    @pytest.mark.parametrize(("cls", "check", "others"), named(planted_estimators.ESTIMATORS))
    def test_planted(self, cls, check, others):
        X = np.array(STRINGS, dtype=object) if check == "estimator_read_only" else list(STRINGS)
        failed = failing(estimator_checks(cls(), X))
        assert check in failed
        assert failed <= {check} | others

    def test_every_check_has_its_bug(self):
        names = {check.name for check in estimator_checks(planted_estimators.GoodEstimator())}
        assert names == {check for _, check, _ in planted_estimators.ESTIMATORS}
