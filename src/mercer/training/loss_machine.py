"""What classifiers and regressors with any loss share: machines side by side on one Gram matrix, and their proof."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate, certify
from mercer.training.limits import limits_of
from mercer.training.on_features import training_gram
from mercer.training.psd import Guarded, Repair, certified, guard
from mercer.training.sanity import warn_if_constant, warn_of_scales
from mercer.training.storing import StoredMachine
from mercer.training.train import Machine, refuse_pointless, train, worth_storing


@final
@dataclass(frozen=True, eq=False)
class Task:
    """One machine to train: a loss, a target for every object, and how many outputs it has."""

    loss: Loss
    y: Float64
    outputs: int = 1


class LossMachine(StoredMachine):
    """Minimises 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) for each of several tasks."""

    C: float
    tol: float
    fit_intercept: bool
    memory: float | str
    psd: str

    def _memory(self) -> Any:
        return self.memory

    def _check_penalty(self, remedy: str = "") -> float:
        owner = type(self).__name__
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
        return _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True, remedy=remedy)

    def _fit_tasks(
        self, kernel: Kernel, objects: Objects, tasks: Sequence[Task], penalties: Float64, began: float
    ) -> list[Machine]:
        """Train a machine for each task, and keep what they share: expansion, support, certificate."""
        for task in tasks:
            refuse_pointless(task.loss)
        warn_of_scales(objects)
        self.kernel_ = kernel.fit(objects)
        losses = [task.loss for task in tasks]
        gram = training_gram(self, self.kernel_, objects, losses, memory=self._memory())
        guarded = guard(type(self).__name__, kernel, gram, self.psd)
        warn_if_constant(guarded.gram)
        machines = self._train(guarded.gram, tasks, penalties, began)
        self._set_machines(machines, objects, penalties, guarded)
        parts = tuple(machine.certificate for machine in machines)
        self.certificate_ = Certificate.together(parts, gram.entries_computed, time.monotonic() - began)
        return machines

    def _train(self, gram: Gram, tasks: Sequence[Task], penalties: Float64, began: float) -> list[Machine]:
        """The machines, side by side, on the objects that weigh anything."""
        used = np.flatnonzero(penalties > 0)
        if worth_storing(gram, [task.loss for task in tasks]):
            gram = gram.stored_if_it_fits()
        view = gram if len(used) == len(penalties) else gram.view(used)
        limits = limits_of(self, began)
        machines: list[Machine | None] = [None] * len(tasks)
        with reporting("Training") as report:

            def job(number: int) -> None:
                task = Task(tasks[number].loss, tasks[number].y[used], tasks[number].outputs)
                machines[number] = self._solve(
                    view, task, penalties[used], limits, lambda chunk: report(chunk.fraction, f"gap {chunk.gap:.2g}")
                )

            if len(tasks) == 1:
                job(0)
            else:
                gram.executor.each(job, range(len(tasks)), limits.stop)
        return [machine for machine in machines if machine is not None]

    def _solve(self, gram: Gram, task: Task, penalties: Float64, limits: Limits, on_chunk: OnChunk) -> Machine:
        problem = LossProblem(task.loss, task.y, penalties, task.outputs, bool(self.fit_intercept))
        return train(gram, problem, tol=float(self.tol), limits=limits, on_chunk=on_chunk, warm_start=self._sharing)

    def _set_machines(self, machines: list[Machine], objects: Objects, penalties: Float64, guarded: Guarded) -> None:
        columns = [m.coefficients if m.coefficients.ndim == 2 else m.coefficients[:, None] for m in machines]
        dual = np.zeros((len(objects), sum(block.shape[1] for block in columns)))
        dual[penalties > 0] = np.hstack(columns)
        full = guarded.expanded(dual)
        self.support_ = np.flatnonzero(np.any(full != 0, axis=1))
        self._repair = Repair.of(guarded, dual[self.support_])
        intercept = np.concatenate([np.atleast_1d(machine.intercept) for machine in machines])
        self.expansion_ = Expansion(self.kernel_, objects.take(self.support_), full[self.support_], intercept)

    def _verify_tasks(
        self, objects: Objects, tasks: Sequence[Task], penalties: Float64, iterations: Sequence[int], began: float
    ) -> Certificate:
        """The certificate from the training data in float64, and the fitted expansion alone."""
        gram = gram_of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        products = gram.matvec(self.expansion_.coefficients)
        full, outputs = certified(self._repair, self.expansion_.coefficients, products, self.support_)
        used = penalties > 0
        parts = []
        for number, task in enumerate(tasks):
            pick: Any = number if task.outputs == 1 else slice(None)
            intercept = bool(self.fit_intercept)
            problem = LossProblem(task.loss, task.y[used], penalties[used], task.outputs, intercept)
            parts.append(
                certify(
                    problem, full[used][:, pick], outputs[used][:, pick], self.expansion_.intercept[pick],
                    iterations=int(iterations[number]), dtype="float64",
                )
            )  # fmt: skip
        return Certificate.together(tuple(parts), gram.entries_computed, time.monotonic() - began)

    @property
    def dual_coef_(self) -> Float64:
        """Coefficients of support objects, one row per output."""
        check_is_fitted(self)
        return self.expansion_.coefficients.T

    @property
    def intercept_(self) -> Float64:
        """The constant of each output."""
        check_is_fitted(self)
        return self.expansion_.intercept
