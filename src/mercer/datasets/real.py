"""Real data that ship with scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from mercer import _check

NAMES = ("breast_cancer", "digits")


def load(name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The objects and labels of a data set that ships with scikit-learn: "breast_cancer" or "digits".

    >>> from mercer.datasets import load
    >>> X, y = load("digits")
    >>> X.shape, y.shape
    ((1797, 64), (1797,))
    """
    from sklearn import datasets

    _check.choice("load", "name", name, NAMES)
    bunch = datasets.load_digits() if name == "digits" else datasets.load_breast_cancer()
    return bunch.data, bunch.target
