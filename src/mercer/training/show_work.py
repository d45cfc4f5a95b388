"""The work of a support vector machine on a few points, written out as a student would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.training import pairs as ovo
from mercer.training.show_work_text import Problem, as_latex, as_text
from mercer.training.voting import pairs

MOST_OBJECTS = 12
"""Machines on more objects do not show their work: their matrices are wider than a page."""


@final
@dataclass(frozen=True, eq=False)
class ShownWork:
    """Gram matrix, dual problem, multipliers, b, optimality conditions and margins; `str` is text, `latex` LaTeX.

    With more than two classes there is one problem for each pair of classes.
    """

    problems: tuple[Problem, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(as_text(problem) for problem in self.problems)

    @property
    def latex(self) -> str:
        return "\n\n".join(as_latex(problem) for problem in self.problems)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return self.latex


@final
@dataclass(frozen=True, eq=False)
class FewObjects:
    """The training objects of a machine trained on few of them; model files contain only support objects."""

    objects: Objects
    codes: Indices
    penalties: Float64


def show_work(
    few: FewObjects | None, machine: Expansion, support: Indices, labels: npt.NDArray[Any], *, intercept: bool
) -> ShownWork:
    """The work of a machine trained on a few objects."""
    if few is None:
        raise InputError(
            f"Work is shown for machines that were fitted here on up to {MOST_OBJECTS} objects. Fit one on a few "
            "objects."
        )
    K = gram_of(machine.kernel, few.objects, dtype=np.float64).exact()
    full = np.zeros((len(K), machine.coefficients.shape[1]))
    full[support] = machine.coefficients
    kernel = machine.kernel.kernel
    problems = []
    members = ovo.Members(few.codes, few.penalties, len(labels))
    for column, (first, second) in enumerate(pairs(len(labels))):
        ids, signs = members.of((first, second))
        # With two classes, the second is +1, as in the decision function; otherwise the first of the pair.
        flip = -1.0 if len(labels) == 2 else 1.0
        names = (labels[second], labels[first]) if flip < 0 else (labels[first], labels[second])
        problems.append(
            Problem(
                kernel=str(kernel),
                formula=kernel._repr_latex_().strip("$"),
                positive=str(names[0]),
                negative=str(names[1]),
                numbers=tuple(int(i) + 1 for i in ids),
                K=K[np.ix_(ids, ids)],
                y=flip * signs,
                alpha=np.abs(full[ids, column]),
                upper=few.penalties[ids],
                b=flip * float(machine.intercept[column]),
                has_intercept=intercept,
            )
        )
    return ShownWork(tuple(problems))
