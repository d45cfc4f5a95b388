"""Solvers with one bug each, around a correct one."""

import contextlib
import dataclasses
import itertools
import os

import numpy as np
import threadpoolctl

from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits, Solver, Stopped
from mercer.solvers.solution import Status

SOLVERS = []
"""A broken solver, and the check that is to find it."""


def broken_answer(check):
    """A solver whose solution is changed at the end."""

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


def broken_solve(check):
    """A solver that goes about it in a wrong way; `solve` is what a correct one would do."""

    def register(body):
        class Broken(Solver):
            def init(self, gram, problem, *, start, tol):
                return SMO().init(gram, problem, start=start, tol=tol)

            def solve(self, gram, problem, **options):
                options["limits"] = options.get("limits") or Limits()
                return body(super().solve, gram, problem, **options)

        Broken.__name__ = body.__name__
        SOLVERS.append((Broken(), check))
        return body

    return register


@broken_answer("solver_optimality")
def stops_early(run, solution):
    return dataclasses.replace(solution, coefficients=solution.coefficients * 0.9)


@broken_answer("solver_feasibility")
def leaves_the_box(run, solution):
    return dataclasses.replace(solution, coefficients=solution.coefficients + 1e-3)


@broken_answer("solver_intercept")
def wrong_intercept(run, solution):
    return dataclasses.replace(solution, intercept=solution.intercept + 3.0)


@broken_answer("solver_intercept")
def wrong_outputs(run, solution):
    return dataclasses.replace(solution, outputs=solution.outputs * 1.001)


@broken_answer("solver_optimality")
def wrong_objective(run, solution):
    return dataclasses.replace(solution, objective=solution.objective + 0.1)


@broken_answer("solver_feasibility")
def writes_to_the_problem(run, solution):
    run._problem.linear[0] *= 1.0000001
    return solution


@broken_answer("solver_iteration_limit")
def always_says_that_it_converged(run, solution):
    return dataclasses.replace(solution, status=Status.CONVERGED)


@broken_answer("solver_certificate")
def says_that_its_gap_is_smaller(run, solution):
    run.gap *= 0.1
    return solution


@broken_answer("solver_iteration_limit")
def forgets_all_when_stopped(run, solution):
    if solution.status is Status.CONVERGED:
        return solution
    return dataclasses.replace(solution, coefficients=solution.coefficients * np.nan)


_runs = itertools.count()


@broken_answer("solver_reproducibility")
def counts_its_runs(run, solution):
    coefficients = solution.coefficients.copy()
    coefficients[coefficients != 0] *= 1 - 1e-12 * next(_runs)
    return dataclasses.replace(solution, coefficients=coefficients)


@broken_answer("solver_reproducibility")
def depends_on_the_number_of_threads(run, solution):
    threads = int(os.environ.get("MERCER_NUM_THREADS", "1"))
    return dataclasses.replace(solution, coefficients=solution.coefficients * (1 + 1e-15 * (threads > 1)))


@broken_solve("solver_warm_start")
def ignores_its_start(solve, gram, problem, **options):
    return solve(gram, problem, **{**options, "start": None})


@broken_solve("solver_warm_start")
def writes_to_its_start(solve, gram, problem, **options):
    if options.get("start") is not None:
        options["start"] *= 0.5
    return solve(gram, problem, **{**options, "start": None})


@broken_solve("solver_iteration_limit")
def does_one_iteration_more(solve, gram, problem, **options):
    limits = options.pop("limits")
    more = limits.max_iter + (limits.max_iter >= 0)
    return solve(gram, problem, limits=dataclasses.replace(limits, max_iter=more), **options)


@broken_solve("solver_time_limit")
def has_all_the_time(solve, gram, problem, **options):
    limits = dataclasses.replace(options.pop("limits"), time_limit=np.inf)
    return solve(gram, problem, limits=limits, **options)


@broken_solve("solver_stop_event")
def does_not_stop(solve, gram, problem, **options):
    limits = options.pop("limits")
    deaf = Limits(max_iter=limits.max_iter, time_limit=limits.time_limit, since=limits.since)
    return solve(gram, problem, limits=deaf, **options)


@broken_solve("solver_interruption")
def swallows_ctrl_c(solve, gram, problem, **options):
    report = options.pop("on_chunk", None)

    def on_chunk(chunk):
        with contextlib.suppress(KeyboardInterrupt):
            report(chunk)

    return solve(gram, problem, on_chunk=None if report is None else on_chunk, **options)


@broken_solve("solver_interruption")
def tells_nothing(solve, gram, problem, **options):
    return solve(gram, problem, **{**options, "on_chunk": None})


@broken_solve("solver_interruption")
def leaves_blas_with_one_thread(solve, gram, problem, **options):
    try:
        return solve(gram, problem, **options)
    except KeyboardInterrupt:
        threadpoolctl.threadpool_limits(1 + threadpoolctl.threadpool_info()[0]["num_threads"])
        raise


_interrupted = []


@broken_solve("solver_interruption")
def remembers_that_it_was_interrupted(solve, gram, problem, **options):
    if _interrupted:
        options["tol"] = 0.5 * options["tol"]
        _interrupted.clear()
    try:
        return solve(gram, problem, **options)
    except (KeyboardInterrupt, Stopped):
        _interrupted.append(True)
        raise


@broken_solve("solver_weights")
def shares_what_many_objects_weigh(solve, gram, problem, **options):
    share = 40.0 / len(problem.linear)
    problem = dataclasses.replace(problem, lower=problem.lower * share, upper=problem.upper * share)
    return solve(gram, problem, **options)
