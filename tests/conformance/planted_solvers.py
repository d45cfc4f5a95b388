"""Solvers with one bug each, around a correct one."""

import dataclasses
import itertools

from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Solver

SOLVERS = []


def broken_solver(check):
    def register(change):
        class Wrapped:
            def __init__(self, run):
                self._run = run

            def __getattr__(self, name):
                return getattr(self._run, name)

            def finish(self, status, stats):
                return change(self._run, self._run.finish(status, stats))

        class Broken(Solver):
            def init(self, gram, problem, *, start, tol):
                return Wrapped(SMO().init(gram, problem, start=start, tol=tol))

        Broken.__name__ = change.__name__
        SOLVERS.append((Broken(), check))
        return change

    return register


@broken_solver("solver_optimality")
def stops_early(run, solution):
    return dataclasses.replace(solution, coefficients=solution.coefficients * 0.9)


@broken_solver("solver_optimality")
def leaves_the_box(run, solution):
    return dataclasses.replace(solution, coefficients=solution.coefficients + 1e-3)


@broken_solver("solver_optimality")
def wrong_intercept(run, solution):
    return dataclasses.replace(solution, intercept=solution.intercept + 3.0)


@broken_solver("solver_optimality")
def wrong_objective(run, solution):
    return dataclasses.replace(solution, objective=solution.objective + 0.1)


@broken_solver("solver_optimality")
def writes_to_the_problem(run, solution):
    run._problem.linear[0] *= 1.0000001
    return solution


_runs = itertools.count()


@broken_solver("solver_determinism")
def counts_its_runs(run, solution):
    coefficients = solution.coefficients.copy()
    coefficients[coefficients != 0] *= 1 - 1e-12 * next(_runs)
    return dataclasses.replace(solution, coefficients=coefficients)


class IgnoresItsStart(Solver):
    def init(self, gram, problem, *, start, tol):
        return SMO().init(gram, problem, start=None, tol=tol)


class WritesToItsStart(Solver):
    def init(self, gram, problem, *, start, tol):
        if start is not None:
            start *= 0.5
        return SMO().init(gram, problem, start=None, tol=tol)


class IgnoresItsLimit(Solver):
    def init(self, gram, problem, *, start, tol):
        run = SMO().init(gram, problem, start=start, tol=tol)
        step = run.step
        run.step = lambda iterations: step(iterations + 1)
        return run


SOLVERS += [
    (IgnoresItsStart(), "solver_warm_start"),
    (WritesToItsStart(), "solver_warm_start"),
    (IgnoresItsLimit(), "solver_limits"),
]
