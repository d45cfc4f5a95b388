"""The matching kernel on categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating
from mercer.errors import InputError
from mercer.inputs.categories import Categories
from mercer.kernels.base import Batch, Kernel, State
from mercer.kernels.vectors.coordinate_loops import LINE, turn


@final
@dataclass(frozen=True, eq=False)
class CategoryFeatures(Batch):
    """The codes of the categories, writable so that loops are compiled once."""

    codes: npt.NDArray[np.uint64]


@final
@dataclass(frozen=True)
class Categorical(Kernel):
    """The matching kernel, k(x, z) = (number of columns in which x and z have the same category) / columns.

    The inner product of one-hot columns, without computing these. On a table, name the columns: ``kernels.on(["colour",
    "size"], kernels.Categorical())``; to weight columns, add several kernels.

    >>> from mercer import kernels
    >>> kernels.Categorical().fit([["red", "S"]])([["red", "S"]], [["red", "L"], ["blue", "XL"]])
    array([[0.5, 0. ]])
    """

    domain = Categories
    formula = r"\frac{1}{n} \sum_{i=1}^n \left[<x>_i = <z>_i\right]"

    def features(self, objects: Categories, state: State, dtype: DType) -> CategoryFeatures:
        return CategoryFeatures(np.array(objects.codes, order="C"))

    def tile(self, left: CategoryFeatures, right: CategoryFeatures, state: State, out: Floating) -> None:
        if left.codes.shape[1] != right.codes.shape[1]:
            raise InputError(
                f"Cannot compare rows of {left.codes.shape[1]} categories with rows of {right.codes.shape[1]}: both "
                "sides must have the same columns in the same order."
            )
        _matches(left.codes, right.codes, out)

    def diagonal(self, features: CategoryFeatures, state: State) -> Float64:
        return np.ones(len(features))


def _matches_plain(left: Array, right: Array, out: Array) -> None:
    out.fill(0)
    for k in range(left.shape[1]):
        out += left[:, k, None] == right[:, k]
    out /= left.shape[1]


@jit(plain=_matches_plain)
def _matches(left: Array, right: Array, out: Array) -> None:
    columns = left.shape[1]
    turned = np.empty((columns, LINE), dtype=np.uint64)
    counts = np.empty(LINE, dtype=np.int64)
    share = out.dtype.type(columns)
    for start in range(0, right.shape[0], LINE):
        count = min(LINE, right.shape[0] - start)
        turn(right, start, 0, turned)
        for i in range(left.shape[0]):
            counts[:count] = 0
            for k in range(columns):
                code = left[i, k]
                line = turned[k]
                for j in range(count):
                    counts[j] += line[j] == code
            for j in range(count):
                out[i, start + j] = counts[j] / share
