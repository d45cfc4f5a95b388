"""Certificates of components and clusters: the fraction they explain, and the largest that any choice can explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.training.proof import Proof, percent

_NOTHING = 1e-12
"""Smaller residuals of clusters are rounding errors: two means are equally near."""


@final
@dataclass(frozen=True)
class Wording:
    """The phrases with which the certificate of a kind of learner is printed."""

    found: str
    """What was found, with its number: "{} components"."""
    explain: str
    """The verb before the percentage, and the words after it."""
    of: str
    residual: str
    """The sentence about the residual ..."""
    none: str = ""
    """... and the one printed if there is none."""


WORDINGS: Mapping[str, Wording] = {
    "components": Wording(
        "{} components",
        "explain",
        "of the variance in feature space",
        "The largest residual of an eigenvector is {} of the largest eigenvalue",
    ),
    "correlations": Wording(
        "{} pairs of directions",
        "hold",
        "of all that the two views have in common, as the sum of canonical correlations",
        "The largest residual of a pair is {} of its length",
    ),
    "discriminants": Wording(
        "{} discriminants",
        "hold",
        "of what tells the classes apart, as the sum of ratios of scatter",
        "The largest residual of a discriminant is {} of its length",
    ),
    "clusters": Wording(
        "{} clusters",
        "explain",
        "of the squared distances from the mean in feature space",
        "An object is nearer to the mean of another cluster by {} of the mean squared distance",
        "Every object is nearest to the mean of its own cluster",
    ),
    "cuts": Wording(
        "{} clusters",
        "keep",
        "of their similarities within, on average over clusters",
        "The largest residual of an eigenvector is {} of the largest eigenvalue",
    ),
    "weights": Wording(
        "weights of {} kernels",
        "explain",
        "of the squared entries of a perfect kernel's matrix",
        "The largest violation of the optimality conditions is {}",
    ),
}


@final
@dataclass(frozen=True)
class ShareCertificate(Proof):
    """What components or clusters leave unexplained, and the least that any equal number of them can leave.

    All numbers are about the kernel in float64. Printed, it is a few sentences.
    """

    subject: str
    """The key of its phrases in `WORDINGS`."""
    size: int
    """How many components, pairs or clusters there are."""
    left: float
    """The unexplained part: the minimised value."""
    least: float
    """A lower bound: no other choice of as many leaves less."""
    total: float
    """The total to explain."""
    residual: float
    """The largest violation of the equations that components solve, or of the rule that clusters follow."""
    dtype: str
    """The precision of the matrix that was trained on."""

    @property
    def reached(self) -> float:
        return self.left

    @property
    def bound(self) -> float:
        return self.least

    @property
    def explained(self) -> float:
        """The fraction that is explained, from 0 to 1."""
        return self._share(self.left)

    @property
    def explainable(self) -> float:
        """An upper bound on the fraction that as many could explain."""
        return self._share(self.least)

    def _share(self, left: float) -> float:
        return 1.0 - min(max(left / self.total, 0.0), 1.0) if self.total > 0 else 1.0

    def __str__(self) -> str:
        words = WORDINGS[self.subject]
        found = words.found.format(self.size)
        plural = self.size != 1
        if not plural:
            found = found.replace("components", "component").replace("pairs", "pair").replace("clusters", "cluster")
            found = found.replace("discriminants", "discriminant")
        verb = words.explain if plural or self.subject == "weights" else f"{words.explain}s"
        text = f"{found[0].upper()}{found[1:]} {verb} {_percent(self.explained)} {words.of}; "
        text += f"no other choice can {words.explain} more than {_percent(self.explainable)}."
        residual = words.residual.format(f"{self.residual:.2g}")
        if words.none and self.residual <= _NOTHING:
            residual = words.none
        return f"{text} {residual}, computed in float64; training was in {self.dtype}."

    def to_array(self) -> Float64:
        """The numbers, for model files."""
        return np.array([self.size, self.left, self.least, self.total, self.residual])

    @classmethod
    def from_array(cls, subject: str, numbers: Float64, dtype: str) -> ShareCertificate:
        """The inverse of `to_array`."""
        size, left, least, total, residual = numbers.tolist()
        return cls(subject, int(size), left, least, total, residual, dtype)


def _percent(share: float) -> str:
    """Four digits, and more if needed to distinguish the percentage from 100."""
    if share < 0.9995:
        return f"{100.0 * share:.4g} %"
    return "100 %" if 1.0 - share < 1e-12 else f"{100.0:g} % but {percent(1.0 - share)}"
