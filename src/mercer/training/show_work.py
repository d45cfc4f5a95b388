"""The work of a support vector machine on a few points, written out as a student would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer._types import Float64
from mercer.errors import InputError
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.training import pairs as ovo
from mercer.training.show_work_text import Problem, as_latex, as_text

MOST = 12


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
class _Remembered:
    """What a machine trained on a few objects keeps of them."""

    objects: Objects
    codes: npt.NDArray[np.intp]
    penalties: Float64


class ShowsWork:
    """Machines that can write their work out."""

    classes_: npt.NDArray[Any]
    expansion_: Expansion
    support_: npt.NDArray[np.intp]
    fit_intercept: bool

    _few: _Remembered | None = None
    """Not part of a model file, which holds support objects alone."""

    def _remember(self, objects: Objects, codes: npt.NDArray[np.intp], penalties: Float64) -> None:
        self._few = _Remembered(objects, codes, penalties) if len(objects) <= MOST else None

    def show_work(self) -> ShownWork:
        """Everything that leads to the machine, line by line: for machines trained on up to a dozen objects.

        A machine that was read from a file does not know its training objects any more; fit it again.

        >>> from mercer import SVC
        >>> model = SVC(kernel="linear", C=float("inf"), tol=1e-9).fit([[-1.0], [1.0], [3.0]], [-1, 1, 1])
        >>> print(model.show_work().text.splitlines()[0])
        Classes 1 (y = +1) and -1 (y = -1), kernel linear()
        """
        check_is_fitted(self)
        few = self._few
        if few is None:
            raise InputError(
                f"Work is shown for machines that were fitted here on up to {MOST} objects. Fit one on a few objects."
            )
        K = gram_of(self.expansion_.kernel, few.objects, dtype=np.float64).exact()
        full = np.zeros((len(K), self.expansion_.coefficients.shape[1]))
        full[self.support_] = self.expansion_.coefficients
        problems = []
        members = ovo.Members(few.codes, few.penalties, len(self.classes_))
        for column, (first, second) in enumerate(ovo.pairs(len(self.classes_))):
            ids, signs = members.of((first, second))
            # With two classes, the second is +1, as in the decision function; else the first of the pair.
            flip = -1.0 if len(self.classes_) == 2 else 1.0
            names = (
                (self.classes_[second], self.classes_[first])
                if flip < 0
                else (self.classes_[first], self.classes_[second])
            )
            y = flip * signs
            problems.append(
                Problem(
                    kernel=str(self.expansion_.kernel.kernel),
                    formula=self.expansion_.kernel.kernel._repr_latex_().strip("$"),
                    positive=str(names[0]),
                    negative=str(names[1]),
                    numbers=tuple(int(i) + 1 for i in ids),
                    K=K[np.ix_(ids, ids)],
                    y=y,
                    alpha=np.abs(full[ids, column]),
                    upper=few.penalties[ids],
                    b=flip * float(self.expansion_.intercept[column]),
                    has_intercept=bool(self.fit_intercept),
                )
            )
        return ShownWork(tuple(problems))
