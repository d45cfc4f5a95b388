"""The register of solvers with problems that suit them, and the problems that several of them share."""

import dataclasses
import functools

import numpy as np
import scipy.sparse as sp

from tests.solvers.weights import linear_problems

SUBJECTS = {}


def subject(name):
    """Made when it is first asked for: oracles take a while."""

    def register(make):
        SUBJECTS[name] = functools.cache(make)
        return make

    return register


@functools.cache
def small(loss, scale=0.0):
    """A problem, and its least objective."""
    problem = linear_problems.problem(loss, scale, n=40)
    return problem, linear_problems.optimum(problem)


def twice(problem):
    """Every row twice, with half its penalty."""
    stack = sp.vstack if sp.issparse(problem.rows) else np.vstack
    rows = stack([problem.rows, problem.rows])
    return dataclasses.replace(problem, rows=rows, y=np.tile(problem.y, 2), C=np.tile(problem.C, 2) / 2)
